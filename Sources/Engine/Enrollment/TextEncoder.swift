import Inference
import Spotting

/// A small network that reads the letters of a word and answers with the vector that the embedding has where people say it.
///
/// A few takes tell little about how other people say a word; its spelling tells as much again. The network was trained on an
/// English dictionary (`Training/embedding/text.py`); its tensors are in the model's `background.safetensors`.
struct TextEncoder: Sendable {
    /// Letters that it reads; the rest of a longer name is left out.
    static let longest = 24
    private static let (letters, kernel) = (28, 5)
    /// The convolutions; each but the first is added to what it reads.
    private static let layers = ["first", "second", "third"]

    /// Vectors of the letters `[28 × channels]`, and of their places from the beginning and from the end `[24 × channels]`.
    private let letter, begin, end: [Float]
    /// Kernels `[5 × channels × channels]`, input channels before output channels, and biases `[channels]`.
    private let convolutions: [(weight: [Float], bias: [Float])]
    /// `[dimensions × 2 channels]`, and `[dimensions]`.
    private let (weight, bias): ([Float], [Float])
    private let channels: Int

    /// The network of a negative set; nil if it has none.
    ///
    /// - Parameter dimensions: of the embedding.
    /// - Throws: a `ModelError` if it is not complete, or made for another embedding.
    init?(_ file: SafeTensors, dimensions: Int) throws(ModelError) {
        guard let shape = file.shape(of: "text.letter.weight") else { return nil }
        // A file without channels has another shape than expected.
        let channels = max(1, shape.last ?? 1)
        letter = try file.floats("text.letter.weight", shape: [Self.letters, channels])
        begin = try file.floats("text.begin.weight", shape: [Self.longest, channels])
        end = try file.floats("text.end.weight", shape: [Self.longest, channels])
        var convolutions: [(weight: [Float], bias: [Float])] = []
        for name in Self.layers {
            let weight = try file.floats("text.\(name).weight", shape: [Self.kernel, channels, channels])
            convolutions.append((weight, try file.floats("text.\(name).bias", shape: [channels])))
        }
        weight = try file.floats("text.out.weight", shape: [dimensions, 2 * channels])
        bias = try file.floats("text.out.bias", shape: [dimensions])
        (self.convolutions, self.channels) = (convolutions, channels)
    }

    /// The unit vector of a name, `[dimensions]`; empty for a name that English letters cannot spell, as one with digits.
    func vector(of name: String) -> [Float] {
        guard let symbols = Self.symbols(of: name) else { return [] }
        let count = symbols.count
        var columns = [Float](repeating: 0, count: count * channels)
        for (place, symbol) in symbols.enumerated() {
            for channel in 0..<channels {
                columns[place * channels + channel] =
                    letter[symbol * channels + channel] + begin[place * channels + channel]
                    + end[(count - 1 - place) * channels + channel]
            }
        }
        for (number, layer) in convolutions.enumerated() {
            let convolved = convolve(columns, layer.weight, layer.bias)
            columns = number == 0 ? convolved : zip(columns, convolved).map { $0 + $1 }
        }
        // The mean of the columns, then the highest of each channel.
        var pooled = [Float](repeating: 0, count: 2 * channels)
        for channel in 0..<channels {
            let values = stride(from: channel, to: columns.count, by: channels).map { columns[$0] }
            pooled[channel] = values.reduce(0, +) / Float(count)
            pooled[channels + channel] = values.max() ?? 0
        }
        return unit(
            bias.indices.map { row in
                bias[row] + dot(Array(weight[row * pooled.count..<(row + 1) * pooled.count]), pooled)
            }
        )
    }

    /// The letters as numbers: a … z are 1 … 26, and what separates words is 27. Nil if there are others, or none.
    static func symbols(of name: String) -> [Int]? {
        var symbols: [Int] = []
        for byte in name.lowercased().utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): symbols.append(Int(byte - UInt8(ascii: "a")) + 1)
            case UInt8(ascii: " "), UInt8(ascii: "_"), UInt8(ascii: "-"):
                if let last = symbols.last, last != 27 { symbols.append(27) }
            case UInt8(ascii: "'"), UInt8(ascii: "."), UInt8(ascii: ","): continue
            default: return nil
            }
        }
        if symbols.last == 27 { symbols.removeLast() }
        return symbols.isEmpty ? nil : Array(symbols.prefix(longest))
    }

    /// A name without spaces, such as "bookshelf", as two words in each way that leaves three letters or more of both.
    static func twoWords(_ name: String) -> [String] {
        guard let symbols = symbols(of: name), !symbols.contains(27), symbols.count >= 6 else { return [] }
        return (3...symbols.count - 3).map { place in
            var letters = symbols.compactMap { UnicodeScalar($0 + 96).map(Character.init) }
            letters.insert(" ", at: place)
            return String(letters)
        }
    }

    /// A convolution with zeros around, then a ReLU.
    private func convolve(_ columns: [Float], _ weight: [Float], _ bias: [Float]) -> [Float] {
        let count = columns.count / channels
        var out: [Float] = []
        for place in 0..<count {
            var sums = bias
            for tap in 0..<Self.kernel {
                let source = place + tap - Self.kernel / 2
                guard (0..<count).contains(source) else { continue }
                for input in 0..<channels {
                    let value = columns[source * channels + input]
                    if value == 0 { continue }
                    let first = (tap * channels + input) * channels
                    for output in 0..<channels { sums[output] += value * weight[first + output] }
                }
            }
            out += sums.map { max(0, $0) }
        }
        return out
    }
}

extension WordStore.Word {
    /// Cosines between the takes and the text at which they begin to agree, and from which they do. Measured over ten words by real
    /// people: 0.16 is exceeded by the texts of 5 % of other words, 0.3 by their own of single takes in the middle, of five nearly always.
    private static let agreement: ClosedRange<Float> = 0.1...0.3

    /// How much more the takes must agree with a name that is read as two words, since there are many such readings.
    private static let moreOfParts: Float = 0.2

    /// The network that reads the name; nil if more is known of the word: what the model learned of its own words, and the parts of a
    /// phrase.
    func textEncoder(_ negatives: NegativeSet) -> TextEncoder? {
        let isBuiltIn = negatives.words.contains { $0.name == name }
        return alignment.isPhrase || isBuiltIn ? nil : negatives.text
    }

    /// The cosine of its takes with its text from which a name is read as it is said: the texts of other words hardly reach it.
    static let leastSpelling: Float = 0.16

    /// The cosine between the takes and how the name sounds as it is spelled, −1…1; nil if the name is not read.
    func spelling(_ negatives: NegativeSet) -> Float? { reading(negatives)?.cosine }

    /// How the name sounds as it is spelled, as long as the takes agree, 0…1. Empty if they do not, or if the name is not read.
    func textVector(_ negatives: NegativeSet) -> [Float] {
        guard let reading = reading(negatives), reading.length > 0 else { return [] }
        return reading.vector.map { reading.length * $0 }
    }

    /// The reading of the name with which the takes agree most; nil if the name is not read.
    private func reading(_ negatives: NegativeSet) -> (vector: [Float], length: Float, cosine: Float)? {
        guard let encoder = textEncoder(negatives) else { return nil }
        var spoken = self
        spoken.text = []
        guard let end = spoken.prototype(cohort: []).first else { return nil }
        func read(_ text: String, less: Float) -> (vector: [Float], length: Float, cosine: Float)? {
            let (vector, range) = (encoder.vector(of: text), Self.agreement)
            guard vector.count == end.count else { return nil }
            let cosine = dot(end, vector)
            let above = cosine - less - range.lowerBound
            return (vector, min(1, above / (range.upperBound - range.lowerBound)), cosine)
        }
        guard var best = read(name, less: 0) else { return nil }
        if best.length < 1 {
            for parts in TextEncoder.twoWords(name) {
                if let reading = read(parts, less: Self.moreOfParts), reading.length > best.length { best = reading }
            }
        }
        return best
    }
}
