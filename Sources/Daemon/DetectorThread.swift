public import Actions
private import Core
private import Dispatch
import Synchronization
import System

/// Listens to a source of audio on a thread of its own, until it is stopped or the source ends.
public final class DetectorThread: Sendable {
    private let ends: DetectorLoop.Ends
    private let isStopping = Atomic<Bool>(false)
    private let hasStopped = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - rules: what to decide by; the model is warmed up before this returns.
    ///   - events: gets what is heard.
    /// - Throws: ``DaemonError``.
    public init(source: any AudioSource, rules: Rules, events: EventInbox) throws(DaemonError) {
        ends = DetectorLoop.Ends(source: source, events: events)
        let isReady = DispatchSemaphore(value: 0)
        _ = try SystemThread(name: "beckon-detector", stackSize: 1 << 20, or: DaemonError.noThread) { [self] in
            var loop = DetectorLoop(rules: rules, ends)
            isReady.signal()
            while !isStopping.load(ordering: .relaxed), !ends.source.hasEnded {
                // Longer than a block takes to come, so that it wakes for blocks alone; new rules wait no longer either.
                loop.step(ends, until: Clock.now + AudioFormat.hopDuration * 3)
            }
            hasStopped.signal()
        }
        isReady.wait()
    }

    public var status: DetectorStatus { ends.record.status }

    /// The last seconds that were heard.
    public var tape: AudioHistory { ends.tape }

    /// Follows other rules from the next hop on.
    public func follow(_ rules: Rules) { ends.rules.post(rules) }

    /// Returns when the thread hears no more.
    public func stop() {
        guard !isStopping.exchange(true, ordering: .relaxed) else { return }
        hasStopped.wait()
    }
}
