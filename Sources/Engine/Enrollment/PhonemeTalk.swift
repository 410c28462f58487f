private import Core
public import Inference
public import Phonemes
import Spotting

/// Other people's talk, as what the phoneme network heard in it: typed words that fire there would fire by mistake.
///
/// Only the likeliest symbols of each frame are kept. `Models/phonemes/README.md` says whose talk it is.
public struct PhonemeTalk: Sendable {
    /// What a symbol that is not kept loses at least, in nats.
    private static let most: Float = 6
    /// Nats of the number 1.
    private static let step: Float = 6 / 255
    private static let framesAnHour = 3600 * 16000 / PhonemeNetwork.frameSamples
    /// Frames after a peak in which there is no other.
    private static let refractory = 50

    /// Symbols of each frame, then the symbols and what they lose.
    private let counts: [UInt8]
    /// How many symbols the network has, and the place of its blank.
    private let (count, blank): (Int, Int)
    private let symbols: [UInt8]
    private let losses: [UInt8]

    public var hours: Double { Double(counts.count) / Double(Self.framesAnHour) }

    /// Reads `talk.safetensors` of the network's folder.
    ///
    /// - Throws: `ModelError`, which names the file.
    public init(_ network: PhonemeNetwork) throws(ModelError) {
        (count, blank) = (network.symbols.count, network.blank)
        let folder = network.folder
        let tensors = try SafeTensors(path: folder + "/talk.safetensors")
        func numbers(_ name: String) throws(ModelError) -> [UInt8] {
            Array(try tensors.bytes(name, shape: tensors.shape(of: name) ?? []))
        }
        (counts, symbols, losses) = (try numbers("counts"), try numbers("symbols"), try numbers("losses"))
        guard counts.reduce(0, { $0 + Int($1) }) == symbols.count, symbols.count == losses.count, !counts.isEmpty else {
            throw .tensor.saying(
                "\(folder)/talk.safetensors: the numbers of symbols do not fit; install the file again"
            )
        }
    }

    /// A moment at which a word is nearest.
    public struct Peak: Sendable, Equatable {
        public let score: Float
        /// The frame at which it ends.
        public let frame: Int
    }

    /// The moments at which the best of some pronunciations is nearest, the nearest first.
    public func peaks(of pronunciations: [Pronunciation], count most: Int) -> [Peak] {
        var alignments = pronunciations.map { PhonemeAlignment($0, blank: blank, .typed) }
        var peaks: [Peak] = []
        var best = Peak(score: -.infinity, frame: 0)
        /// Keeps the best of a stretch of talk.
        func keep() {
            guard best.score > -.infinity else { return }
            peaks.append(best)
            if peaks.count >= 4 * most { peaks = Array(peaks.sorted { $0.score > $1.score }.prefix(most)) }
        }
        forEachFrame { frame, losses in
            var score = -Float.infinity
            for index in alignments.indices { score = max(score, alignments[index].add(losses)) }
            if frame - best.frame > Self.refractory {
                keep()
                best = Peak(score: score, frame: frame)
            } else if score > best.score {
                best = Peak(score: score, frame: frame)
            }
        }
        keep()
        return Array(peaks.sorted { $0.score > $1.score }.prefix(most))
    }

    /// What was heard before a frame and at it: symbols, the likeliest of each frame, each run once, without blanks.
    public func heard(before frame: Int, frames: Int) -> [Int] {
        var (heard, last): ([Int], Int) = ([], blank)
        forEachFrame(in: max(0, frame - frames)..<min(frame + 3, counts.count)) { _, losses in
            let symbol = (0..<count).max { losses[$0] < losses[$1] } ?? blank
            if symbol != last, symbol != blank { heard.append(symbol) }
            last = symbol
        }
        return heard
    }

    /// Calls the body with what each symbol loses at each frame.
    private func forEachFrame(
        in range: Range<Int>? = nil,
        _ body: (_ frame: Int, UnsafePointer<Float>) -> Void
    ) {
        var row = [Float](repeating: -Self.most, count: max(count, 256))
        let range = range ?? 0..<counts.count
        var place = counts[..<range.lowerBound].reduce(0) { $0 + Int($1) }
        row.withUnsafeMutableBufferPointer { row in
            guard let base = row.baseAddress else { return }
            for frame in range {
                let end = place + Int(counts[frame])
                for entry in place..<end { base[Int(symbols[entry])] = -Float(losses[entry]) * Self.step }
                body(frame, UnsafePointer(base))
                for entry in place..<end { base[Int(symbols[entry])] = -Self.most }
                place = end
            }
        }
    }
}
