import Core
import Glibc
public import System

/// A list of names, read as it comes: its length does not matter, and a pipe may be still being written.
public struct NameList: ~Copyable, Sendable {
    public enum Item: Equatable, Sendable {
        case name(String)
        /// A line on what is wrong with the list.
        case problem(String)
    }

    /// Bytes of a path that no file can have, as the end of its C string counts (PATH_MAX).
    public static let longestName = 4096

    private let file: FileDescriptor
    private let title: String
    private let separator: UInt8
    private var buffer: [UInt8] = []
    private var start = 0
    /// Whether the rest of a name that is too long is being left out.
    private var isSkipping = false
    private var isEnded: Bool
    /// Whether no name was given yet.
    private var isFirst = true

    /// A list without names.
    public init() { self.init(FileDescriptor(-1), title: "", separator: 0, isEnded: true) }

    /// Opens a list.
    ///
    /// - Parameters:
    ///   - path: its file, which may be a pipe; `-` for standard input.
    ///   - nulSeparated: whether names end with NUL; else with a newline, before which CR is left out.
    /// - Throws: if it cannot be opened or read.
    public init(path: String, nulSeparated: Bool) throws(SystemError) {
        self.init(
            FileDescriptor(path == "-" ? dup(STDIN_FILENO) : open(FileName.cString(path), O_RDONLY | O_CLOEXEC)),
            title: path == "-" ? "standard input" : printable(path),
            separator: nulSeparated ? 0 : 10,
            isEnded: false
        )
        guard file.isOpen else { throw SystemError("open") }
        try fill()
    }

    private init(_ file: consuming FileDescriptor, title: String, separator: UInt8, isEnded: Bool) {
        self.file = file
        self.title = title
        self.separator = separator
        self.isEnded = isEnded
    }

    /// Whether it is not text although its names should end with newlines, by its first part. Ask before the first ``next()``.
    public var isBinary: Bool { separator == 10 && buffer.contains(0) }

    /// The next name; nil at the end.
    public mutating func next() -> Item? {
        while true {
            if let end = buffer[start...].firstIndex(of: separator) {
                let part = buffer[start..<end]
                start = end + 1
                if let item = item(part) { return item }
            } else if buffer.count - start > Self.longestName {
                let item = isSkipping ? nil : tooLong(buffer[start...])
                isSkipping = true
                start = buffer.count
                if let item { return item }
            } else if isEnded {
                let part = buffer[start...]
                buffer = []
                start = 0
                return item(part)
            } else {
                do throws(SystemError) {
                    try fill()
                } catch {
                    isEnded = true
                    return .problem("\(title): cannot read this list of files: \(SystemError.text(error.number))")
                }
            }
        }
    }

    /// Nil for an empty name.
    private mutating func item(_ part: ArraySlice<UInt8>) -> Item? {
        guard !isSkipping else {
            isSkipping = false
            return nil
        }
        let line = isFirst ? Array(part.withoutByteOrderMark)[...] : part
        isFirst = false
        // A list written on another system may end its lines with CR LF.
        let part = separator == 10 && line.last == 13 ? line.dropLast() : line
        guard part.count < Self.longestName else { return tooLong(part) }
        return part.isEmpty ? nil : .name(FileName.text(part))
    }

    private func tooLong(_ part: ArraySlice<UInt8>) -> Item {
        let start = printable(String(FileName.text(part.prefix(160)).prefix(40)))
        return .problem("\(start)…: longer than the name of a file can be; give one name per line")
    }

    private mutating func fill() throws(SystemError) {
        buffer.removeFirst(start)
        start = 0
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(file.rawValue, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SystemError("read") }
            if count == 0 { isEnded = true } else { buffer += part[..<count] }
            return
        }
    }
}
