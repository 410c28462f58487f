private import Core
import Glibc

/// A regular file, open for reading.
public struct OpenFile: ~Copyable, Sendable {
    /// In bytes, when it was opened.
    public let size: Int
    let status: FileStatus
    private let descriptor: FileDescriptor

    public init(_ path: String) throws(ReadFileError) {
        // O_NONBLOCK: opening a pipe would otherwise wait for a writer.
        try self.init(
            FileDescriptor(open(FileName.cString(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)),
            mostNames: .max
        )
    }

    /// A file of a folder that has one name; links are not followed.
    init(_ name: String, in folder: borrowing FileDescriptor) throws(ReadFileError) {
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW
        let file = FileDescriptor(openat(folder.rawValue, FileName.cString(name), flags))
        guard file.isOpen || errno != ELOOP else { throw .notRegularFile }
        try self.init(file, mostNames: 1)
    }

    private init(_ file: consuming FileDescriptor, mostNames: UInt) throws(ReadFileError) {
        guard file.isOpen else { throw .system(SystemError("open")) }
        var status = stat()
        guard fstat(file.rawValue, &status) == 0 else { throw .system(SystemError("fstat")) }
        guard status.st_mode & S_IFMT == S_IFREG, UInt(status.st_nlink) <= mostNames else { throw .notRegularFile }
        size = Int(status.st_size)
        self.status = FileStatus(status)
        descriptor = file
    }

    /// The bytes of a range. Threads may read at the same time.
    ///
    /// - Throws: ``ReadFileError/truncated(at:)`` where the file became shorter since it was opened.
    public func read(_ range: Range<Int>) throws(ReadFileError) -> [UInt8] { try read(range, after: []) }

    /// The bytes of a range, of which those in `start` were read before.
    func read(_ range: Range<Int>, after start: [UInt8]) throws(ReadFileError) -> [UInt8] {
        var failure: ReadFileError?
        // Not filled with zeros first: a model's weights are megabytes, which are read whenever a command starts.
        let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { buffer, filled in
            filled = buffer.initialize(fromContentsOf: start)
            while filled < range.count, failure == nil {
                let (rest, place) = (buffer.baseAddress.map { $0 + filled }, range.lowerBound + filled)
                let piece = pread(descriptor.rawValue, rest, range.count - filled, off_t(place))
                if piece > 0 {
                    filled += piece
                } else if piece == 0 {
                    failure = .truncated(at: place)
                } else if errno != EINTR {
                    failure = .system(SystemError("pread"))
                }
            }
        }
        if let failure { throw failure }
        return bytes
    }
}
