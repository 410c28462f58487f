import Core
import Foundation
import System
import TestSupport
import Testing

/// Files that a user named: links of the user's own are followed, and files with several names keep their content under the others.
struct NamedFileTests {
    @Test func `a link stays, and what it names is replaced as a whole`() throws {
        let folder = try TestFolder()
        try folder.folder("real")
        #expect(symlink("real/page", folder.file("second")) == 0 && symlink("second", folder.file("first")) == 0)
        for text in ["one", "two"] {
            try NamedFile.write(Array(text.utf8), to: folder.file("first"))
            #expect(try folder.bytes("real/page") == Array(text.utf8))
        }
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.file("first")) == "second")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("real")) == ["page"])
        #expect(symlink("loop", folder.file("loop")) == 0)
        #expect(throws: NamedFileError.self) { try NamedFile.write([1], to: folder.file("loop")) }
        if geteuid() == 0 {
            #expect(lchown(folder.file("second"), 12345, 12345) == 0)
            #expect(throws: NamedFileError.foreignLink) { try NamedFile.write([1], to: folder.file("first")) }
            #expect(throws: NamedFileError.foreignLink) {
                _ = try NamedFile.open(folder.file("first"), mode: 0o600, isNew: true)
            }
        }
    }

    @Test func `another name of a file keeps its content`() throws {
        let folder = try TestFolder()
        let other = try folder.write("other", bytes: [7])
        #expect(link(other, folder.file("written")) == 0 && link(other, folder.file("opened")) == 0)
        try NamedFile.write([1], to: folder.file("written"))
        let new = try NamedFile.open(folder.file("opened"), mode: 0o600, isNew: true)
        #expect(writeAll([2], to: new.rawValue))
        #expect(try folder.bytes("written") == [1] && folder.bytes("opened") == [2] && folder.bytes("other") == [7])
        // As it is, it is opened with all its names.
        #expect(link(other, folder.file("same")) == 0)
        let same = try NamedFile.open(folder.file("same"), mode: 0o600, isNew: false)
        #expect(FileStatus(descriptor: same.rawValue)?.names == 2)
    }

    @Test func `a file keeps its permissions, and a new one has those of the umask`() throws {
        let folder = try TestFolder()
        let usual = try FileStatus(path: folder.write("probe", bytes: [])).permissions
        try NamedFile.write([1], to: folder.file("new"))
        #expect(try FileStatus(path: folder.file("new")).permissions == usual)
        #expect(chmod(folder.file("new"), 0o604) == 0)
        try NamedFile.write([2], to: folder.file("new"))
        #expect(try FileStatus(path: folder.file("new")).permissions == 0o604)
        // One that another user put there for all to write gives nothing.
        if geteuid() == 0 {
            #expect(chmod(folder.file("new"), 0o602) == 0 && chown(folder.file("new"), 12345, 12345) == 0)
            try NamedFile.write([3], to: folder.file("new"))
            #expect(try FileStatus(path: folder.file("new")).permissions == usual)
        }
    }

    @Test func `devices and pipes are written in place, and folders refused`() throws {
        let folder = try TestFolder()
        try NamedFile.write([1], to: "/dev/null")
        #expect(throws: NamedFileError.system(SystemError("write", ENOSPC))) {
            try NamedFile.write([1], to: "/dev/full")
        }
        #expect(mkfifo(folder.file("pipe"), 0o600) == 0)
        let reader = FileDescriptor(open(folder.file("pipe"), O_RDWR | O_NONBLOCK))
        try NamedFile.write([9], to: folder.file("pipe"))
        var byte: UInt8 = 0
        #expect(read(reader.rawValue, &byte, 1) == 1 && byte == 9)
        #expect(NamedFile.kind(folder.path) == .folder && NamedFile.kind(folder.file("none")) == .missing)
        #expect(throws: NamedFileError.self) { try NamedFile.write([1], to: folder.path) }
        // A stream of the process, wherever it goes.
        let path = try folder.write("stream", bytes: [])
        let stream = FileDescriptor(open(path, O_WRONLY))
        #expect(NamedFile.kind("/proc/self/fd/\(stream.rawValue)") == .other && NamedFile.kind(path) == .regular)
    }
}
