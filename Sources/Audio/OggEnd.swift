import Glibc

/// The last page of an Ogg file (RFC 3533): whether it is complete and ends the stream.
///
/// libsndfile wrongly reports a missing end-of-stream flag if all audio of an Opus stream is on one page, as in clips
/// of up to a second; so the page itself is checked.
enum OggEnd {
    /// Sizes in bytes: of a page's header without its segment table, and of the largest possible page.
    private static let headerSize = 27
    private static let largestPage = headerSize + 255 + 255 * 255

    /// Whether the last page in the file is complete and has the end-of-stream flag.
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
