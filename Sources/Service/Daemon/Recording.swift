import Audio
import Core
import Glibc
import Synchronization
import System

/// Writes the detector's audio to a WAV file while it comes in, on a thread of its own, because the disk may stall.
final class Recording: Sendable {
    private struct Writing: ~Copyable {
        var writer: WaveWriter
        /// Samples of the history that were written or lost.
        var done = 0
    }

    /// Shorter than the history, so that nothing is lost while the disk keeps up.
    private static let interval = Duration.milliseconds(250)

    private let path: String
    private let history: AudioHistory
    /// A source that can wait does not overtake it.
    private let hold: Int
    private let lost: LostAudio
    /// The error that ended it.
    private let thread: InboxThread<DaemonError?>

    /// - Parameter lost: gets what was too old when the disk took it again.
    init(path: String, history: AudioHistory, lost: LostAudio) throws(DaemonError) {
        self.path = path
        self.history = history
        hold = history.hold(from: 0)
        self.lost = lost
        thread = try InboxThread(nil, or: DaemonError.noEventFD)
    }

    /// Creates the file and starts the thread.
    func start() throws(DaemonError) {
        let file: FileDescriptor
        do throws(NamedFileError) {
            file = try NamedFile.open(path, mode: 0o600, isNew: true)
        } catch {
            throw Self.failure(path, error.description)
        }
        let writing: Mutex<Writing?>
        do throws(AudioError) {
            writing = Mutex(Writing(writer: try WaveWriter(file, sampleRate: AudioFormat.sampleRate)))
        } catch {
            throw Self.failure(path, error.description)
        }
        try thread.start(name: "beckon-record", stackSize: 512 << 10, or: DaemonError.noThread) { [self] in
            if var writing = writing.withLock({ $0.take() }) { run(&writing) }
        }
    }

    /// Why nothing is written any more; nil if all is well. Any thread.
    var problem: DaemonError? { thread.withLock { $0 } }

    /// Writes what is left and ends the thread.
    ///
    /// - Parameter time: when to give up, on the monotonic clock.
    /// - Returns: whether it has ended.
    func stop(until time: Instant) -> Bool { thread.stop(until: time) }

    private func run(_ writing: inout Writing) {
        defer { history.move(hold, to: nil) }
        while true {
            thread.wait(until: Clock.now + Self.interval)
            // Read first, so that what came before the stop is written.
            let isStopped = thread.isStopped
            do throws(AudioError) {
                try catchUp(&writing)
            } catch {
                let problem = Self.failure(path, error.description)
                return thread.withLock { $0 = problem }
            }
            if isStopped { return }
        }
    }

    private func catchUp(_ writing: inout Writing) throws(AudioError) {
        let range = writing.done..<history.count
        let samples = history.samples(range)
        writing.done = range.upperBound
        history.move(hold, to: writing.done)
        let missing = range.count - samples.count
        if missing > 0 { lost.note(.recording, .seconds(Double(missing) / Double(AudioFormat.sampleRate))) }
        try writing.writer.append(samples)
    }

    private static func failure(_ path: String, _ reason: String) -> DaemonError {
        DaemonError("\(path): cannot write the recording: \(reason); choose another place")
    }
}
