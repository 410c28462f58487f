public import Capture
public import Core
import Synchronization
import System

/// The loudspeaker of a service: plays files and speech, one after the other, on a thread of its own. Without a device there is no
/// thread, and it plays nothing.
///
/// All is played as one channel, the mean of all, on all channels of the device. All members may be used from any thread, and none
/// waits for the device.
public final class Speaker: Sendable {
    /// Counts of sounds since the device was chosen, files and speech together.
    public struct Counts: Equatable, Sendable {
        /// Heard to the end, or until they were cancelled.
        public var played = 0
        /// Of which some or all was not heard; what failed is reported.
        public var failed = 0
        /// Left out because too many waited.
        public var dropped = 0
        /// Times that the device ran out of frames.
        public var underruns = 0
        public var waiting = 0
        public var isPlaying = false

        public init() {}
    }

    /// What became of a sound.
    public enum Answer: Sendable {
        case queued
        /// Too many wait.
        case full
        /// There is no speaker.
        case none
    }

    /// The time that a thread whose device was replaced has to end.
    private static let closeTimeout = Duration.milliseconds(500)

    private let current = Mutex<SpeakerThread?>(nil)
    private let feed = ReferenceFeed()
    private let report: @Sendable (LogLevel, String) -> Void

    /// - Parameter report: gets what fails, once, and that it works again; called on the thread that plays, and must not wait.
    public init(report: @escaping @Sendable (LogLevel, String) -> Void) { self.report = report }

    /// Plays on another device from now on; what the one before has not played is dropped. Does nothing if it is the same.
    ///
    /// - Parameter device: ALSA's name, such as `default`; nil for none.
    /// - Throws: `CaptureError.system` if the system gives no thread; there is no speaker then.
    public func select(_ device: String?) throws(CaptureError) {
        let old = current.withLock { current in current?.device == device ? nil : current.take() }
        old?.stop(until: Clock.now + Self.closeTimeout)
        guard let device, self.device == nil else { return }
        let new = try SpeakerThread(device: device, feed, report: report)
        current.withLock { $0 = new }
    }

    /// Tells a microphone's canceller what is heard, with its times, and the silence in between.
    ///
    /// - Parameter queue: nobody else writes to it; nil for none, so that another may write to the one before when this returns.
    public func feed(_ queue: ReferenceQueue?) {
        feed.attach(queue)
        current.withLock { $0 }?.wake()
    }

    /// ALSA's name; nil without a speaker.
    public var device: String? { current.withLock { $0?.device } }

    /// Nil without a speaker.
    public var counts: Counts? { current.withLock { $0 }?.counts }

    /// Plays an audio file, after the sounds that wait.
    ///
    /// - Parameter path: is opened when its turn comes.
    public func play(_ path: String) -> Answer {
        guard let thread = current.withLock({ $0 }) else { return .none }
        return thread.add(.file(path)) ? .queued : .full
    }

    /// Speech that is played as it is written, after the sounds that wait; nil without a speaker, or if too many wait.
    ///
    /// - Parameter rate: 1 or more, in hertz.
    public func speech(rate: Int) -> SpeechStream? { current.withLock { $0 }?.speech(rate: rate) }

    /// Waits until all sounds so far were played, at most until a time on the monotonic clock.
    public func finish(until time: Instant) {
        while let counts, counts.isPlaying || counts.waiting > 0, Clock.now < time {
            Clock.sleep(until: Clock.now + .milliseconds(5))
        }
    }

    /// Ends the thread; what it has not played is dropped.
    ///
    /// - Returns: whether it has ended in time.
    @discardableResult
    public func stop(until time: Instant) -> Bool {
        current.withLock { $0.take() }?.stop(until: time) ?? true
    }
}
