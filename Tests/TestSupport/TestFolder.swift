import CSndFile
import Foundation

/// A folder for test files, deleted with its owner.
public final class TestFolder: Sendable {
    public let path: String

    public init() throws {
        path = FileManager.default.temporaryDirectory.path + "/beckon-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    public func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Makes a folder in it and returns its path.
    @discardableResult
    public func folder(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: file(name), withIntermediateDirectories: true)
        return file(name)
    }

    /// Writes audio with libsndfile and returns the path.
    @discardableResult
    public func write(
        _ name: String,
        format: Int,
        rate: Int = 16_000,
        channels: Int = 1,
        _ samples: [Float]
    ) throws -> String {
        var info = SF_INFO()
        info.samplerate = Int32(rate)
        info.channels = Int32(channels)
        info.format = Int32(format)
        guard let handle = sf_open(file(name), Int32(SFM_WRITE), &info) else {
            throw TestFileError(code: sf_error(nil))
        }
        defer { sf_close(handle) }
        _ = sf_command(handle, Int32(SFC_SET_CLIPPING), nil, Int32(SF_TRUE))
        // In blocks: one long write overflows the stack in libvorbis.
        var frame = 0
        while frame < samples.count / channels {
            let count = min(2048, samples.count / channels - frame)
            let written = samples.withUnsafeBufferPointer { buffer in
                UnsafeBufferPointer(rebasing: buffer[(frame * channels)...]).baseAddress.map {
                    sf_writef_float(handle, $0, sf_count_t(count))
                }
            }
            guard written == sf_count_t(count) else { throw TestFileError(code: sf_error(handle)) }
            frame += count
        }
        return file(name)
    }

    @discardableResult
    public func write(_ name: String, bytes: [UInt8]) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
        return file(name)
    }

    public func bytes(_ name: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: URL(fileURLWithPath: file(name))))
    }
}

/// libsndfile could not write a test file.
public struct TestFileError: Error {
    public let code: Int32
}
