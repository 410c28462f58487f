import Actions
import Core
import Daemon
private import Glibc
import System

/// Writes what the detector hears to a WAV file as it comes.
final class Recording {
    private let path: String
    private let tape: AudioHistory
    private var written = 0
    private let file: Int32

    init(path: String, tape: AudioHistory) throws {
        self.path = path
        self.tape = tape
        file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Self.failure(path) }
        try append(WaveFile.header(samples: 0, sampleRate: AudioFormat.sampleRate))
    }

    deinit { close(file) }

    private static func failure(_ path: String) -> Failure {
        Failure("\(path): cannot write the recording: \(SystemError.text(errno)); choose another place")
    }

    /// Writes what has come since the last time.
    func catchUp() throws {
        let now = tape.count
        let samples = tape.piece(written..<now)
        written = now
        try append(WaveFile.data(samples))
    }

    /// Writes the rest, and the length into the header.
    func finish() throws {
        try catchUp()
        let header = WaveFile.header(samples: written, sampleRate: AudioFormat.sampleRate)
        guard header.withUnsafeBytes({ pwrite(file, $0.baseAddress, $0.count, 0) }) == header.count else {
            throw Self.failure(path)
        }
    }

    private func append(_ bytes: [UInt8]) throws {
        guard writeAll(bytes, to: file) else { throw Self.failure(path) }
    }
}
