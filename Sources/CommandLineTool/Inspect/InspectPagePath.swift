private import Core
private import Glibc
private import Kernels
private import System

/// Where the page of a recording goes that was given no name: recordings of equal names in different folders have pages of their own.
///
/// A page ends with a mark of its recording, so that a page is replaced only by one of the same recording.
struct InspectPagePath {
    private let mark: String

    /// - Parameter file: the recording.
    init(_ file: String) {
        let whole = realpath(FileName.cString(file), nil)
        defer { free(whole) }
        let path = whole.map { Array(UnsafeBufferPointer(start: $0, count: strlen($0))) } ?? FileName.cString(file)
        let sum = path.withUnsafeBytes { bytes in
            bytes.baseAddress.map { fnv1a($0, count: bytes.count, from: 0xCBF2_9CE4_8422_2325) } ?? 0
        }
        mark = "<!-- recording \(String(sum, radix: 16)) -->\n"
    }

    private init(mark: String) { self.mark = mark }

    /// The page that leads to those of several recordings.
    static let index = InspectPagePath(mark: "<!-- index of recordings -->\n")

    /// A page with the mark.
    func marked(_ html: String) -> String { html + mark }

    /// The first path that is free, or has a page of the same recording: `a.html`, `a-2.html` and so on.
    ///
    /// - Parameter taken: paths that have other pages.
    func firstFree(_ path: String, besides taken: Set<String> = []) -> String {
        func serves(_ path: String) -> Bool { !taken.contains(path) && (isFree(path) || hasMark(path)) }
        let stem = path.hasSuffix(".html") ? String(path.dropLast(5)) : path
        for number in 2...1000 where !serves(path) {
            let other = "\(stem)-\(number).html"
            if serves(other) { return other }
        }
        return path
    }

    /// A link takes its name even if it leads nowhere.
    private func isFree(_ path: String) -> Bool {
        faccessat(AT_FDCWD, FileName.cString(path), F_OK, AT_SYMLINK_NOFOLLOW) != 0
    }

    private func hasMark(_ path: String) -> Bool {
        let file = FileDescriptor(open(FileName.cString(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW))
        let size = lseek(file.rawValue, 0, SEEK_END)
        var tail = [UInt8](repeating: 0, count: mark.utf8.count)
        guard file.isOpen, size >= tail.count, pread(file.rawValue, &tail, tail.count, size - tail.count) == tail.count
        else { return false }
        return tail.elementsEqual(mark.utf8)
    }
}
