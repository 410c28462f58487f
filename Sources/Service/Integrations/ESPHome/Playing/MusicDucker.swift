import Core
import Events
import Network
import System

/// Makes other programs' music quiet while the assistant is used, and as loud as before afterwards, on a thread of its own.
///
/// A player that takes no other volume is paused. What its user changes meanwhile stays.
final class MusicDucker: Sendable {
    /// What is left of the volume: 14 dB less where players take it as an amplitude.
    private static let share = 0.2
    /// Volumes nearer than this are the same: players round them.
    private static let tolerance = 0.02

    private struct Inbox {
        var isQuiet = false
        /// From now on music stays as loud as it was.
        var isEnding = false
    }

    private let log: ServiceLog
    private let thread: InboxThread<Inbox>

    /// What was changed of a player.
    private enum Change {
        case volume(before: Double, now: Double)
        case paused
    }

    init(log: ServiceLog) throws(SocketError) {
        self.log = log
        thread = try InboxThread(Inbox(), or: SocketError.noEventFD)
        try thread.start(name: "beckon-duck", stackSize: 512 << 10, or: SocketError.noThread) { [self] in run() }
    }

    /// Whether music has to be quiet; never waits.
    func duck(_ isQuiet: Bool) {
        guard thread.withLock({ $0.isQuiet != isQuiet && !$0.isEnding }) else { return }
        thread.post { if !$0.isEnding { $0.isQuiet = isQuiet } }
    }

    /// Ends it, with music as loud as before.
    @discardableResult
    func end(until time: Instant?) -> Bool { thread.stop(until: time) { $0 = Inbox(isQuiet: false, isEnding: true) } }

    // MARK: - On the thread

    private func run() {
        var changes: [String: Change] = [:]
        var isQuiet = false
        var hasFailed = false
        while true {
            let isOver = thread.isStopped
            let wanted = thread.withLock { $0.isQuiet }
            if wanted != isQuiet {
                isQuiet = wanted
                do throws(SessionBus.Problem) {
                    // Opened each time: the bus may be another one, and a connection that nobody reads fills.
                    let bus = try SessionBus()
                    if wanted { changes = quieten(bus) } else { restore(bus, changes) }
                    if !wanted { changes = [:] }
                    hasFailed = false
                } catch {
                    if !hasFailed { log.write(.warning, "ESPHome: music goes on as it is: \(error)") }
                    hasFailed = true
                }
                continue
            }
            if isOver { return }
            thread.wait(until: .distantFuture)
        }
    }

    private func quieten(_ bus: borrowing SessionBus) -> [String: Change] {
        var changes: [String: Change] = [:]
        for player in bus.players() ?? [] where bus.isPlaying(player) {
            if let before = bus.volume(player) {
                bus.set(volume: before * Self.share, player)
                if let now = bus.volume(player), before - now > Self.tolerance {
                    changes[player] = .volume(before: before, now: now)
                    continue
                }
                // It is silent already.
                if before <= Self.tolerance { continue }
            }
            bus.pause(player)
            changes[player] = .paused
        }
        return changes
    }

    private func restore(_ bus: borrowing SessionBus, _ changes: [String: Change]) {
        for (player, change) in changes {
            switch change {
            case .volume(let before, let now):
                guard let volume = bus.volume(player), abs(volume - now) <= Self.tolerance else { continue }
                bus.set(volume: before, player)
            case .paused: if !bus.isPlaying(player) { bus.play(player) }
            }
        }
    }
}
