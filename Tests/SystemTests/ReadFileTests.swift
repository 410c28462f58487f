import Foundation
import System
import TestSupport
import Testing

struct ReadFileTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test(arguments: [0, 1, 100_000]) func `a regular file is read whole, with its permissions`(count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let path = folder.file("data")
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        #expect(chmod(path, 0o640) == 0)
        let contents = try readFile(path, limit: count)
        #expect(contents.bytes == bytes)
        #expect(contents.status.permissions == 0o640)
    }

    @Test func `a file larger than the limit is not read`() throws {
        let path = folder.file("large")
        try Data(repeating: 0, count: 11).write(to: URL(fileURLWithPath: path))
        #expect(throws: ReadFileError.tooLarge(11)) { try readFile(path, limit: 10) }
    }

    @Test func `a pipe without a writer, a device and a folder are refused at once`() throws {
        let pipe = folder.file("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        for path in [pipe, "/dev/zero", folder.path] {
            #expect(throws: ReadFileError.notRegularFile, "\(path)") { try readFile(path, limit: 1 << 20) }
        }
    }

    @Test func `the call that failed is named`() {
        let missing = ReadFileError.system(SystemError("open", ENOENT))
        #expect(throws: missing) { try readFile(folder.file("missing"), limit: 1) }
    }
}
