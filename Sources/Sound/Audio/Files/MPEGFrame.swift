/// The header of a frame of MPEG audio (ISO/IEC 11172-3, 13818-3): how long the frame is, and what all frames of a stream have in common.
struct MPEGFrame: Equatable {
    /// Bytes to the next frame.
    let size: Int
    /// Version, layer and sample rate.
    let kind: UInt16

    /// Nil for bytes that are no header, and for frames whose bit rate the header does not say.
    init?(_ head: ArraySlice<UInt8>) {
        guard Magic.isFrame(head) else { return nil }
        let bytes = Array(head.prefix(4))
        let (version, layer) = (Int(bytes[1] >> 3 & 3), 4 - Int(bytes[1] >> 1 & 3))
        let (rateIndex, bitIndex) = (Int(bytes[2] >> 2 & 3), Int(bytes[2] >> 4))
        let isFirst = version == 3
        let rates = isFirst ? Self.rates1[layer - 1] : layer == 1 ? Self.rates2Layer1 : Self.rates2
        guard bitIndex > 0, bitIndex < 15, rateIndex < 3 else { return nil }
        let rate = [44_100, 48_000, 32_000][rateIndex] >> (isFirst ? 0 : version == 2 ? 1 : 2)
        let (bitRate, padding) = (rates[bitIndex] * 1000, Int(bytes[2] >> 1 & 1))
        switch layer {
        case 1: size = (12 * bitRate / rate + padding) * 4
        case 3 where !isFirst: size = 72 * bitRate / rate + padding
        default: size = 144 * bitRate / rate + padding
        }
        kind = UInt16(bytes[1] & 0x1E) << 8 | UInt16(bytes[2] & 0x0C)
    }

    private static let rates1 = [
        [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
        [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
        [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
    ]
    private static let rates2Layer1 = [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256]
    private static let rates2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
}

extension FileRest {
    /// Frames that follow each other are not there by chance.
    private static let framesInRow = 4
    /// As far as players search: pictures of a tag with a wrong size are in front of the audio.
    private static let longestSearch = 1 << 20

    /// Where audio begins behind tags and padding; behind bytes that are neither, only MPEG audio is searched, as players do. The first
    /// offset that begins no tag if there is none.
    static func beginning(in file: borrowing RegularFile, from start: Int) -> Int {
        let first = endOfTags(in: file, from: start)
        var place = first
        for _ in 0..<1000 {
            guard Magic(of: file, at: place) == nil, let next = file.firstNonzero(in: place..<file.size) else { break }
            let end = endOfTags(in: file, from: next)
            place = end
            if end == next { break }
        }
        if place < file.size, let magic = Magic(of: file, at: place) {
            // A header of a frame may be there by chance; of a short or free-format stream it is the only one.
            return magic == .mpeg ? firstFrames(in: file, from: place) ?? place : place
        }
        // A size of a tag that is too large hides all of it.
        return firstFrames(in: file, from: place) ?? firstFrames(in: file, from: start + 1) ?? first
    }

    /// The first of some frames of MPEG audio that follow each other; nil if there are none.
    static func firstFrames(in file: borrowing RegularFile, from start: Int) -> Int? {
        var place = start
        let end = min(file.size, start + longestSearch)
        while place < end {
            let piece = file.bytes(at: place, count: min(1 << 16, end - place))
            guard !piece.isEmpty else { return nil }
            for index in piece.indices where piece[index] == 0xFF {
                // A header may go on in the next piece.
                let isWhole = index + 4 <= piece.count
                if isWhole, MPEGFrame(piece[index..<index + 4]) == nil { continue }
                if areFrames(in: file, at: place + index) { return place + index }
            }
            place += piece.count
        }
        return nil
    }

    private static func areFrames(in file: borrowing RegularFile, at start: Int) -> Bool {
        var place = start
        var kind: UInt16?
        for _ in 0..<framesInRow {
            guard let frame = MPEGFrame(file.bytes(at: place, count: 4)[...]), kind == nil || kind == frame.kind else {
                return false
            }
            kind = frame.kind
            place += frame.size
            // A short file ends with them.
            if place == file.size { return place > start + frame.size }
        }
        return true
    }
}
