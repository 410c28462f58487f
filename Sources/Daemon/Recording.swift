import Audio
import Core
import Glibc
import System

/// Writes what the detector hears to a WAV file as it comes.
final class Recording {
    private let path: String
    private let history: AudioHistory
    /// Samples.
    private var written = 0
    private var writer: WaveWriter

    init(path: String, history: AudioHistory) throws(DaemonError) {
        let file = FileDescriptor(open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600))
        guard file.isOpen else { throw Self.failure(path, SystemError.text(errno)) }
        do throws(AudioError) {
            writer = try WaveWriter(file, sampleRate: AudioFormat.sampleRate)
        } catch {
            throw Self.failure(path, error.description)
        }
        self.path = path
        self.history = history
    }

    /// Writes what has come since the last time; to be called more often than the history is long.
    func catchUp() throws(DaemonError) {
        let now = history.count
        let samples = history.samples(written..<now)
        written = now
        do throws(AudioError) {
            try writer.append(samples)
        } catch {
            throw Self.failure(path, error.description)
        }
    }

    private static func failure(_ path: String, _ reason: String) -> DaemonError {
        DaemonError("\(path): cannot write the recording: \(reason); choose another place")
    }
}
