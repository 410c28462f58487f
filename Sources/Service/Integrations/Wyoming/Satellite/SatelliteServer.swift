import Core
import Network
import Synchronization
import System

/// Which Home Assistant may have the satellite: the one at an address, or at the addresses that a name has.
///
/// A name is looked up on a thread of its own, as a name server may be slow; at most every few seconds, whoever asks how often.
final class SatelliteServer: Sendable {
    enum Answer {
        case yes, no
        /// The name is being looked up.
        case notKnown
    }

    private struct State {
        var addresses: [IPAddress] = []
        var lookedUp: Instant?
        var isLooking = false
    }

    /// How long the addresses of a name hold, and how soon it is looked up again for an address that is not among them.
    private static let (longest, shortest) = (Duration.seconds(300), Duration.seconds(5))

    private let host: String
    /// Nil for a name.
    private let address: IPAddress?
    private let lookUp: @Sendable (String) -> [IPAddress]
    private let onNews: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - host: an address or a name.
    ///   - lookUp: gives the addresses of a name; may wait.
    ///   - onNews: called when a name was looked up. Any thread.
    init(
        _ host: String,
        lookUp: @escaping @Sendable (String) -> [IPAddress] = HostName.addresses,
        onNews: @escaping @Sendable () -> Void
    ) {
        self.host = host
        address = IPAddress(host)
        (self.lookUp, self.onNews) = (lookUp, onNews)
    }

    /// Why one at another address does not get the satellite, as the end of a sentence.
    var problem: String {
        if address == nil, state.withLock({ $0.lookedUp != nil && $0.addresses.isEmpty }) {
            return "only \(host) may have (wyoming.satelliteServer), a name that is not known here; give its address"
        }
        return "only \(host) may have (wyoming.satelliteServer)"
    }

    /// Whether the one at an address may have the satellite.
    ///
    /// - Parameter peer: nil on a unix socket, whose file decides who can connect.
    func admits(_ peer: IPAddress?, at now: Instant) -> Answer {
        guard let peer else { return .yes }
        if let address { return address.includes(peer) ? .yes : .no }
        let (answer, mustLook) = state.withLock { state -> (Answer, Bool) in
            let age = state.lookedUp.map { now - $0 }
            let isKnown = state.addresses.contains { $0.includes(peer) }
            if isKnown, let age, age < Self.longest { return (.yes, false) }
            if state.isLooking { return (.notKnown, false) }
            if let age, age < Self.shortest { return (.no, false) }
            state.isLooking = true
            return (.notKnown, true)
        }
        if mustLook { look(at: now) }
        return answer
    }

    /// - Parameter time: when it was asked for.
    private func look(at time: Instant) {
        let isStarted = try? SystemThread(name: "beckon-lookup", stackSize: 512 << 10, or: SocketError.noThread) {
            [self] in
            finish(lookUp(host), at: time)
        }
        if isStarted == nil { finish([], at: time) }
    }

    private func finish(_ addresses: [IPAddress], at time: Instant) {
        state.withLock { state in
            (state.addresses, state.lookedUp, state.isLooking) = (addresses, time, false)
        }
        onNews()
    }
}
