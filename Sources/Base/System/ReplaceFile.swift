private import Core
import Glibc

/// Replaces a file as a whole: who opens it finds the old content or the new, never a part, whatever ends the program meanwhile.
///
/// The content is written beside the file as `.NAME.new` and then renamed. What a killed program left there goes at the next write, and
/// two programs do not write it at the same time. Links at the file's place or at the temporary one are replaced, not followed.
///
/// - Parameters:
///   - path: its folder must exist and be writable.
///   - mode: the permissions of the new file, whatever the umask; nil for those of a file of this user's that is replaced, else what the umask
///     leaves to all.
///   - durable: whether the new content is on the disk when this returns, as losing it would cost a user's work: the file and its folder
///     are synced. Without it, a power failure may bring back the old content, or on some file systems leave it empty.
///   - isForFolderOwner: whether a file of root's goes to the owner of its folder, such as a service's user.
/// - Throws: the call that failed; then the old file is as it was, and no temporary file is left.
public func replaceFile(
    _ path: String,
    mode: UInt32?,
    durable: Bool,
    isForFolderOwner: Bool = false,
    _ bytes: [UInt8]
) throws(SystemError) {
    let (parent, name) = splitPath(path)
    let folder = FileDescriptor(open(FileName.cString(parent), O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    guard folder.isOpen else { throw SystemError("open") }
    try replaceFile(name, in: folder, mode: mode, durable: durable, isForFolderOwner: isForFolderOwner, bytes)
}

/// Replaces a file of a folder that is open already: see ``replaceFile(_:mode:durable:isForFolderOwner:_:)``.
public func replaceFile(
    _ name: String,
    in folder: borrowing FileDescriptor,
    mode: UInt32?,
    durable: Bool,
    isForFolderOwner: Bool = false,
    _ bytes: [UInt8]
) throws(SystemError) {
    let place = folder.rawValue
    let temporary = FileName.cString(temporaryName(name))
    let mode = mode ?? ownPermissions(name, in: place)
    let file = try createLocked(temporary, in: place, mode == nil ? 0o666 : 0o600)
    do throws(SystemError) {
        guard writeAll(bytes, to: file.rawValue) else { throw SystemError("write") }
        if isForFolderOwner, geteuid() == 0, let owner = FileStatus(descriptor: place), owner.owner != 0 {
            guard fchown(file.rawValue, owner.owner, owner.group) == 0 else { throw SystemError("fchown") }
        }
        if let mode, fchmod(file.rawValue, mode) != 0 { throw SystemError("fchmod") }
        guard !durable || fsync(file.rawValue) == 0 else { throw SystemError("fsync") }
        guard renameat(place, temporary, place, FileName.cString(name)) == 0 else { throw SystemError("rename") }
    } catch {
        unlinkat(place, temporary, 0)
        throw error
    }
    // Without it, a power failure may bring the old file back.
    if durable { fsync(place) }
}

/// The name under which ``replaceFile(_:mode:durable:isForFolderOwner:_:)`` writes: hidden, and with another ending, so that nobody who
/// searches the folder takes it for the file.
public func temporaryName(_ name: String) -> String { ".\(name).new" }

/// The folder and the name of a file.
public func splitPath(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    return (String(path[...slash]), String(path[path.index(after: slash)...]))
}

/// The folder that holds what a path names: `/var` for `/var/lib` and `/var/lib/`, `.` for a name alone.
public func parentFolder(_ path: String) -> String {
    let ends = path.reversed().drop { $0 == "/" }.drop { $0 != "/" }
    let folder = String(ends.drop { $0 == "/" }.reversed())
    return folder.isEmpty ? (ends.isEmpty ? "." : "/") : folder
}

/// How long another program may take to write the same file.
private let longestWait = Duration.seconds(2)

/// Creates the temporary file. It stays locked while it is open, so that one without a lock is known to be left over.
private func createLocked(
    _ name: [CChar],
    in folder: Int32,
    _ mode: mode_t
) throws(SystemError) -> FileDescriptor {
    let end = Clock.now + longestWait
    while true {
        let flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        let created = FileDescriptor(openat(folder, name, flags | O_CREAT | O_EXCL, mode))
        if created.isOpen {
            guard flock(created.rawValue, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else { continue }
            // Another program may have taken it for a left one between the two calls.
            if isSame(created.rawValue, name, in: folder) { return created }
            continue
        }
        guard errno == EEXIST else { throw SystemError("open") }
        // A link, a pipe, or what may not be opened was not made here; it is in the way.
        let found = FileDescriptor(openat(folder, name, flags))
        if found.isOpen, FileStatus(descriptor: found.rawValue)?.isRegular == true,
            flock(found.rawValue, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK
        {
            guard Clock.now < end else { throw SystemError("open", EBUSY) }
            Clock.sleep(until: min(end, Clock.now + .milliseconds(20)))
            continue
        }
        guard !found.isOpen || isSame(found.rawValue, name, in: folder) else { continue }
        guard unlinkat(folder, name, 0) == 0 || errno == ENOENT else { throw SystemError("unlink") }
        guard Clock.now < end else { throw SystemError("open", EBUSY) }
    }
}

/// The permissions of a regular file of this user's; nil for anything else: another user may have put it there for all to write.
private func ownPermissions(_ name: String, in folder: Int32) -> UInt32? {
    var status = stat()
    guard fstatat(folder, FileName.cString(name), &status, AT_SYMLINK_NOFOLLOW) == 0,
        status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid()
    else { return nil }
    return status.st_mode & 0o777
}

/// Whether an open file is the one of this name.
private func isSame(_ descriptor: Int32, _ name: [CChar], in folder: Int32) -> Bool {
    var (open, named) = (stat(), stat())
    return fstat(descriptor, &open) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0
        && open.st_dev == named.st_dev && open.st_ino == named.st_ino
}
