/// What stands in a file after audio that is complete.
///
/// Tags are skipped: ID3v1 and ID3v2 (id3.org), APE (Hydrogenaudio "APEv2 specification"), Lyrics3. Zeros are padding.
enum FileRest: Equatable {
    /// Tags, padding, or no bytes at all.
    case nothing
    /// The beginning of another audio file: they were joined.
    case audio(at: Int)
    /// Bytes that are none of these.
    case unknown(Range<Int>)

    init(of file: borrowing RegularFile, from start: Int) {
        var place = start
        // No file has so many tags.
        for _ in 0..<1000 {
            guard place < file.size, let next = file.firstNonzero(in: place..<file.size) else {
                self = .nothing
                return
            }
            let end = Self.endOfTag(in: file, at: next)
            if end == next {
                // Where padding is followed by something unknown, all of it is.
                self = Magic(of: file, at: next) == nil ? .unknown(place..<file.size) : .audio(at: next)
                return
            }
            place = end
        }
        self = .unknown(place..<file.size)
    }

    /// The first offset at or after `start` that begins no tag.
    static func endOfTags(in file: borrowing RegularFile, from start: Int) -> Int {
        var place = start
        for _ in 0..<1000 {
            let next = endOfTag(in: file, at: place)
            if next == place { break }
            place = next
        }
        return place
    }

    private static func endOfTag(in file: borrowing RegularFile, at place: Int) -> Int {
        let head = file.bytes(at: place, count: 32)
        let rest = file.size - place
        func starts(_ text: String) -> Bool { head.starts(with: text.utf8) }
        // ID3v1 has no size, and is the last of its file; another one may be joined.
        if starts("TAG"), rest >= 128 {
            let next = place + 128
            let isLast = rest == 128 || Magic(of: file, at: next) != nil
            if isLast || ["ID3", "APETAGEX"].contains(where: { file.has($0, at: next) }) { return next }
        }
        if starts("TAG+"), rest == 128 + 227 { return place + 227 }
        if starts("ID3") || starts("3DI"), head.count >= 10, head[6..<10].allSatisfy({ $0 < 0x80 }) {
            let size = head[6..<10].reduce(0) { $0 << 7 | Int($1) }
            return min(file.size, place + 10 + size + (head[5] & 0x10 != 0 ? 10 : 0))
        }
        if starts("APETAGEX"), head.count == 32 {
            let size = head[12..<16].reversed().reduce(0) { $0 << 8 | Int($1) }
            // The size counts the footer, and not the header; a footer stands after its items.
            let isHeader = head[23] & 0x20 != 0
            return min(file.size, place + 32 + (isHeader ? size : 0))
        }
        if starts("LYRICSBEGIN") {
            // Its size stands at its end, before an ID3v1 tag.
            let end = file.has("TAG", at: file.size - 128) ? file.size - 128 : file.size
            if file.has("LYRICS200", at: end - 9) || file.has("LYRICSEND", at: end - 9) { return end }
        }
        return place
    }
}

/// The kinds of audio files that are told by their first bytes.
enum Magic: Equatable {
    case wave, aiff, wave64, caf, au, flac, ogg
    /// MPEG audio, layer I to III: the header of a frame.
    case mpeg

    init?(of file: borrowing RegularFile, at place: Int) {
        let head = file.bytes(at: place, count: 40)
        func has(_ text: String, _ offset: Int = 0) -> Bool { head.dropFirst(offset).starts(with: text.utf8) }
        if ["RIFF", "RIFX", "RF64", "BW64"].contains(where: { has($0) }), has("WAVE", 8) {
            self = .wave
        } else if has("FORM"), has("AIF", 8) {
            self = .aiff
        } else if has("riff"), has("wave", 24) {
            self = .wave64
        } else if has("caff") {
            self = .caf
        } else if has(".snd") || has("dns.") {
            self = .au
        } else if has("fLaC") {
            self = .flac
        } else if has("OggS") {
            self = .ogg
        } else if Self.isFrame(head[...]) {
            self = .mpeg
        } else {
            return nil
        }
    }

    /// Whether bytes begin with a header of a frame of MPEG audio: its sync word, and no field with a forbidden value.
    static func isFrame(_ head: ArraySlice<UInt8>) -> Bool {
        guard head.count >= 4 else { return false }
        let bytes = Array(head.prefix(4))
        let isSync = bytes[0] == 0xFF && bytes[1] & 0xE0 == 0xE0
        let (version, layer) = (bytes[1] >> 3 & 3, bytes[1] >> 1 & 3)
        let (bitRate, rate, emphasis) = (bytes[2] >> 4, bytes[2] >> 2 & 3, bytes[3] & 3)
        return isSync && version != 1 && layer != 0 && bitRate != 15 && rate != 3 && emphasis != 2
    }
}
