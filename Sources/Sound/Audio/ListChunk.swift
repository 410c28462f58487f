import Glibc

/// Finds `LIST` chunks of WAV files (Microsoft "Multimedia Programming Interface and Data Specifications 1.0") that make
/// libsndfile 1.2 read without end.
///
/// libsndfile adds the size of each part of the list to its position in 32 bits. A size near 2³² wraps around, so that the
/// same parts are read for ever.
enum ListChunk {
    private static let marker = Array("LIST".utf8)
    /// Bytes that are searched at a time.
    private static let pieceSize = 1 << 20
    /// The most parts of a list that are looked at; no real list has so many.
    private static let longestList = 10_000

    /// Whether a list at any place of a WAV file, as libsndfile searches for chunks behind damage too, has such a part.
    ///
    /// - Parameter start: where the WAV file begins in the file.
    static func neverEnds(in file: borrowing RegularFile, from start: Int) -> Bool {
        let isBigEndian = file.has("RIFX", at: start)
        guard isBigEndian || Magic(of: file, at: start) == .wave else { return false }
        var start = start
        while true {
            let piece = file.bytes(at: start, count: pieceSize)
            guard piece.count > marker.count else { return false }
            for place in places(in: piece) where wraps(file, start + place + 8, isBigEndian) {
                return true
            }
            // A marker may lie across the end of a piece.
            start += piece.count - marker.count + 1
        }
    }

    private static func places(in bytes: [UInt8]) -> [Int] {
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return [] }
            var places: [Int] = []
            var start = 0
            while start <= bytes.count - marker.count,
                let found = memchr(base + start, Int32(marker[0]), bytes.count - start - marker.count + 1)
            {
                let place = UnsafeRawPointer(found) - base
                if memcmp(found, marker, marker.count) == 0 { places.append(place) }
                start = place + 1
            }
            return places
        }
    }

    /// Follows the parts of a list as libsndfile does.
    ///
    /// - Parameter start: offset of the first part in the file.
    private static func wraps(_ file: borrowing RegularFile, _ start: Int, _ isBigEndian: Bool) -> Bool {
        var read: UInt32 = 0
        var hasExif = false
        for _ in 0..<longestList {
            guard let name = word(file, start + Int(read), isBigEndian: true) else { return false }
            read &+= 4
            switch name {
            case 0: return false
            // "INFO", "adtl": names without a size.
            case 0x494E_464F, 0x6164_746C: continue
            // "exif", followed by parts of its own.
            case 0x6578_6966:
                hasExif = true
                continue
            default: break
            }
            guard let size = word(file, start + Int(read), isBigEndian: isBigEndian) else { return false }
            let (end, wraps) = (read + 4).addingReportingOverflow(size &+ size & 1)
            if wraps || hasExif && size >= 1 << 31 { return true }
            read = end
        }
        return false
    }

    private static func word(_ file: borrowing RegularFile, _ offset: Int, isBigEndian: Bool) -> UInt32? {
        let bytes = file.bytes(at: offset, count: 4)
        guard bytes.count == 4 else { return nil }
        let word = bytes.reduce(0) { $0 << 8 | UInt32($1) }
        return isBigEndian ? word : word.byteSwapped
    }
}
