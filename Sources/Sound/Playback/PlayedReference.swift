import Audio
import Capture
import Core
import Synchronization

/// Where what is played goes for the canceller of a microphone: its queue, while there is one.
///
/// The thread that plays locks it for a moment; the microphone's thread never does.
final class ReferenceFeed: Sendable {
    private let queue = Mutex<ReferenceQueue?>(nil)

    var isAttached: Bool { queue.withLock { $0 != nil } }

    /// Feeds another queue from now on. After that the one before gets nothing any more.
    func attach(_ new: ReferenceQueue?) {
        queue.withLock { queue in
            new?.interrupt()
            queue = new
        }
    }

    func push(_ samples: Span<Float>, time: Instant) { queue.withLock { $0?.push(samples, time: time) } }

    func interrupt() { queue.withLock { $0?.interrupt() } }
}

/// What the speaker plays, at 16 kHz: sounds where they are heard, and silence between them. So the microphone's canceller keeps what it
/// has learnt from one sound to the next.
///
/// Of the thread that plays. Nothing allocates after `init`.
struct PlayedReference: ~Copyable {
    private static let rate = Int64(AudioFormat.sampleRate)
    /// Samples that are resampled at once, and that wait for the start of the device at most.
    private static let samplesAtOnce = 512
    private static let mostWaiting = 1 << 14

    private let feed: ReferenceFeed
    /// When the first sample of the time line is heard.
    private var start: Instant
    /// Samples of the time line so far.
    private var count: Int64 = 0
    private var piece = [Float](repeating: 0, count: ReferenceQueue.pieceSamples)
    /// Of a sound whose device has not started yet.
    private var waiting = [Float](repeating: 0, count: mostWaiting)
    private var waitingCount = 0
    private var isStarted = false
    private var resampled = [Float](repeating: 0, count: samplesAtOnce)

    init(_ feed: ReferenceFeed, at now: Instant) {
        self.feed = feed
        start = now
        feed.interrupt()
    }

    private var end: Instant { start + .nanoseconds(count * 1_000_000_000 / Self.rate) }

    /// A sound begins; when it is heard is known by ``started(at:)``.
    mutating func begin() { (isStarted, waitingCount) = (false, 0) }

    /// What was written to the device, which plays it after what it has.
    mutating func add(_ samples: Span<Float>, _ resampler: ReferenceResampler) {
        // A span of a property would borrow all of `self`.
        var resampled: [Float] = []
        swap(&resampled, &self.resampled)
        defer { swap(&resampled, &self.resampled) }
        var used = 0
        while true {
            var room = resampled.mutableSpan
            let (consumed, produced) = resampler.process(samples.extracting(used..<samples.count), into: &room)
            used += consumed
            for index in 0..<produced {
                if isStarted {
                    append(resampled[index])
                } else if waitingCount < waiting.count {
                    waiting[waitingCount] = resampled[index]
                    waitingCount += 1
                }
            }
            if produced == 0, used == samples.count || consumed == 0 { return }
        }
    }

    /// The device has started: the first sample since ``begin()`` is heard at this time.
    mutating func started(at time: Instant) {
        // What was added before was not heard as far as was thought: the time line begins anew.
        if end > time + .milliseconds(1) {
            feed.interrupt()
            (start, count) = (time, 0)
        }
        silence(until: time)
        for index in 0..<waitingCount { append(waiting[index]) }
        (isStarted, waitingCount) = (true, 0)
    }

    /// Nothing is heard until then.
    mutating func silence(until time: Instant) {
        let missing = (time - end).nanoseconds * Self.rate / 1_000_000_000
        // Nobody can have missed so much.
        if missing > 10 * Self.rate {
            feed.interrupt()
            (start, count) = (time, 0)
        } else if missing > 0 {
            for _ in 0..<missing { append(0) }
        }
    }

    private mutating func append(_ sample: Float) {
        piece[Int(count % Int64(ReferenceQueue.pieceSamples))] = sample
        count += 1
        guard count % Int64(ReferenceQueue.pieceSamples) == 0 else { return }
        feed.push(piece.span, time: start + .nanoseconds((count - 1) * 1_000_000_000 / Self.rate))
    }
}

/// The resampler of an opened device for ``PlayedReference``.
final class ReferenceResampler {
    private var resampler: Resampler
    private var hasFailed = false

    /// - Parameter rate: of the device, in hertz.
    init(from rate: Int) throws(AudioError) { resampler = try Resampler(from: rate) }

    func reset() { do throws(AudioError) { try resampler.reset() } catch { hasFailed = true } }

    /// Returns the samples used and made; none after a failure.
    @_lifetime(room: copy room)
    func process(_ samples: Span<Float>, into room: inout MutableSpan<Float>) -> (consumed: Int, produced: Int) {
        guard !hasFailed else { return (0, 0) }
        do throws(AudioError) {
            let progress = try resampler.process(samples, into: &room, endOfInput: false)
            return (progress.consumed, progress.produced)
        } catch {
            hasFailed = true
            return (0, 0)
        }
    }
}
