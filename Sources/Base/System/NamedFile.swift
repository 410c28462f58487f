private import Core
import Glibc

/// The place of a file that a user named: the folder, open, and the name in there, after all symbolic links.
///
/// A link at the place is the user's way to say where the file lies, so that what it names is written and the link stays; but only a link of
/// the user's or of root's, because the owner of another folder could otherwise choose where the user writes. A name that the program makes is
/// no named file: ``replaceFile(_:mode:durable:isForFolderOwner:_:)`` follows no link.
public struct NamedFile: ~Copyable, Sendable {
    /// The folder of the file itself.
    public let folder: FileDescriptor
    /// The name in the folder.
    public let name: String

    /// Whether the way there led through the kernel's list of open files.
    private let isOfProcess: Bool

    /// What is there.
    public enum Kind: Sendable { case missing, regular, folder, other }

    private static let mostLinks = 16

    /// Finds the place; nothing needs to be there.
    public init(_ path: String) throws(NamedFileError) {
        let processes = try? FileStatus(path: "/proc").device
        var isOfProcess = false
        var path = path
        for _ in 0..<Self.mostLinks {
            let (parent, name) = splitPath(path)
            let folder = FileDescriptor(Glibc.open(FileName.cString(parent), O_RDONLY | O_DIRECTORY | O_CLOEXEC))
            guard folder.isOpen else { throw .system(SystemError("open")) }
            if let processes, FileStatus(descriptor: folder.rawValue)?.device == processes { isOfProcess = true }
            let cName = FileName.cString(name)
            var status = stat()
            guard fstatat(folder.rawValue, cName, &status, AT_SYMLINK_NOFOLLOW) == 0,
                status.st_mode & S_IFMT == S_IFLNK
            else {
                self.folder = folder
                self.name = name
                self.isOfProcess = isOfProcess
                return
            }
            guard status.st_uid == geteuid() || status.st_uid == 0 else { throw .foreignLink }
            var target = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = readlinkat(folder.rawValue, cName, &target, target.count)
            guard count > 0 else { throw .system(SystemError("readlinkat")) }
            let text = target.withUnsafeBytes { FileName.text($0.prefix(count)) }
            path = text.hasPrefix("/") ? text : parent + "/" + text
        }
        throw .tooManyLinks
    }

    /// What a path leads to. A stream of the process, such as /dev/stdout, is ``Kind/other`` wherever it goes.
    public static func kind(_ path: String) -> Kind {
        var status = stat()
        guard stat(FileName.cString(path), &status) == 0 else { return .missing }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return .folder
        case S_IFREG: return isStream(path) ? .other : .regular
        default: return .other
        }
    }

    /// Whether a path leads through the kernel's list of open files: such a link names no place in a folder.
    private static func isStream(_ path: String) -> Bool {
        guard let place = try? NamedFile(path) else { return false }
        return place.isOfProcess
    }

    /// Replaces the file that a path names, or writes in place what cannot be replaced: a device, a pipe, a stream of the process.
    ///
    /// The file gets the permissions of the one before, else what the umask leaves to all.
    public static func write(_ bytes: [UInt8], to path: String) throws(NamedFileError) {
        guard kind(path) == .other else {
            let place = try NamedFile(path)
            do throws(SystemError) {
                return try replaceFile(place.name, in: place.folder, mode: nil, durable: false, bytes)
            } catch {
                throw .system(error)
            }
        }
        let file = FileDescriptor(Glibc.open(FileName.cString(path), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY))
        guard file.isOpen else { throw .system(SystemError("open")) }
        guard writeAll(bytes, to: file.rawValue) else { throw .system(SystemError("write")) }
    }

    /// Opens the file that a path names for reading and writing, as it is, and makes it where there is none.
    ///
    /// - Parameters:
    ///   - mode: the permissions of a new file, less those that the umask takes.
    ///   - isNew: whether the file is to be empty. One with several names (hard links) is then replaced by another, and keeps its content
    ///     under its other names.
    public static func open(_ path: String, mode: UInt32, isNew: Bool) throws(NamedFileError) -> FileDescriptor {
        // O_NONBLOCK: a pipe of this name would otherwise be waited for.
        let flags = O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        guard kind(path) != .other else {
            let file = FileDescriptor(Glibc.open(FileName.cString(path), flags | (isNew ? O_TRUNC : 0)))
            guard file.isOpen else { throw .system(SystemError("open")) }
            return file
        }
        let place = try NamedFile(path)
        let (folder, name) = (place.folder.rawValue, FileName.cString(place.name))
        // No link is followed any more: what became one meanwhile was put there by another program.
        var file = FileDescriptor(openat(folder, name, flags | O_CREAT | O_NOFOLLOW, mode))
        if isNew, let status = FileStatus(descriptor: file.rawValue), status.isRegular {
            if status.names > 1 {
                unlinkat(folder, name, 0)
                file = FileDescriptor(openat(folder, name, flags | O_CREAT | O_EXCL | O_NOFOLLOW, mode))
            } else if ftruncate(file.rawValue, 0) != 0 {
                throw .system(SystemError("ftruncate"))
            }
        }
        guard file.isOpen else { throw .system(SystemError("open")) }
        return file
    }
}

/// Why there is no place for a named file.
public enum NamedFileError: Error, Equatable, Sendable, CustomStringConvertible {
    case system(SystemError)
    /// A symbolic link of another user, which is not followed.
    case foreignLink
    case tooManyLinks

    /// What is wrong, without the file's name.
    public var description: String {
        switch self {
        case .system(let error): SystemError.text(error.number)
        case .foreignLink: "it is a symbolic link of another user, which is not followed"
        case .tooManyLinks: "it leads through too many symbolic links"
        }
    }
}
