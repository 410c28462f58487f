import Glibc
import System

/// Where a store lies on disk: one file, replaced as a whole, so that whoever reads it finds the old words or the new ones.
public struct WordStoreFile: Sendable {
    public let path: String

    public init(path: String) { self.path = path }

    /// The store; nil where there is none yet.
    ///
    /// - Throws: ``EnrollmentError/store``, ``EnrollmentError/damaged``.
    public func read() throws(EnrollmentError) -> WordStore? {
        let bytes: [UInt8]
        do throws(ReadFileError) {
            bytes = try readFile(path, limit: WordStore.Limit.bytes).bytes
        } catch {
            switch error {
            case .system(SystemError("open", ENOENT)): return nil
            case .system(let error): throw failure(error.call, error.number)
            case .notRegularFile:
                throw .store.saying("\(path): not a regular file; name the file that beckon keeps words in")
            case .tooLarge(let size):
                throw .damaged.saying("\(path): \(size) bytes, more than any store of words has")
            case .truncated: throw .damaged.saying("\(path): truncated while being read; try again")
            }
        }
        return try WordStore(bytes: bytes, file: path)
    }

    /// Reads the store, changes it, and puts the new one in its place; two programs that do so take turns.
    ///
    /// - Parameter change: gets nil where there is no store yet, and leaves what shall be there.
    /// - Throws: what `change` throws, ``EnrollmentError/store``, ``EnrollmentError/damaged``; the store is then as it was.
    public func update(_ change: (inout WordStore?) throws(EnrollmentError) -> Void) throws(EnrollmentError) {
        let lock = try openLock()
        defer { close(lock) }
        while flock(lock, LOCK_EX) != 0 {
            guard errno == EINTR else { throw failure("flock", errno) }
        }
        var store = try read()
        try change(&store)
        if let store { try write(try store.encoded()) }
    }

    /// Throws where the store could not be changed, before somebody takes pains over what shall be in it.
    public func checkChangeable() throws(EnrollmentError) { close(try openLock()) }

    /// The store itself cannot be locked, as it is replaced.
    private func openLock() throws(EnrollmentError) -> Int32 {
        let lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw failure("open", errno) }
        adopt(lock)
        return lock
    }

    /// Writes a store where none is, as to carry it elsewhere.
    ///
    /// - Throws: ``EnrollmentError/store``, also where there is a file of this name.
    public func create(_ store: WordStore) throws(EnrollmentError) {
        guard access(path, F_OK) != 0 else { throw .store.saying("\(path): there is such a file; name another one") }
        try write(try store.encoded())
    }

    /// Writes beside the store, to the disk, and only then under its name.
    private func write(_ bytes: [UInt8]) throws(EnrollmentError) {
        let temporary = path + ".new"
        // Left by a program that died while it wrote; the lock says that none writes now.
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("open", errno) }
        defer { close(descriptor) }
        do throws(EnrollmentError) {
            guard writeAll(bytes, to: descriptor) else { throw failure("write", errno) }
            adopt(descriptor)
            guard fsync(descriptor) == 0 else { throw failure("fsync", errno) }
            guard rename(temporary, path) == 0 else { throw failure("rename", errno) }
        } catch {
            unlink(temporary)
            throw error
        }
        syncFolder()
    }

    /// Gives a file that root writes to the folder's owner: the service's own folder is read by nobody else.
    private func adopt(_ descriptor: Int32) {
        guard geteuid() == 0, let folder = try? FileStatus(path: folder), folder.owner != 0 else { return }
        _ = fchown(descriptor, folder.owner, folder.group)
    }

    private var folder: String { path.lastIndex(of: "/").map { String(path[...$0]) } ?? "." }

    /// Until its folder is on the disk, a new name may be lost with the power; the old store is there then.
    private func syncFolder() {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    private func failure(_ function: String, _ number: Int32) -> EnrollmentError {
        .store.saying(
            "\(path): \(function): \(SystemError.text(number)); the folder must exist and be writable for you"
        )
    }
}
