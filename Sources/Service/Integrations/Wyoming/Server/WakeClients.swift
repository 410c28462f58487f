import Audio
import Core
import IntegrationInterface
import Network
import Synchronization
import System

/// The clients of a wake-word server that have sent audio: what they are called, and what of them is heard now. Any thread.
///
/// A client is told by its address. Whatever says a name of itself is told by that, too; and of one that has several connections with audio at a
/// time, as Home Assistant has one for each of its satellites, each is a client of its own: the second is `192.168.1.5 (2)`. A connection takes
/// the lowest number that is free, so that a satellite whose connection ends and begins again mostly stays the same.
final class WakeClients: Sendable {
    private struct State {
        /// By what they are told by.
        var clients: [String: WakeClient] = [:]
        var newest = 0
        /// Names that were given by hand, by what the clients are told by.
        var given: [String: String]
        /// Events of all clients so far.
        var events: UInt64 = 0
    }

    /// Most clients that are remembered without a connection, and that are shown.
    private static let (most, mostShown) = (256, 64)
    private static let longestName = 60

    private let names: [Peer: String]
    private let state: Mutex<State>

    /// - Parameters:
    ///   - names: of the configuration, by addresses.
    ///   - given: names that were given by hand.
    init(_ names: [String: String] = [:], given: [String: String] = [:]) {
        // By the peer, because an address has many spellings.
        self.names = names.sorted { $0.key < $1.key }.reduce(into: [:]) { names, entry in
            if let address = IPAddress(entry.key) { names[Peer(address)] = entry.value }
        }
        state = Mutex(State(given: given))
    }

    /// The client of a connection whose audio begins; ``WakeClient/leave()`` when it ends.
    ///
    /// - Parameter said: what it says it is called.
    func join(_ peer: Peer, said: String?) -> WakeClient {
        let said = said.map { String(printable($0).prefix(Self.longestName)) }.flatMap { $0.isEmpty ? nil : $0 }
        return state.withLock { state in
            var (index, address) = (1, said.map { "\($0) at \(peer.description)" } ?? peer.description)
            // One that says its name is one client, however many connections it has.
            while said == nil, state.clients[address]?.isOpen == true {
                index += 1
                address = "\(peer.description) (\(index))"
            }
            if let client = state.clients[address] {
                client.open()
                return client
            }
            if state.clients.count >= Self.most,
                let old = state.clients.values.filter({ !$0.isOpen }).min(by: { $0.number < $1.number })
            {
                state.clients[old.address] = nil
            }
            let known = names[peer].map { index == 1 ? $0 : "\($0) (\(index))" }
            state.newest += 1
            let client = WakeClient(state.newest, address, state.given[address] ?? said ?? known ?? address)
            state.clients[address] = client
            client.open()
            return client
        }
    }

    /// Gives a client a name, or with an empty one takes it back; false if there is none of this number.
    ///
    /// - Returns: all names that were given by hand, by what the clients are told by.
    func rename(_ number: Int, to name: String) -> [String: String]? {
        state.withLock { state in
            guard let client = state.clients.values.first(where: { $0.number == number }) else { return nil }
            state.given[client.address] = name.isEmpty ? nil : name
            client.rename(name.isEmpty ? client.address : name)
            return state.given
        }
    }

    /// The number of the next event.
    func count() -> UInt64 {
        state.withLock { state in
            state.events += 1
            return state.events
        }
    }

    /// The first of them, those that send audio before the others.
    var list: [StreamClient] {
        let all = state.withLock { Array($0.clients.values) }.map(\.described).sorted { $0.number < $1.number }
        return Array((all.filter(\.isStreaming) + all.filter { !$0.isStreaming }).prefix(Self.mostShown))
    }

    /// Forgets the sound of those that nobody looks at any more, and that send none.
    func sweep() { for client in state.withLock({ Array($0.clients.values) }) { client.sweep() } }

    subscript(number: Int) -> WakeClient? {
        state.withLock { $0.clients.values.first { $0.number == number } }
    }
}

/// A client of a wake-word server.
final class WakeClient: Sendable {
    private struct State {
        var name: String
        /// Its connections with audio.
        var open = 0
        /// Kept while somebody looks.
        var history: AudioHistory?
        var scores: [Float] = []
        var end = Instant(nanoseconds: 0)
    }

    let number: Int
    /// What it is told by: its address, with what else tells it from others there.
    let address: String
    private let state: Mutex<State>
    /// Whether somebody looks, so that its audio is kept.
    private let watched = Atomic<Bool>(false)

    init(_ number: Int, _ address: String, _ name: String) {
        (self.number, self.address) = (number, address)
        state = Mutex(State(name: name))
    }

    var name: String { state.withLock { $0.name } }
    var isOpen: Bool { state.withLock { $0.open > 0 } }
    var described: StreamClient {
        state.withLock { StreamClient(number: number, name: $0.name, isStreaming: $0.open > 0) }
    }

    fileprivate func rename(_ name: String) { state.withLock { $0.name = name } }
    fileprivate func open() { state.withLock { $0.open += 1 } }

    /// A connection with its audio ends.
    func leave() { state.withLock { $0.open -= 1 } }

    /// Keeps its audio and its scores from now on, for this time at least. Any thread.
    func watch(for time: Duration) -> (history: AudioHistory, scores: [Float]) {
        let seen = state.withLock { state in
            state.end = max(state.end, Clock.now + time)
            let history = state.history ?? AudioHistory()
            state.history = history
            return (history, state.scores)
        }
        watched.store(true, ordering: .releasing)
        return seen
    }

    fileprivate func sweep() {
        state.withLock { state in
            if Clock.now >= state.end { (state.history, state.scores) = (nil, []) }
        }
    }

    /// Whether somebody looks. Costs nearly nothing. The thread that serves it.
    var isWatched: Bool { watched.load(ordering: .acquiring) }

    /// Takes a hop of its audio, and the scores before it, if somebody looks; forgets all if nobody does any more. The thread that serves it.
    func add(_ hop: [Float], _ scores: @autoclosure () -> [Float]) {
        sweep()
        guard let history = state.withLock({ $0.history }) else { return watched.store(false, ordering: .releasing) }
        history.add(hop.span)
        let scores = scores()
        state.withLock { $0.scores = scores }
    }
}
