private import Core
import Glibc
import System

/// A word store on disk: one file that is replaced as a whole, so that a reader finds either the old words or the new ones.
public struct WordStoreFile: Sendable {
    /// How to wait while another program changes the store.
    public struct Wait: Sendable {
        /// The longest time to wait.
        public var limit: Duration
        /// Called once, when the wait has taken as long as ``quiet``.
        public var onWait: @Sendable () -> Void
        /// Whether to give up; asked several times a second.
        public var isCancelled: @Sendable () -> Bool

        /// A wait that is shorter than this is not worth a message.
        public var quiet: Duration

        public init(
            limit: Duration = .seconds(30),
            quiet: Duration = .milliseconds(500),
            onWait: @escaping @Sendable () -> Void = {},
            isCancelled: @escaping @Sendable () -> Bool = { false }
        ) {
            self.limit = limit
            self.quiet = quiet
            self.onWait = onWait
            self.isCancelled = isCancelled
        }

        /// Does not wait.
        public static let none = Wait(limit: .zero)
    }

    public let path: String

    public init(path: String) { self.path = path }

    /// Reads the store; nil if the file does not exist.
    ///
    /// - Throws: ``EnrollmentError/store``, ``EnrollmentError/damaged``.
    public func read() throws(EnrollmentError) -> WordStore? {
        try read(withAudio: true) { path throws(ReadFileError) in
            try readFile(path, limit: WordStore.Limit.bytes).bytes
        }
    }

    /// Reads the store without its recordings, which are nearly all of it; nil if the file does not exist.
    ///
    /// The result is for a detector. Never write it back: the recordings would be lost.
    ///
    /// - Throws: ``EnrollmentError/store``, ``EnrollmentError/damaged``.
    func readWithoutAudio() throws(EnrollmentError) -> WordStore? {
        try read(withAudio: false, Self.detectorBytes)
    }

    /// The names of the words that have recordings; reads no more than ``readWithoutAudio()``.
    func recordedWords() -> Set<String> {
        (try? Self.detectorBytes(of: path)).map(WordStore.recordedWords) ?? []
    }

    private static func detectorBytes(of path: String) throws(ReadFileError) -> [UInt8] {
        try readFile(path, start: WordStore.startBytes, limit: WordStore.Limit.bytes, WordStore.detectorBytes)
    }

    private func read(
        withAudio: Bool,
        _ read: (String) throws(ReadFileError) -> [UInt8]
    ) throws(EnrollmentError) -> WordStore? {
        let bytes: [UInt8]
        do throws(ReadFileError) {
            bytes = try read(path)
        } catch {
            switch error {
            case .system(SystemError("open", ENOENT)): return nil
            case .system(let error): throw failure(error)
            case .notRegularFile:
                throw .store.saying("\(path): not a regular file; name a word store")
            case .tooLarge(let size):
                throw .damaged.saying("\(path): \(size) bytes, more than a word store can have")
            case .foreign: throw .store.saying("\(path): \(error)")
            case .truncated: throw .damaged.saying("\(path): truncated while being read; try again")
            }
        }
        return try WordStore(bytes: bytes, file: path, withAudio: withAudio)
    }

    /// Reads the store, changes it and writes it back. A file lock serialises concurrent updates.
    ///
    /// - Parameters:
    ///   - wait: how to wait while another program changes the store.
    ///   - change: gets the store, or nil if there is none, and sets the new one. If it leaves the store as it is, nothing is
    ///     written.
    /// - Throws: what `change` throws, ``EnrollmentError/store``, ``EnrollmentError/damaged``, ``EnrollmentError/busy``,
    ///   ``EnrollmentError/cancelled``. The store on disk is then unchanged.
    public func update(
        _ wait: Wait = Wait(),
        _ change: (inout WordStore?) throws(EnrollmentError) -> Void
    ) throws(EnrollmentError) {
        let folder = try openFolder()
        let lock = try openLock(folder)
        try acquire(lock, wait)
        let before = try read()
        var store = before
        try change(&store)
        if let store, store != before { try write(try store.encoded(), folder) }
    }

    /// Checks that the store can be changed; call it before the user records takes.
    ///
    /// - Throws: ``EnrollmentError/store``.
    public func checkChangeable() throws(EnrollmentError) { _ = try openLock(try openFolder()) }

    /// Writes the store to a new file, for example to copy it to another machine.
    ///
    /// - Throws: ``EnrollmentError/store``, also if the file exists.
    public func create(_ store: WordStore) throws(EnrollmentError) {
        guard !fileExists(path) else {
            throw .store.saying(
                "\(path): \(isFolder(path) ? "a folder; name a file in it" : "this file exists already; name another")"
            )
        }
        try write(try store.encoded(), try openFolder())
    }

    // MARK: - Folder

    /// The folder of the store, open, so that all steps of an update work in the same one; and the store's name in it.
    private struct Folder: ~Copyable {
        let place: NamedFile
        let owner: FileStatus?
        var name: String { place.name }

        init(_ place: consuming NamedFile) {
            owner = FileStatus(descriptor: place.folder.rawValue)
            self.place = place
        }
    }

    /// Opens the folder of the file that ``path`` means. A symbolic link is followed, so that an update replaces what it names and not the link.
    private func openFolder() throws(EnrollmentError) -> Folder {
        do throws(NamedFileError) {
            return Folder(try NamedFile(path))
        } catch {
            guard case .system(let error) = error else {
                throw .store.saying("\(path): \(error); name the file itself")
            }
            throw failure(error)
        }
    }

    // MARK: - Lock

    /// Opens the lock, a separate file: each change replaces the store's file, and a lock on that would be lost.
    private func openLock(_ folder: borrowing Folder) throws(EnrollmentError) -> FileDescriptor {
        let name = folder.name + ".lock"
        let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        let created = FileDescriptor(openat(folder.place.folder.rawValue, name, flags | O_CREAT | O_EXCL, 0o600))
        if created.isOpen {
            giveToFolderOwner(created, folder)
            // Whoever may read the words of a group's folder may lock them, if it may write there.
            if mode(in: folder) != 0o600 { fchmod(created.rawValue, 0o660) }
            return created
        }
        guard errno == EEXIST else { throw failure(SystemError("open")) }
        let found = FileDescriptor(openat(folder.place.folder.rawValue, name, flags))
        // Whoever may write to the folder may have put anything here, such as a link to a file of root's.
        guard found.isOpen || errno == ELOOP else { throw failure(SystemError("open")) }
        var status = stat()
        guard found.isOpen, fstat(found.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_nlink == 1
        else {
            throw .store.saying(
                "\(path).lock: not a lock file of beckon, but a link or a file with several names; remove it"
            )
        }
        return found
    }

    private func acquire(_ lock: borrowing FileDescriptor, _ wait: Wait) throws(EnrollmentError) {
        let begun = Clock.now
        let end = begun + wait.limit
        var isAnnounced = false
        while flock(lock.rawValue, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw failure(SystemError("flock")) }
            guard !wait.isCancelled() else { throw .cancelled }
            guard Clock.now < end else {
                throw .busy.saying(
                    "\(path): another program has been changing these words for \(shortest(wait.limit.seconds)) s; "
                        + "nothing was changed, end it and try again"
                )
            }
            if !isAnnounced, Clock.now - begun >= wait.quiet {
                isAnnounced = true
                wait.onWait()
            }
            Clock.sleep(until: min(end, Clock.now + .milliseconds(50)))
        }
    }

    // MARK: - Writing

    /// Writes to a temporary file, syncs it and renames it.
    private func write(_ bytes: [UInt8], _ folder: borrowing Folder) throws(EnrollmentError) {
        // What an earlier version left that died while writing.
        unlinkat(folder.place.folder.rawValue, folder.name + ".new", 0)
        do throws(SystemError) {
            // Durable: takes are work that nobody wants to do again.
            try replaceFile(
                folder.name,
                in: folder.place.folder,
                mode: mode(in: folder),
                durable: true,
                isForFolderOwner: true,
                bytes
            )
        } catch {
            throw failure(error)
        }
    }

    /// For its owner alone; where the folder belongs to a group that shares new files (set-group-ID), as the services' does, for that too.
    private func mode(in folder: borrowing Folder) -> UInt32 {
        guard let owner = folder.owner, owner.permissions & 0o2050 == 0o2050 else { return 0o600 }
        return 0o640
    }

    /// Gives a file that root has just created to the owner of its folder, so that the service can read what root taught.
    private func giveToFolderOwner(_ file: borrowing FileDescriptor, _ folder: borrowing Folder) {
        guard geteuid() == 0, let owner = folder.owner, owner.owner != 0 else { return }
        var status = stat()
        guard fstat(file.rawValue, &status) == 0, status.st_nlink == 1 else { return }
        _ = fchown(file.rawValue, owner.owner, owner.group)
    }

    private func failure(_ error: SystemError) -> EnrollmentError {
        let isFull = error.number == ENOSPC || error.number == EDQUOT
        let advice =
            isFull
            ? "free some space, or name a file elsewhere with --words FILE; nothing was changed"
            : "the folder must exist and be writable for you"
        return .store.saying("\(path): \(error); \(advice)")
    }
}
