import Glibc

/// One stream of an Ogg file (RFC 3533), from its first page to the page before the next stream: files may be chained.
struct OggLink: Equatable {
    /// Where it ends in the file.
    let end: Int
    /// Whether its last page is complete and ends the stream.
    ///
    /// libsndfile wrongly reports a missing end of stream if all audio of an Opus stream is on one page, as in clips of up to a
    /// second.
    let isMarked: Bool
    /// Bytes between pages.
    let damage: Range<Int>?

    /// The size in bytes of a page's header without its segment table.
    private static let headerSize = 27
    /// The largest header, with its table.
    private static let largestHeader = headerSize + 255

    init(_ file: borrowing RegularFile, from start: Int) {
        var place = start
        var isMarked = false
        var hasData = false
        var damage: Range<Int>?
        // Only the headers of pages are read.
        var header = [UInt8](repeating: 0, count: Self.largestHeader)
        while place < file.size {
            let count = pread(file.descriptor, &header, header.count, place)
            guard count >= 4, header.starts(with: "OggS".utf8) else {
                guard let next = Self.nextPage(file, after: place) else { break }
                damage = (damage?.lowerBound ?? place)..<next
                place = next
                continue
            }
            let isFirst = count >= Self.headerSize && header[5] & 2 != 0
            if isFirst, hasData { break }
            hasData = hasData || !isFirst
            let segments = Int(header[26])
            let size = header[Self.headerSize..<Self.headerSize + segments].reduce(Self.headerSize + segments) {
                $0 + Int($1)
            }
            guard count >= Self.headerSize + segments, place + size <= file.size else {
                isMarked = false
                place = file.size
                break
            }
            isMarked = header[5] & 4 != 0
            place += size
        }
        end = place
        self.isMarked = isMarked
        self.damage = damage
    }

    /// The next page behind bytes that are not page; nil if they are the end, or another file begins.
    private static func nextPage(_ file: borrowing RegularFile, after place: Int) -> Int? {
        guard case .unknown = FileRest(of: file, from: place) else { return nil }
        let magic = Array("OggS".utf8)
        var start = place + 1
        while start < file.size {
            let piece = file.bytes(at: start, count: 1 << 16)
            guard piece.count >= magic.count else { return nil }
            if let index = piece.indices.dropLast(3).first(where: {
                piece[$0] == magic[0] && piece[$0...].starts(with: magic)
            }) {
                return start + index
            }
            start += piece.count - magic.count + 1
        }
        return nil
    }
}
