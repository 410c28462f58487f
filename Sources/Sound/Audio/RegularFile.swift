private import Core
import Glibc
import System

/// The descriptor of a regular file that is not empty, open for reading.
struct RegularFile: ~Copyable {
    /// Bytes in the file.
    let size: Int
    private let file: FileDescriptor
    var descriptor: Int32 { file.rawValue }

    /// - Throws: ``AudioError/notFound``, ``AudioError/unreadable``, ``AudioError/notRegularFile`` or
    ///   ``AudioError/emptyFile``.
    init(path: String) throws(AudioError) {
        let name = AudioError.quoted(path)
        // A C string ends at its first NUL: a path with one would open another file.
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw .notFound.saying("audio file \(name) does not exist (empty or malformed path); check the path")
        }
        // Without O_NONBLOCK, opening a pipe would wait for its writer.
        let file = FileDescriptor(open(FileName.cString(path), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY))
        guard file.isOpen else {
            let number = errno
            let text = SystemError.text(number)
            if number == ENOENT || number == ENOTDIR {
                throw .notFound.saying("audio file \(name) does not exist (open: \(text)); check the path")
            }
            throw .unreadable.saying("audio file \(name) cannot be opened (open: \(text)); check its permissions")
        }
        size = try RegularFile.checkedSize(of: file.rawValue, name: name)
        self.file = file
    }

    private static func checkedSize(of descriptor: Int32, name: String) throws(AudioError) -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw .unreadable.saying(
                "audio file \(name) cannot be examined (fstat: \(SystemError.text(errno))); check the disk"
            )
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw .notRegularFile.saying("\(name) is a directory, not an audio file; name a file in it")
        default:
            throw .notRegularFile.saying("\(name) is a pipe or a device, not a regular file; save the audio to a file")
        }
        guard status.st_size > 0 else {
            throw .emptyFile.saying("audio file \(name) is empty (0 bytes); record or copy it again")
        }
        return Int(status.st_size)
    }
}
