import Audio
import Core
import Enrollment
import Inference
import System

/// Finds the next utterance in the detector's audio, on a thread that lives as long as this takes.
final class TakeRecorder: Sendable {
    enum Result {
        case utterance(Utterance)
        /// Nothing was said in time.
        case silence
        /// No audio came in time.
        case noAudio
        /// It was stopped before.
        case stopped
    }

    private static let interval = Duration.milliseconds(50)

    private let history: AudioHistory
    private let model: Model
    private let longest: Duration
    private let thread: InboxThread<Void>

    /// - Parameter longest: the time in which the word must be said.
    init(_ history: AudioHistory, _ model: Model, longest: Duration) throws(TeachingError) {
        (self.history, self.model, self.longest) = (history, model, longest)
        thread = try InboxThread((), or: { TeachingError("no recording: \($0)") })
    }

    /// Starts to listen to what comes from now on.
    ///
    /// - Parameters, both called on the thread:
    ///   - progress: gets whether speech has begun, when that changes.
    ///   - end: gets the result.
    func start(
        progress: @escaping @Sendable (Bool) -> Void,
        end: @escaping @Sendable (Result) -> Void
    ) throws(TeachingError) {
        let start = history.count
        let failure = { (error: SystemError) in TeachingError("no recording: \(error)") }
        try thread.start(name: "beckon-teach", stackSize: 1 << 20, or: failure) { [self] in
            end(record(from: start, progress))
        }
    }

    @discardableResult
    func stop(until time: Instant) -> Bool { thread.stop(until: time) }

    private func record(from start: Int, _ progress: (Bool) -> Void) -> Result {
        var segmenter = UtteranceSegmenter(model)
        var (next, wasOpen) = (start + model.hopSamples, false)
        let deadline = Clock.now + longest
        while Clock.now < deadline {
            thread.wait(until: Clock.now + Self.interval)
            if thread.isStopped { return .stopped }
            while history.count >= next {
                let samples = history.samples(max(0, next - model.windowSamples)..<next)
                // Just after the start there is less than a window. Else the thread slept for longer than the history.
                let missing = [Float](repeating: 0, count: model.windowSamples - samples.count)
                if !missing.isEmpty, next >= model.windowSamples { segmenter = UtteranceSegmenter(model) }
                let window = missing + samples
                next += model.hopSamples
                if let utterance = segmenter.process(window: window.span) { return .utterance(utterance) }
                if segmenter.isOpen != wasOpen {
                    wasOpen.toggle()
                    progress(wasOpen)
                }
            }
        }
        return next == start + model.hopSamples ? .noAudio : .silence
    }
}
