import Audio
private import Glibc
private import System

/// The audio on standard input as a file without a name, because decoders read some formats from both ends.
///
/// It lies in `TMPDIR` (else `/var/tmp`), and is gone with the process.
final class SpooledAudio: Sendable {
    /// Opens the file, while this object lives.
    var path: String { file.path }
    private let file: UnnamedFile

    /// Reads standard input to its end.
    ///
    /// - Parameter raw: the format of audio without a header; nil for a file in any format that can be read.
    init(raw: RawFormat?) throws(Failure) {
        guard isatty(STDIN_FILENO) == 0 else {
            throw Failure("standard input is a terminal; pipe audio into beckon, or name a file")
        }
        do throws(SystemError) {
            file = try UnnamedFile(in: UnnamedFile.usualFolder)
        } catch {
            throw Self.failure("keep", error.number)
        }
        var count = 0
        if let raw { try write(raw.header(dataBytes: 0)) }
        var part = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let read = read(STDIN_FILENO, &part, part.count)
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { throw Self.failure("read", errno) }
            if read == 0 { break }
            count += read
            guard raw == nil || count <= RawFormat.mostBytes else {
                throw Failure("standard input: more than 4 GB of audio without a header; give parts of it, or a file")
            }
            // WAV has no samples of 8 bits with a sign.
            if raw?.sample == .s8 { for index in 0..<read { part[index] ^= 0x80 } }
            try write(Array(part[..<read]))
        }
        guard count > 0 else { throw Failure("standard input is empty; pipe audio into beckon, or name a file") }
        guard let raw else { return }
        do throws(SystemError) {
            try file.replaceStart(by: raw.header(dataBytes: count))
        } catch {
            throw Self.failure("keep", error.number)
        }
    }

    private func write(_ bytes: [UInt8]) throws(Failure) {
        do throws(SystemError) {
            try file.append(bytes)
        } catch {
            throw Self.failure("keep", error.number)
        }
    }

    private static func failure(_ what: String, _ number: Int32) -> Failure {
        let advice = what == "keep" ? "; TMPDIR names a folder with more space" : ""
        return Failure("cannot \(what) the audio on standard input: \(SystemError.text(number))\(advice)")
    }
}
