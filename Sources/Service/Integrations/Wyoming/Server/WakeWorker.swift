import Core
import Glibc
import Network
import Synchronization
import System

/// A thread that serves some of a ``WyomingServer``'s clients, from their first byte to their last.
///
/// It shares nothing with the threads of other clients, nor with the detector of a microphone, but the model, which does not change.
final class WakeWorker: Sendable {
    private struct Shared {
        var arrivals: [WakeLoop.Arrival] = []
        var words: AnnouncedWords?
        var counts = WyomingServer.Counts()
    }

    /// Connections that it has or that are on their way.
    let load = Atomic<Int>(0)
    /// How many of these give their place to a new one.
    let yielding = Atomic<Int>(0)

    /// When the turn began that goes on, or the wait that has an end, on ``Clock``; 0 while the thread waits without end.
    private let turnStart = Atomic<Int64>(0)
    private let thread: InboxThread<Shared>

    /// Starts the thread.
    ///
    /// - Parameter priority: how much lower than other threads' its priority is, 0–19.
    init(_ words: AnnouncedWords, _ server: WakeLoop.Server, priority: Int) throws(SocketError) {
        thread = try InboxThread(Shared(), or: SocketError.noEventFD)
        try thread.start(name: "beckon-streams", stackSize: 1 << 20, or: SocketError.noThread) { [self] in
            // On Linux the priority of the calling thread.
            setpriority(Int32(PRIO_PROCESS.rawValue), 0, Int32(priority))
            run(words, server)
        }
    }

    var counts: WyomingServer.Counts { thread.withLock { $0.counts } }

    /// For how long the turn that goes on has gone on; a wait for clients, which lasts half a second at most, counts too. Any thread.
    var turnTime: Duration {
        let start = turnStart.load(ordering: .relaxed)
        return start == 0 ? .zero : Clock.now - Instant(nanoseconds: start)
    }

    /// Hands over a connection. Any thread.
    func add(_ connection: consuming Connection) {
        let peer = connection.peer
        let arrival = WakeLoop.Arrival(connection: ConnectionBox(connection), peer: peer)
        load.add(1, ordering: .relaxed)
        thread.withLock { $0.arrivals.append(arrival) }
        // A wait without end has one now; see ``turnTime``.
        _ = turnStart.compareExchange(expected: 0, desired: Clock.now.nanoseconds, ordering: .relaxed)
        thread.wake()
    }

    /// Detects other words from each stream's next hop on. Any thread.
    func update(_ words: AnnouncedWords) { thread.post { $0.words = words } }

    /// Closes all connections and ends the thread, without waiting for it. Any thread.
    func beginStop() { thread.beginStop() }

    /// Waits for that. Returns whether the thread has ended.
    func stop(until time: Instant?) -> Bool { thread.stop(until: time) }

    private func run(_ words: AnnouncedWords, _ server: WakeLoop.Server) {
        var loop = WakeLoop(words, server)
        while true {
            turnStart.store(loop.waitsWithoutEnd ? 0 : Clock.now.nanoseconds, ordering: .relaxed)
            loop.wait(thread.descriptor)
            turnStart.store(Clock.now.nanoseconds, ordering: .relaxed)
            let ((arrivals, words), isStopped) = thread.take { shared in
                defer { (shared.arrivals, shared.words) = ([], nil) }
                return (shared.arrivals, shared.words)
            }
            if isStopped { return }
            if let words { loop.update(words) }
            loop.add(arrivals)
            let before = loop.load
            loop.turn(isFull: server.places.isNearlyFull)
            load.subtract(before - loop.load, ordering: .relaxed)
            yielding.store(loop.yielding, ordering: .relaxed)
            var counts = loop.counts
            counts.busy = Self.busy
            thread.withLock { $0.counts = counts }
        }
    }

    /// The processor time that the calling thread has used.
    private static var busy: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .nanoseconds(Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
