private import FoundationEssentials
private import Kernels

// A store as bytes: a mark with the version, the length of a description in JSON, the description, the numbers of all takes in
// its order (anchors as floats, then samples, little-endian), and a checksum of all that.

private let mark: [UInt8] = Array("BECKONW".utf8) + [1]
private let checksumBytes = 8

private struct Description: Codable {
    struct Take: Codable {
        let anchors: Int
        let lag: Int
        let samples: Int
    }

    struct Word: Codable {
        let name: String
        let threshold: Float
        let boundary: Float
        let takes: [Take]
    }

    let embedding: String
    let dimensions: Int
    let words: [Word]
}

extension WordStore {
    /// - Throws: ``EnrollmentError/store`` where a number cannot be written, as none is that is kept.
    func encoded() throws(EnrollmentError) -> [UInt8] {
        let dimensions = words.lazy.flatMap(\.takes).flatMap(\.anchors).first?.count ?? 0
        let description = Description(
            embedding: embedding,
            dimensions: dimensions,
            words: words.map { word in
                let takes = word.takes.map {
                    Description.Take(anchors: $0.anchors.count, lag: $0.lag, samples: $0.audio.count)
                }
                return Description.Word(
                    name: word.name,
                    threshold: word.threshold,
                    boundary: word.boundary,
                    takes: takes
                )
            }
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let header = try? encoder.encode(description) else {
            throw .store.saying("a threshold or an example is no number; this is a defect of beckon")
        }
        var bytes = mark
        append(UInt64(header.count), to: &bytes)
        bytes += header
        for take in words.lazy.flatMap(\.takes) {
            for number in take.anchors.joined() { append(number.bitPattern, to: &bytes) }
            for sample in take.audio { append(UInt16(bitPattern: sample), to: &bytes) }
        }
        append(checksum(bytes[...]), to: &bytes)
        return bytes
    }

    /// - Parameter file: what messages call it.
    /// - Throws: ``EnrollmentError/damaged`` where the bytes are not whole, or no store.
    init(bytes: [UInt8], file: String) throws(EnrollmentError) {
        func damaged(_ what: String) -> EnrollmentError { .damaged.saying("\(file): \(what)") }

        guard bytes.starts(with: mark.dropLast()) else {
            throw damaged("no store of words; name one that beckon wrote")
        }
        guard bytes.starts(with: mark) else { throw damaged("written by a newer beckon; update this one") }
        guard bytes.count >= mark.count + 8 + checksumBytes else { throw damaged("cut short; restore it from a copy") }
        let body = bytes.dropLast(checksumBytes)
        var end = Reader(bytes.suffix(checksumBytes))
        guard end.number(UInt64.self) == checksum(body) else {
            throw damaged("damaged, its checksum does not fit; restore it from a copy")
        }
        var reader = Reader(body.dropFirst(mark.count))
        guard let length = reader.number(UInt64.self), let header = reader.bytes(Int(clamping: length)),
            let description = try? JSONDecoder().decode(Description.self, from: Data(header))
        else { throw damaged("its description cannot be read; restore it from a copy") }
        self.init(embedding: description.embedding)
        guard description.words.count <= Limit.words, (0...Limit.dimensions).contains(description.dimensions) else {
            throw damaged("more words, or larger vectors, than are taken")
        }
        for word in description.words {
            try WordStore.check(name: word.name)
            guard self[word.name] == nil else { throw damaged("has the word '\(word.name)' twice") }
            guard word.takes.count <= Limit.takes, (0...1).contains(word.threshold),
                (-2...2).contains(word.boundary)
            else {
                throw damaged("the word '\(word.name)' has too many takes or no threshold")
            }
            let takes = word.takes.compactMap { reader.take($0, dimensions: description.dimensions) }
            guard takes.count == word.takes.count else { throw damaged("the takes of '\(word.name)' are not whole") }
            words.append(
                Word(name: word.name, threshold: word.threshold, boundary: word.boundary, takes: takes)
            )
        }
        guard reader.isAtEnd else { throw damaged("goes on behind its last word") }
    }
}

/// Numbers out of bytes, one after the other; nil where there are too few.
private struct Reader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func number<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
        bytes(MemoryLayout<Number>.size)?.reversed().reduce(0) { $0 << 8 | Number($1) }
    }

    mutating func take(_ take: Description.Take, dimensions: Int) -> WordStore.Take? {
        guard (1...WordStore.Limit.anchors).contains(take.anchors), (0...100).contains(take.lag),
            (0...WordStore.Limit.audio).contains(take.samples), dimensions > 0
        else { return nil }
        var anchors: [[Float]] = []
        for _ in 0..<take.anchors {
            let vector = (0..<dimensions).compactMap { _ in number(UInt32.self).map(Float.init(bitPattern:)) }
            guard vector.count == dimensions, vector.allSatisfy(\.isFinite) else { return nil }
            anchors.append(vector)
        }
        let audio = (0..<take.samples).compactMap { _ in number(UInt16.self).map(Int16.init(bitPattern:)) }
        guard audio.count == take.samples else { return nil }
        return WordStore.Take(anchors: anchors, lag: take.lag, audio: audio)
    }
}

private func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
}

private func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.withUnsafeBytes { buffer in
        buffer.baseAddress.map { fnv1a($0, count: buffer.count, from: fnvBasis) } ?? fnvBasis
    }
}
