import Foundation
import System
import TestSupport
import Testing

/// Files that are replaced as a whole.
struct ReplaceFileTests {
    private static func names(_ folder: TestFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    private static func mode(_ path: String) throws -> UInt32 { try FileStatus(path: path).permissions }

    @Test(arguments: [true, false])
    func `the file has the new content and its permissions, and nothing else is left`(durable: Bool) throws {
        let folder = try TestFolder()
        let path = folder.file("list")
        try replaceFile(path, mode: 0o644, durable: durable, Array("one".utf8))
        #expect(try folder.bytes("list") == Array("one".utf8) && Self.mode(path) == 0o644)
        try replaceFile(path, mode: 0o600, durable: durable, Array("2".utf8))
        #expect(try folder.bytes("list") == Array("2".utf8) && Self.mode(path) == 0o600)
        #expect(try Self.names(folder) == ["list"])
    }

    @Test func `links and pipes at its place are replaced and not written to`() throws {
        let folder = try TestFolder()
        let other = try folder.write("other", bytes: [1])
        for name in ["list", temporaryName("list")] {
            #expect(symlink(other, folder.file(name)) == 0)
            try replaceFile(folder.file("list"), mode: 0o600, durable: false, [2])
            #expect(try folder.bytes("list") == [2] && folder.bytes("other") == [1])
            #expect(unlink(folder.file("list")) == 0 && link(other, folder.file(name)) == 0)
            try replaceFile(folder.file("list"), mode: 0o600, durable: false, [3])
            #expect(try folder.bytes("list") == [3] && folder.bytes("other") == [1])
            #expect(unlink(folder.file("list")) == 0 && mkfifo(folder.file(name), 0o600) == 0)
            try replaceFile(folder.file("list"), mode: 0o600, durable: false, [4])
            #expect(try folder.bytes("list") == [4] && Self.names(folder) == ["list", "other"])
            #expect(unlink(folder.file("list")) == 0)
        }
    }

    @Test func `what a killed program left is not a hindrance`() throws {
        let folder = try TestFolder()
        try folder.write(temporaryName("list"), bytes: Array("half".utf8))
        try replaceFile(folder.file("list"), mode: 0o600, durable: true, [5])
        #expect(try folder.bytes("list") == [5] && Self.names(folder) == ["list"])
    }

    @Test func `a failure leaves the old content and no other file`() throws {
        let folder = try TestFolder()
        let path = try folder.write("list", bytes: [7])
        // The folder is missing, or no folder.
        for wrong in [folder.file("none/list"), path + "/list"] {
            let error = #expect(throws: SystemError.self) { try replaceFile(wrong, mode: 0o600, durable: false, [1]) }
            #expect(error?.call == "open")
        }
        // A folder cannot be replaced by a file.
        try FileManager.default.createDirectory(atPath: folder.file("folder"), withIntermediateDirectories: false)
        let error = #expect(throws: SystemError.self) {
            try replaceFile(folder.file("folder"), mode: 0o600, durable: false, [1])
        }
        #expect(error?.call == "rename")
        #expect(try Self.names(folder) == ["folder", "list"])
    }

    @Test func `a folder that may not be written to keeps the old content`() throws {
        let folder = try TestFolder()
        let path = try folder.write("list", bytes: [7])
        // A file system that is mounted for reading, as root may write to any folder.
        let error = #expect(throws: SystemError.self) { try replaceFile("/proc/list", mode: 0o600, durable: true, [1]) }
        #expect(error?.call == "open")
        guard geteuid() != 0 else { return }
        #expect(chmod(folder.path, 0o500) == 0)
        defer { chmod(folder.path, 0o700) }
        let refused = #expect(throws: SystemError.self) { try replaceFile(path, mode: 0o600, durable: true, [1]) }
        #expect(refused?.number == EACCES)
        #expect(try folder.bytes("list") == [7])
    }

    @Test func `a full disk keeps the old content`() throws {
        let folder = try TestFolder()
        // Only root may mount one; others have the disk that is always full.
        // Only root may mount a disk.
        guard mount("tmpfs", folder.path, "tmpfs", 0, "size=64k") == 0 else { return }
        defer { umount2(folder.path, Int32(MNT_DETACH)) }
        let path = try folder.write("list", bytes: [7])
        let error = #expect(throws: SystemError.self) {
            try replaceFile(path, mode: 0o600, durable: true, [UInt8](repeating: 1, count: 1 << 20))
        }
        #expect(error == SystemError("write", ENOSPC))
        #expect(try folder.bytes("list") == [7] && Self.names(folder) == ["list"])
        // Read-only from now on: nothing changes.
        #expect(mount("tmpfs", folder.path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), "") == 0)
        let refused = #expect(throws: SystemError.self) { try replaceFile(path, mode: 0o600, durable: true, [1]) }
        #expect(refused?.number == EROFS)
        #expect(try folder.bytes("list") == [7] && Self.names(folder) == ["list"])
    }

    @Test func `programs that write the same file at once do not mix their content`() async throws {
        let folder = try TestFolder()
        let path = folder.file("list")
        try replaceFile(path, mode: 0o600, durable: false, [UInt8](repeating: 9, count: 4096))
        await withTaskGroup(of: Void.self) { group in
            for writer in UInt8(1)...4 {
                group.addTask {
                    for _ in 0..<20 {
                        try? replaceFile(path, mode: 0o600, durable: false, [UInt8](repeating: writer, count: 4096))
                    }
                }
            }
            group.addTask {
                for _ in 0..<200 {
                    let bytes = (try? folder.bytes("list")) ?? []
                    #expect(bytes.count == 4096 && Set(bytes).count == 1)
                }
            }
        }
        #expect(try Self.names(folder) == ["list"])
    }
}
