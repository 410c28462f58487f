import Audio
import Capture
import Core
import System

/// The thread that plays: opens the device for the first of the sounds that wait, plays them one after the other, and closes it.
final class SpeakerThread: Sendable {
    private struct Inbox {
        var items: [PlaybackItem] = []
        var counts = Speaker.Counts()
        /// Whether the thread has ended: nothing is played any more.
        var isClosed = false
    }

    /// Sounds that may wait.
    static let capacity = 4

    let device: String
    /// How often the silence between sounds is told to a microphone's canceller.
    private static let silenceInterval = Duration.milliseconds(50)

    private let report: @Sendable (LogLevel, String) -> Void
    private let feed: ReferenceFeed
    private let thread: InboxThread<Inbox>

    /// Starts the thread; the device is not opened before there is something to play.
    ///
    /// - Parameters:
    ///   - feed: gets what is heard.
    ///   - report: gets what fails, and that it works again; called on this thread.
    init(
        device: String,
        _ feed: ReferenceFeed,
        report: @escaping @Sendable (LogLevel, String) -> Void
    ) throws(CaptureError) {
        (self.device, self.feed, self.report) = (device, feed, report)
        thread = try InboxThread(Inbox(), or: CaptureError.noEventFD)
        try thread.start(name: "beckon-play", stackSize: 512 << 10, or: CaptureError.noThread) { [self] in run() }
    }

    /// Appends a sound. Returns false, and counts it, if too many wait.
    func add(_ item: PlaybackItem) -> Bool {
        thread.post { inbox in
            guard inbox.items.count < Self.capacity, !inbox.isClosed else {
                inbox.counts.dropped += 1
                return false
            }
            inbox.items.append(item)
            return true
        }
    }

    /// Speech of this rate, if too many sounds do not wait already.
    func speech(rate: Int) -> SpeechStream? {
        let stream = SpeechStream(rate: rate) { [thread] in thread.wake() }
        return add(.speech(stream)) ? stream : nil
    }

    var counts: Speaker.Counts {
        thread.withLock { inbox in
            var counts = inbox.counts
            counts.waiting = inbox.items.count
            return counts
        }
    }

    /// Looks anew whether there is a microphone to tell.
    func wake() { thread.wake() }

    @discardableResult
    func stop(until time: Instant?) -> Bool { thread.stop(until: time) }

    // MARK: - On the thread

    private func run() {
        /// What failed last; nil after something was played.
        var problem: String?
        var reference = PlayedReference(feed, at: Clock.now)
        while !thread.isStopped {
            if let first = next() {
                play(first, &problem, &reference)
            } else {
                let isHeard = feed.isAttached
                if isHeard { reference.silence(until: Clock.now) }
                thread.wait(until: isHeard ? Clock.now + Self.silenceInterval : .distantFuture)
            }
        }
        let rest = thread.withLock { inbox in
            defer { (inbox.items, inbox.isClosed) = ([], true) }
            return inbox.items
        }
        for item in rest { item.close() }
    }

    private func next() -> PlaybackItem? {
        thread.withLock { inbox in
            let item = inbox.items.first
            if item != nil { inbox.items.removeFirst() }
            inbox.counts.isPlaying = item != nil
            return item
        }
    }

    /// Plays a sound, and those that wait behind it, on one opened device.
    private func play(_ first: PlaybackItem, _ problem: inout String?, _ reference: inout PlayedReference) {
        do throws(CaptureError) {
            let pcm = try PlaybackPCM(name: device)
            var next: PlaybackItem? = first
            while let item = next {
                let failure = play(item, on: pcm, &reference)
                item.close()
                note(failure?.text, &problem)
                if failure?.isOfDevice == true { return }
                next = thread.isStopped ? nil : self.next()
            }
        } catch {
            first.close()
            note("\(error)", &problem)
            // alsa-lib caches its configuration, including the names of cards that were there before.
            PlaybackPCM.forgetConfiguration()
        }
    }

    /// Counts a sound, and reports a failure that is another than the last one's.
    private func note(_ failure: String?, _ problem: inout String?) {
        thread.withLock { inbox in
            if failure == nil { inbox.counts.played += 1 } else { inbox.counts.failed += 1 }
        }
        if let failure, failure != problem { report(.error, failure) }
        if failure == nil, problem != nil { report(.notice, "the speaker '\(printable(device))' plays again") }
        problem = failure
    }

    private typealias Failure = (text: String, isOfDevice: Bool)

    private func play(
        _ item: PlaybackItem,
        on pcm: borrowing PlaybackPCM,
        _ reference: inout PlayedReference
    ) -> Failure? {
        do throws(AudioError) {
            let resampler = try ReferenceResampler(from: pcm.format.rate)
            let sound = try PlayedSound(item, rate: pcm.format.rate)
            var run = PlaybackRun(sound, pcm.format, at: Clock.now)
            let failure = follow(&run, item, pcm, &reference, resampler)
            thread.withLock { [underruns = run.underruns] in $0.counts.underruns += underruns }
            return failure
        } catch {
            return ("cannot play: \(error)", false)
        }
    }

    private func follow(
        _ run: inout PlaybackRun,
        _ item: PlaybackItem,
        _ pcm: borrowing PlaybackPCM,
        _ reference: inout PlayedReference,
        _ resampler: ReferenceResampler
    ) -> Failure? {
        while !thread.isStopped, !item.isCancelled {
            switch run.advance(pcm, &reference, resampler, at: Clock.now) {
            case .wait(let time): thread.wait(until: Clock.now + time)
            case .ended: return run.sound.failure.map { ("played in part: \($0)", false) }
            case .failed(let call, let result): return ("\(PlaybackPCM.failure(device, call, result))", true)
            case .stalled:
                let seconds = Int(PlaybackRun.longestStall.seconds)
                let what = "has played nothing, or was given nothing, for \(seconds) s"
                return ("the speaker '\(printable(device))' \(what)", true)
            }
        }
        return nil
    }
}

extension PlaybackItem {
    /// It was played, or will not be.
    fileprivate func close() { if case .speech(let stream) = self { stream.close() } }

    fileprivate var isCancelled: Bool { if case .speech(let stream) = self { stream.isCancelled } else { false } }
}
