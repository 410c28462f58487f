import Audio
import Core
import Glibc
import System

/// Writes the detector's audio to a WAV file while it comes in. Used by the main thread.
final class Recording {
    private let path: String
    private let history: AudioHistory
    /// Samples written so far.
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

    /// Writes the samples since the last call. Call it more often than the history's length (8 s), or samples are lost.
    ///
    /// - Throws: ``DaemonError`` if the file cannot be written.
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
