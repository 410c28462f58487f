import CSndFile
import Glibc

/// A folder for test files that goes away with its owner.
final class TestFolder: Sendable {
    let path: String

    init() throws {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/beckon-audio-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw TestFileError(errno: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        guard let folder = opendir(path) else { return }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { unlink("\(path)/\(name)") }
        }
        closedir(folder)
        rmdir(path)
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes audio through libsndfile itself and returns the path.
    @discardableResult
    func write(
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
            throw TestFileError(errno: sf_error(nil))
        }
        defer { sf_close(handle) }
        _ = sf_command(handle, Int32(SFC_SET_CLIPPING), nil, Int32(SF_TRUE))
        // Vorbis overflows libvorbis's stack on long single writes.
        var frame = 0
        while frame < samples.count / channels {
            let count = min(2048, samples.count / channels - frame)
            let written = samples.withUnsafeBufferPointer { buffer in
                UnsafeBufferPointer(rebasing: buffer[(frame * channels)...]).baseAddress.map {
                    sf_writef_float(handle, $0, sf_count_t(count))
                }
            }
            guard written == sf_count_t(count) else { throw TestFileError(errno: sf_error(handle)) }
            frame += count
        }
        return file(name)
    }

    @discardableResult
    func write(_ name: String, bytes: [UInt8]) throws -> String {
        let descriptor = open(file(name), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else { throw TestFileError(errno: errno) }
        defer { close(descriptor) }
        guard bytes.withUnsafeBytes({ Glibc.write(descriptor, $0.baseAddress, $0.count) }) == bytes.count else {
            throw TestFileError(errno: errno)
        }
        return file(name)
    }

    func bytes(_ name: String) throws -> [UInt8] {
        let descriptor = open(file(name), O_RDONLY)
        guard descriptor >= 0 else { throw TestFileError(errno: errno) }
        defer { close(descriptor) }
        var status = stat()
        fstat(descriptor, &status)
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        guard bytes.withUnsafeMutableBytes({ read(descriptor, $0.baseAddress, $0.count) }) == bytes.count else {
            throw TestFileError(errno: errno)
        }
        return bytes
    }
}

struct TestFileError: Error {
    var errno: Int32
}
