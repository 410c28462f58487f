import Glibc

/// The last page of an Ogg file (RFC 3533): whether the stream ends where the file does.
///
/// libsndfile says that the flag of the last page is missing when all audio of an Opus stream is on that one page, as in
/// every clip of up to a second; so the page itself is looked at.
enum OggEnd {
    /// Bytes of a page's header without its table of segments, and of the largest page there can be.
    private static let headerSize = 27
    private static let largestPage = headerSize + 255 + 255 * 255

    /// True if the last page in the file is whole and has the flag that ends a stream.
    static func isMarked(descriptor: Int32, fileSize: Int) -> Bool {
        var tail = [UInt8](repeating: 0, count: min(largestPage, fileSize))
        guard pread(descriptor, &tail, tail.count, fileSize - tail.count) == tail.count else { return false }
        let magic = Array("OggS".utf8)
        var start = tail.count - headerSize
        while start >= 0 {
            if tail[start..<start + magic.count].elementsEqual(magic) { return endsStream(tail[start...]) }
            start -= 1
        }
        return false
    }

    private static func endsStream(_ page: ArraySlice<UInt8>) -> Bool {
        let start = page.startIndex
        let segments = Int(page[start + 26])
        guard page.count >= headerSize + segments else { return false }
        let table = page[start + headerSize..<start + headerSize + segments]
        let length = headerSize + segments + table.reduce(0) { $0 + Int($1) }
        return page.count >= length && page[start + 5] & 4 != 0
    }
}
