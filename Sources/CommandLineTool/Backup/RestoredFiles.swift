import Configuration
private import Core
private import Glibc
import System

/// Puts the files of a backup in their places: all are written beside them first, so that a full disk changes nothing, and then renamed.
///
/// No link in a folder is followed, whoever made it. In a service's state folder files belong to its user.
struct RestoredFiles {
    typealias Target = (file: BackupArchive.File, folder: String, parts: [String])

    private let targets: [Target]

    init(_ targets: [Target]) { self.targets = targets }

    /// - Throws: what could not be written, on one line.
    func put() throws(Failure) {
        var places: [Place] = []
        for (index, target) in targets.enumerated() {
            do throws(SystemError) {
                places.append(try write(target, ".beckon-restore.\(index)"))
            } catch {
                for place in places { unlinkat(place.folder.rawValue, FileName.cString(place.temporary), 0) }
                let path = "\(target.folder)/\(target.parts.joined(separator: "/"))"
                throw Failure("\(printable(path)): \(error); nothing was changed")
            }
        }
        for place in places {
            let folder = place.folder.rawValue
            guard renameat(folder, FileName.cString(place.temporary), folder, FileName.cString(place.name)) != 0 else {
                continue
            }
            let error = SystemError("rename")
            unlinkat(folder, FileName.cString(place.temporary), 0)
            throw Failure("\(printable(place.name)): \(error); some files were restored, this one was not")
        }
        for place in places { fsync(place.folder.rawValue) }
    }

    /// A file that is written and not renamed yet.
    private final class Place {
        let folder: FileDescriptor
        let name: String
        let temporary: String

        init(_ folder: consuming FileDescriptor, _ name: String, _ temporary: String) {
            self.folder = folder
            self.name = name
            self.temporary = temporary
        }
    }

    private func write(_ target: Target, _ temporary: String) throws(SystemError) -> Place {
        StateFolder.make(target.folder)
        var folder = FileDescriptor(open(FileName.cString(target.folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        guard folder.isOpen, let owner = FileStatus(descriptor: folder.rawValue) else { throw SystemError("open") }
        for part in target.parts.dropLast() {
            let name = FileName.cString(part)
            // As the folder above, but for its set-group-ID bit, which is inherited.
            if mkdirat(folder.rawValue, name, 0o700) == 0 {
                fchmodat(folder.rawValue, name, mode_t(owner.permissions & 0o2777), 0)
                if geteuid() == 0 { fchownat(folder.rawValue, name, owner.owner, owner.group, AT_SYMLINK_NOFOLLOW) }
            }
            let next = FileDescriptor(openat(folder.rawValue, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW))
            guard next.isOpen else { throw SystemError("open") }
            folder = next
        }
        try replaceFile(
            temporary,
            in: folder,
            mode: target.file.mode,
            durable: true,
            isForFolderOwner: true,
            target.file.bytes
        )
        return Place(folder, target.parts.last ?? "", temporary)
    }
}
