private import Core
private import JSON
private import WakeWords

// A store as bytes, all numbers little-endian:
//
//     magic and version   8 bytes, "BECKONW" 2, 3 with negative examples, 4 with cohorts, 5 with texts, 6 with parts of
//                         phrases, 7 with sequences, 8 with speech frames, 9 with typed words, or 10 with words
//                         that have takes and sounds
//     length of header    UInt64
//     length of vectors   UInt64, in bytes
//     header              JSON, see ``StoreHeader``
//     vectors             for each word the templates of its takes, each take's followed by those of its parts, by its sequence and by
//                         its speech frames, the moments of its negative examples, its cohort, and its text, Float32
//     checksum            UInt64, FNV-1a of all bytes before
//     recordings          the audio in the same order, Int16
//     checksum            UInt64, FNV-1a of the recordings
//
// A detector reads as far as the first checksum: it needs no recordings, which are nearly all of a store.
//
// Version 1 has no length of vectors, one embedding for all words, the audio of each take after its templates, and one
// checksum at the end.
private let magic: [UInt8] = Array("BECKONW".utf8)
private let checksumBytes = 8

extension WordStore {
    /// The lowest version that can hold the words: an older program refuses what it cannot read, and only that.
    private var version: UInt8 {
        if words.contains(where: { $0.sounds != nil && !$0.takes.isEmpty }) { return 10 }
        if words.contains(where: { $0.sounds != nil }) { return 9 }
        if words.contains(where: { $0.look != nil || $0.takes.contains { !$0.speech.isEmpty } }) { return 8 }
        if words.contains(where: { $0.takes.contains { !$0.sequence.isEmpty } }) { return 7 }
        if words.contains(where: { $0.takes.contains { !$0.parts.isEmpty } }) { return 6 }
        if words.contains(where: { !$0.text.isEmpty }) { return 5 }
        if words.contains(where: { !$0.cohort.isEmpty }) { return 4 }
        return words.contains { !$0.negatives.isEmpty } ? 3 : 2
    }

    /// The store as bytes.
    ///
    /// - Throws: ``EnrollmentError/store`` for a threshold or boundary that is not finite.
    public func encoded() throws(EnrollmentError) -> [UInt8] {
        let content = StoreHeader(
            words: words.map { word in
                StoreHeader.Word(
                    name: word.name,
                    embedding: word.embedding,
                    dimensions: word.takes.first?.templates.first?.count ?? 0,
                    threshold: word.threshold,
                    boundary: word.boundary,
                    sensitivities: StoreHeader.Word.members(of: word.sensitivities),
                    takes: word.takes.map {
                        StoreHeader.Take(
                            templates: $0.templates.count,
                            templateSpacing: $0.templateSpacing,
                            samples: $0.audio.count,
                            parts: $0.parts.isEmpty ? nil : $0.parts.count,
                            sequence: $0.sequence.isEmpty ? nil : $0.sequence.count,
                            speech: $0.speech.isEmpty ? nil : $0.speech.count
                        )
                    },
                    negatives: word.negatives.isEmpty
                        ? nil
                        : word.negatives.map {
                            StoreHeader.Negative(
                                moments: $0.moments.count,
                                templates: $0.moments.first?.count ?? 1,
                                samples: $0.audio.count
                            )
                        },
                    cohort: word.cohort.isEmpty ? nil : word.cohort.count,
                    text: word.text.isEmpty ? nil : 1,
                    look: word.look.map { StoreHeader.Word.Look(proposal: $0.proposal, boundary: $0.boundary) },
                    sounds: word.sounds?.ways,
                    heard: word.takes.isEmpty
                        ? nil
                        : word.sounds.map {
                            StoreHeader.Word.Heard(
                                boundary: $0.boundary,
                                sensitivities: StoreHeader.Word.members(of: $0.sensitivities)
                            )
                        },
                    rule: word.sounds?.rule
                )
            },
            forgotten: forgotten.isEmpty ? nil : forgotten
        )
        guard let header = try? Array(JSON(encoding: content).compact.utf8) else {
            throw .store.saying("a threshold or boundary is not a finite number; this is a defect of beckon")
        }
        var vectors: [[Float]] = []
        for word in words {
            vectors += word.takes.flatMap { $0.templates + $0.parts.joined() + $0.sequence + $0.speech }
            vectors += word.negatives.flatMap { $0.moments.joined() }
            vectors += word.cohort
            if !word.text.isEmpty { vectors.append(word.text) }
        }
        let recordings = words.flatMap { word in word.takes.map(\.audio) + word.negatives.map(\.audio) }
        let vectorBytes = vectors.reduce(0) { $0 + 4 * $1.count }
        let audioBytes = recordings.reduce(0) { $0 + 2 * $1.count }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24 + header.count + vectorBytes + audioBytes + 2 * checksumBytes)
        bytes += magic + [version]
        append(UInt64(header.count), to: &bytes)
        append(UInt64(vectorBytes), to: &bytes)
        bytes += header
        for vector in vectors { append(vector, to: &bytes) }
        append(storeChecksum(bytes[...]), to: &bytes)
        let audio = bytes.count
        for recording in recordings { append(recording, to: &bytes) }
        append(storeChecksum(bytes[audio...]), to: &bytes)
        return bytes
    }

    /// The number of bytes that a detector needs, from the beginning of a store; all, if the beginning does not tell.
    ///
    /// - Parameter start: the first ``startBytes`` bytes.
    static func detectorBytes(_ start: [UInt8]) -> Int {
        var reader = StoreReader(start.dropFirst(magic.count + 1))
        guard start.starts(with: magic), (2...10).contains(start.dropFirst(magic.count).first ?? 0),
            let header = try? reader.number(), let vectors = try? reader.number()
        else { return .max }
        // Larger lengths belong to a damaged store.
        return max(header, vectors) > Limit.bytes ? .max : startBytes + header + vectors + checksumBytes
    }

    /// The number of bytes that ``detectorBytes(_:)`` needs.
    static let startBytes = 24

    /// Decodes a store.
    ///
    /// - Parameters:
    ///   - file: name for error messages.
    ///   - withAudio: if false, the bytes may end after the vectors, and all takes are without their recordings.
    /// - Throws: ``EnrollmentError/damaged``; ``EnrollmentError/name`` for a word with an invalid name.
    public init(bytes: [UInt8], file: String, withAudio: Bool = true) throws(EnrollmentError) {
        func damaged(_ what: String) -> EnrollmentError { .damaged.saying("\(file): \(what)") }

        guard bytes.starts(with: magic) else { throw damaged("not a word store; name one that beckon wrote") }
        var reader = StoreReader(bytes.dropFirst(magic.count))
        do throws(StoreDamage) {
            switch try reader.bytes(1).first {
            case 1: try self.init(version1: bytes, withAudio: withAudio)
            case (2...10)?: try self.init(version2: bytes, withAudio: withAudio)
            default: throw .newer
            }
        } catch {
            if case .name(let error) = error { throw error }
            throw damaged(error.description)
        }
    }

    /// The names of the words that have recordings, from bytes of which a store was decoded.
    static func recordedWords(_ bytes: [UInt8]) -> Set<String> {
        let isFirst = bytes.starts(with: magic + [1])
        var reader = StoreReader(bytes.dropFirst(magic.count + 1))
        guard let length = try? reader.number(), isFirst || (try? reader.number()) != nil,
            let json = try? reader.bytes(length), let header = try? StoreHeader(json: json)
        else { return [] }
        return Set(header.words.filter { $0.takes.contains { $0.samples > 0 } }.map(\.name))
    }

    private init(version2 bytes: [UInt8], withAudio: Bool) throws(StoreDamage) {
        var reader = StoreReader(bytes.dropFirst(magic.count + 1))
        let (headerBytes, vectorBytes) = (try reader.number(), try reader.number())
        let json = try reader.bytes(headerBytes)
        var vectors = StoreReader(try reader.bytes(vectorBytes))
        guard storeChecksum(bytes[..<reader.position]) == (try reader.checksum()) else { throw .checksum }
        let start = reader.position
        try self.init(header: json) { take, word throws(StoreDamage) in
            let templates = try vectors.templates(take.templates, dimensions: word.dimensions ?? 0)
            return Take(
                templates: templates,
                templateSpacing: take.templateSpacing,
                audio: withAudio ? try reader.samples(take.samples) : []
            )
        }
        guard vectors.isAtEnd else { throw .longer }
        guard withAudio else { return }
        guard storeChecksum(bytes[start..<reader.position]) == (try reader.checksum()) else { throw .checksum }
        guard reader.isAtEnd else { throw .longer }
    }

    private init(version1 bytes: [UInt8], withAudio: Bool) throws(StoreDamage) {
        guard bytes.count >= magic.count + 1 + 8 + checksumBytes else { throw .cutShort }
        let body = bytes.dropLast(checksumBytes)
        var end = StoreReader(bytes[body.endIndex...])
        guard storeChecksum(body) == (try end.checksum()) else { throw .checksum }
        var reader = StoreReader(body.dropFirst(magic.count + 1))
        let headerBytes = try reader.number()
        let json = try reader.bytes(headerBytes)
        try self.init(header: json) { take, word throws(StoreDamage) in
            let templates = try reader.templates(take.templates, dimensions: word.dimensions ?? 0)
            let audio = try reader.samples(take.samples)
            return Take(
                templates: templates,
                templateSpacing: take.templateSpacing,
                audio: withAudio ? audio : []
            )
        }
        guard reader.isAtEnd else { throw .longer }
    }

    /// - Parameter take: reads the numbers of a take; takes are asked for in the header's order.
    private init(
        header json: ArraySlice<UInt8>,
        take: (StoreHeader.Take, StoreHeader.Word) throws(StoreDamage) -> Take
    ) throws(StoreDamage) {
        guard let header = try? StoreHeader(json: json) else { throw .header }
        // Names that no word can have are left out: they are only for messages.
        self.init(forgotten: (header.forgotten ?? []).filter { (try? WordStore.check(name: $0)) != nil })
        guard header.words.count <= Limit.words else { throw .limits }
        var names: Set<String> = []
        for var word in header.words {
            word.embedding = word.embedding ?? header.embedding
            word.dimensions = word.dimensions ?? header.dimensions
            guard (0...Limit.dimensions).contains(word.dimensions ?? 0) else { throw .limits }
            do throws(EnrollmentError) { try WordStore.check(name: word.name) } catch { throw .name(error) }
            guard names.insert(word.name).inserted else { throw .twice(word.name) }
            guard word.takes.count <= Limit.takes, (word.negatives?.count ?? 0) <= Limit.negatives,
                (0...1).contains(word.threshold), (-9...2).contains(word.boundary), let sensitivities = word.table
            else { throw .word(word.name) }
            func read(
                _ templates: Int,
                spacing: Int = 0,
                samples: Int = 0,
                dimensions: Int? = nil
            ) throws(StoreDamage) -> Take {
                var vectors = word
                vectors.dimensions = dimensions ?? word.dimensions
                do throws(StoreDamage) {
                    return try take(
                        StoreHeader.Take(templates: templates, templateSpacing: spacing, samples: samples),
                        vectors
                    )
                } catch .take {
                    throw .take(word.name)
                }
            }
            var known = Word(
                name: word.name,
                embedding: word.embedding ?? "",
                threshold: word.threshold,
                sensitivities: sensitivities,
                boundary: word.boundary,
                takes: []
            )
            known.sounds = try word.heardSounds
            if let look = word.look {
                guard look.isWithinLimits else { throw .word(word.name) }
                known.look = Look(proposal: look.proposal, boundary: look.boundary)
            }
            for entry in word.takes {
                guard entry.isWithinLimits else { throw .take(word.name) }
                let count = entry.templates
                var take = try read(count, spacing: entry.templateSpacing, samples: entry.samples)
                for _ in 0..<(entry.parts ?? 0) { take.parts.append(try read(count).templates) }
                take.sequence = try read(entry.sequence ?? 0).templates
                take.speech = try read(entry.speech ?? 0, dimensions: SpeechEmbedding.count).templates
                known.takes.append(take)
            }
            for entry in word.negatives ?? [] {
                guard entry.isWithinLimits else { throw .take(word.name) }
                // The vectors of all moments, as those of one take.
                let count = entry.templates
                let all = try read(entry.moments * count, samples: entry.samples)
                let moments = (0..<entry.moments).map { Array(all.templates[$0 * count..<($0 + 1) * count]) }
                known.negatives.append(Negative(moments: moments, audio: all.audio))
            }
            if let count = word.cohort {
                guard count == word.takes.first?.templates else { throw .word(word.name) }
                known.cohort = try read(count).templates
            }
            if let count = word.text {
                guard count == 1 else { throw .word(word.name) }
                known.text = try read(count).templates.first ?? []
            }
            words.append(known)
        }
    }
}

private func append(_ number: UInt64, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
}

private func append<Number: BitwiseCopyable>(_ numbers: [Number], to bytes: inout [UInt8]) {
    numbers.withUnsafeBytes { bytes += $0 }
}
