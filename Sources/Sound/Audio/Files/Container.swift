/// Where the audio of a file lies that is divided into chunks, and what its header says of it.
///
/// Read chunk by chunk: WAV, RF64 and BW64 (Microsoft "Multimedia Programming Interface and Data Specifications 1.0", EBU Tech 3306),
/// AIFF (Apple "AIFF 1.3"), W64 (Sony "Wave64"), CAF (Apple "Core Audio Format") and AU.
///
/// The bytes that are there count, and not the size that the header declares:
///
/// - A size of 0, of all ones, or near or beyond 2 GiB where the file has less, is unknown: the audio ends with the file.
/// - A smaller size than the rest of the file holds where what follows the audio is a chunk, a tag, padding or another audio file.
/// - Else what follows the audio is audio too: a recorder that was stopped leaves the size of its first buffer, and one that wrote
///   more than 4 GiB leaves a size that wrapped around. If it is shorter than the audio that the header counts, and the size did not
///   wrap, it may be anything: it is read all the same, and the file is faulty.
/// - A larger size than the file holds is a promise that is not kept.
struct Container: Equatable {
    /// The audio in the file.
    var audio: Range<Int>
    /// Bytes of audio by the header; nil if it does not say.
    var declared: Int?
    /// Where the chunks that belong to it end.
    var end: Int
    /// Audio behind what the header counts.
    var surplus: Range<Int>?
    /// What a decoder is told instead of what the header says, as if it had been completed.
    var patches: [FileView.Patch] = []
    /// The layout of samples, where libsndfile reads them wrongly, or where only the samples tell it.
    var layout = Layout.other

    enum Layout: Equatable {
        case other
        /// Declared as 24 bits in 4 bytes.
        case declared24In32
        /// No samples, but MPEG audio.
        case mpeg
    }

    /// Header fields are from outside: no file has more chunks.
    private static let mostChunks = 10_000
    /// Writers to a pipe declare 2 GiB, or a little less, of audio or of all (sox: 0x7F000000, headers included).
    static let leastPlaceholder = 0x7EFF_0000

    /// Whether the surplus may be anything.
    var isSurplusDoubtful: Bool {
        guard let surplus, let declared else { return false }
        return surplus.count < declared && declared < Self.leastPlaceholder && surplus.upperBound < 1 << 32
    }

    /// Bytes of audio that the header counts and that are missing; nil if none.
    var missing: Int? { declared.flatMap { $0 > audio.count ? $0 - audio.count : nil } }

    /// Nil if there is no such header at an offset, or no audio behind it.
    init?(_ file: borrowing RegularFile, at start: Int) {
        let found: Found?
        switch Magic(of: file, at: start) {
        case .wave: found = Self.wave(file, start)
        case .aiff: found = Self.aiff(file, start)
        case .wave64: found = Self.wave64(file, start)
        case .caf: found = Self.caf(file, start)
        case .au: found = Self.au(file, start)
        default: found = nil
        }
        guard let found else { return nil }
        self.init(found, file)
    }

    /// What the walk over the chunks found.
    private struct Found {
        var kind: Magic
        var isBigEndian = false
        var start: Int
        /// Where the audio begins.
        var audio: Int
        /// Nil if it is unknown.
        var size: Int?
        /// Whether the size has 64 bits, of which only all ones and 0 stand for another.
        var isLong = false
        var layout = Layout.other
        /// Given the size of the audio.
        var patches: (Int) -> [FileView.Patch] = { _ in [] }
        /// What libsndfile has no name for.
        var renamed: [FileView.Patch] = []
    }

    private init(_ found: Found, _ file: borrowing RegularFile) {
        let present = max(0, file.size - found.audio)
        var size = found.size
        if let known = size, known > present, known >= Self.leastPlaceholder, !found.isLong { size = nil }
        layout = found.layout
        declared = size
        patches = found.renamed
        guard let size, size <= present else {
            audio = found.audio..<found.audio + present
            end = file.size
            patches = found.patches(present)
            return
        }
        let walk = Self.endOfChunks(file, found, from: found.audio + size)
        // A size of 0 with chunks up to the end of the file is one: there is no audio.
        if size == 0, walk == found.audio, present > 0 {
            declared = nil
            audio = found.audio..<file.size
            end = file.size
            patches = found.patches(present)
            return
        }
        var last = found.audio + size
        end = walk
        // A single byte is padding, whatever it holds.
        if walk == last, file.size - walk > 1, case .unknown = FileRest(of: file, from: walk) {
            surplus = last..<file.size
            last = file.size
            end = last
            patches = found.patches(last - found.audio)
        }
        audio = found.audio..<last
    }

    // MARK: - Chunks behind the audio

    private static func endOfChunks(_ file: borrowing RegularFile, _ found: Found, from start: Int) -> Int {
        guard found.kind != .au else { return start }
        // Chunks begin at even offsets; some writers leave the padding out.
        let isOdd = (start - found.start) % 2 == 1
        let places =
            found.kind == .wave64
            ? [start + (8 - (start - found.start) % 8) % 8] : isOdd ? [start + 1, start] : [start]
        for place in places {
            let end = walk(file, found, from: place)
            if end > place { return end }
        }
        return start
    }

    private static func walk(_ file: borrowing RegularFile, _ found: Found, from start: Int) -> Int {
        var place = start
        for _ in 0..<mostChunks {
            guard let next = endOfChunk(file, found, at: place) else { break }
            place = next
        }
        return place
    }

    /// Nil if there is no chunk.
    private static func endOfChunk(_ file: borrowing RegularFile, _ found: Found, at place: Int) -> Int? {
        let head = file.bytes(at: place, count: 24)
        let rest = file.size - place
        switch found.kind {
        case .wave64:
            let wave64 = Array(file.bytes(at: found.start + 28, count: 12))
            // All chunks of it but the first have the same end of their identifier.
            guard head.count == 24, head[4..<16].elementsEqual(wave64) else { return nil }
            let size = min(number(head[16..<24], isBigEndian: false), rest)
            guard size >= 24 else { return nil }
            return place + min(rest, size + (8 - size % 8) % 8)
        case .caf:
            guard head.count >= 12, isName(head[0..<4]) else { return nil }
            let size = number(head[4..<12], isBigEndian: true)
            return size <= rest - 12 ? place + 12 + size : nil
        default:
            guard head.count >= 8, isName(head[0..<4]) else { return nil }
            let name = String(decoding: head[0..<4], as: UTF8.self)
            let size = number(head[4..<8], isBigEndian: found.isBigEndian)
            // Another file, or more audio, is no chunk that may be left out.
            guard !["RIFF", "RIFX", "RF64", "BW64", "FORM", "data", "SSND", "OggS", "fLaC"].contains(name) else {
                return nil
            }
            if size <= rest - 8 { return place + 8 + min(size + size % 2, rest - 8) }
            return known.contains(name) ? file.size : nil
        }
    }

    /// Chunks that hold no audio; one of these may be cut.
    private static let known: Set<String> = [
        "LIST", "id3 ", "ID3 ", "bext", "iXML", "cue ", "fact", "PEAK", "smpl", "JUNK", "junk", "PAD ", "FLLR", "afsp",
        "DISP", "inst",
        "acid", "_PMX", "cart", "levl", "labl", "note", "MARK", "INST", "COMT", "NAME", "AUTH", "ANNO", "APPL", "(c) ",
        "axml", "chna",
    ]

    private static func isName(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.allSatisfy { (0x20...0x7E).contains($0) } && bytes.first != 0x20
    }

    // MARK: - Headers

    private static func wave(_ file: borrowing RegularFile, _ start: Int) -> Found? {
        let isBigEndian = file.has("RIFX", at: start)
        var found = Found(kind: .wave, isBigEndian: isBigEndian, start: start, audio: 0)
        if file.has("BW64", at: start) { found.renamed = [FileView.Patch(offset: start, bytes: Array("RF64".utf8))] }
        var place = start + 12
        var longSize: Int?
        for _ in 0..<mostChunks {
            let head = file.bytes(at: place, count: 8)
            guard head.count == 8 else { return nil }
            let size = number(head[4..<8], isBigEndian: isBigEndian)
            let body = place + 8
            switch String(decoding: head[0..<4], as: UTF8.self) {
            case "data":
                found.audio = body
                found.size = size == 0xFFFF_FFFF ? longSize : size
                // EBU Tech 3306: the long size counts where the short one is all ones. Some writers leave other values there.
                if let longSize, size == 0 { found.size = longSize }
                if found.size == Int.max { found.size = nil }
                found.isLong = longSize != nil && (size == 0xFFFF_FFFF || size == 0)
                found.patches = { total in
                    // libsndfile takes a file with these sizes as one that was not closed, and reads it to its end.
                    let (riff, data) =
                        total + body - start - 8 < 0xFFFF_FFFF ? (total + body - start - 8, total) : (8, 0)
                    var patches = [
                        FileView.Patch(offset: start + 4, bytes: bytes(riff, 4, isBigEndian)),
                        FileView.Patch(offset: place + 4, bytes: bytes(data, 4, isBigEndian)),
                    ]
                    // An RF64 with complete sizes needs no other table.
                    if longSize != nil {
                        patches.append(FileView.Patch(offset: start, bytes: Array("RIFF".utf8)))
                        patches.append(FileView.Patch(offset: start + 12, bytes: Array("JUNK".utf8)))
                    }
                    return patches
                }
                return found
            case "ds64":
                let sizes = file.bytes(at: body + 8, count: 8)
                if sizes.count == 8 {
                    let value = number(sizes[...], isBigEndian: false)
                    longSize = value == 0 ? Int.max : value
                }
            case "fmt ":
                let format = file.bytes(at: body, count: 26)
                if !isBigEndian, format.count >= 16 { found.layout = layout(format, size) }
            default: break
            }
            place = body + size + size % 2
        }
        return nil
    }

    private static func layout(_ format: [UInt8], _ size: Int) -> Layout {
        func field(_ place: Int) -> Int { Int(format[place]) | Int(format[place + 1]) << 8 }
        let isLong = field(0) == 0xFFFE && size >= 26 && format.count >= 26
        let tag = isLong ? field(24) : field(0)
        if tag == 0x50 || tag == 0x55 { return .mpeg }
        return tag == 1 && field(12) == 4 * field(2) && field(14) == 24 ? .declared24In32 : .other
    }

    private static func aiff(_ file: borrowing RegularFile, _ start: Int) -> Found? {
        var found = Found(kind: .aiff, isBigEndian: true, start: start, audio: 0)
        var place = start + 12
        var frames: (place: Int, bytes: Int)?
        for _ in 0..<mostChunks {
            let head = file.bytes(at: place, count: 16)
            guard head.count >= 8 else { return nil }
            let size = number(head[4..<8], isBigEndian: true)
            switch String(decoding: head[0..<4], as: UTF8.self) {
            case "COMM":
                let common = file.bytes(at: place + 8, count: 22)
                guard common.count >= 18 else { return nil }
                let (channels, bits) = (
                    number(common[0..<2], isBigEndian: true), number(common[6..<8], isBigEndian: true)
                )
                frames = (place + 10, channels * ((bits + 7) / 8))
            case "SSND":
                guard head.count == 16 else { return nil }
                let skipped = number(head[8..<12], isBigEndian: true)
                guard skipped < file.size - place else { return nil }
                let (chunk, audio) = (place, place + 16 + skipped)
                found.audio = audio
                found.size = size <= 8 ? 0 : max(0, size - 8 - skipped)
                found.patches = { total in
                    var patches = [
                        FileView.Patch(offset: start + 4, bytes: bytes(total + audio - start - 8, 4, true)),
                        FileView.Patch(offset: chunk + 4, bytes: bytes(total + 8 + skipped, 4, true)),
                    ]
                    if let frames, frames.bytes > 0 {
                        patches.append(
                            FileView.Patch(offset: frames.place, bytes: bytes(total / frames.bytes, 4, true))
                        )
                    }
                    return patches
                }
                return found
            default: break
            }
            place += 8 + size + size % 2
        }
        return nil
    }

    private static func wave64(_ file: borrowing RegularFile, _ start: Int) -> Found? {
        var place = start + 40
        for _ in 0..<mostChunks {
            let head = file.bytes(at: place, count: 24)
            guard head.count == 24 else { return nil }
            let size = number(head[16..<24], isBigEndian: false)
            if head.starts(with: "data".utf8) {
                var found = Found(kind: .wave64, start: start, audio: place + 24)
                (found.size, found.isLong) = (size == .max ? nil : max(0, size - 24), true)
                let chunk = place
                found.patches = { total in
                    [
                        FileView.Patch(offset: start + 16, bytes: bytes(total + chunk + 24 - start, 8, false)),
                        FileView.Patch(offset: chunk + 16, bytes: bytes(total + 24, 8, false)),
                    ]
                }
                return found
            }
            guard (24...file.size).contains(size) else { return nil }
            place += size + (8 - size % 8) % 8
        }
        return nil
    }

    private static func caf(_ file: borrowing RegularFile, _ start: Int) -> Found? {
        var place = start + 8
        for _ in 0..<mostChunks {
            let head = file.bytes(at: place, count: 12)
            guard head.count == 12 else { return nil }
            let size = number(head[4..<12], isBigEndian: true)
            if head.starts(with: "data".utf8) {
                // The number of edits comes before the audio.
                var found = Found(kind: .caf, isBigEndian: true, start: start, audio: place + 16)
                (found.size, found.isLong) = (size == .max ? nil : max(0, size - 4), true)
                let chunk = place
                found.patches = { total in [FileView.Patch(offset: chunk + 4, bytes: bytes(total + 4, 8, true))] }
                return found
            }
            guard size <= file.size else { return nil }
            place += 12 + size
        }
        return nil
    }

    private static func au(_ file: borrowing RegularFile, _ start: Int) -> Found? {
        let isBigEndian = file.has(".snd", at: start)
        let head = file.bytes(at: start, count: 12)
        guard head.count == 12 else { return nil }
        let offset = number(head[4..<8], isBigEndian: isBigEndian)
        guard offset >= 24, offset <= file.size - start else { return nil }
        var found = Found(kind: .au, isBigEndian: isBigEndian, start: start, audio: start + offset)
        found.size = number(head[8..<12], isBigEndian: isBigEndian)
        found.patches = { total in
            [FileView.Patch(offset: start + 8, bytes: bytes(min(total, 0xFFFF_FFFF), 4, isBigEndian))]
        }
        return found
    }

    // MARK: - Numbers

    /// An unsigned number of up to 8 bytes; the largest `Int` for one that is larger.
    private static func number(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool) -> Int {
        let ordered = isBigEndian ? Array(bytes) : bytes.reversed()
        return Int(clamping: ordered.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    private static func bytes(_ value: Int, _ count: Int, _ isBigEndian: Bool) -> [UInt8] {
        let little = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        return isBigEndian ? little.reversed() : little
    }
}
