public import Core

/// Who gets a place in a server whose connections are limited, in all and for each peer: a pure decision.
///
/// Whoever connects and says nothing whole holds a place only as long as nobody else needs it. So a crowd of idle connections keeps
/// nobody out, whoever it belongs to.
public struct Places: Sendable {
    /// A connection that has a place.
    public struct Holder: Sendable {
        public var peer: Peer
        /// Whether it has not sent a whole event, line or head yet.
        public var isSilent: Bool
        /// Whether it keeps sending more than it gets turns for.
        public var floods: Bool
        /// When the newest bytes came, or the connection; of one that floods, when it began to.
        public var since: Instant
        /// Whether it must not make room, although it is quiet.
        public var isKept: Bool

        public init(_ peer: Peer, isSilent: Bool, floods: Bool = false, since: Instant, isKept: Bool = false) {
            (self.peer, self.isSilent, self.floods, self.since, self.isKept) = (peer, isSilent, floods, since, isKept)
        }
    }

    public enum Decision: Equatable, Sendable {
        case welcome
        /// The holder with this index makes room.
        case replace(Int)
        /// All places are taken.
        case full
        /// The peer has its share.
        case peerIsFull
    }

    /// Most connections.
    public var all: Int
    /// Most connections of one peer; nil: no limit but ``all``.
    public var perPeer: Int?
    /// Whether, where all places are taken, the peer with the most gives one to a peer that has at least two fewer, and one that floods
    /// makes room for any peer. Those that flood go first, then the quietest.
    public var isShared: Bool

    public init(all: Int, perPeer: Int? = nil, isShared: Bool = false) {
        (self.all, self.perPeer, self.isShared) = (all, perPeer, isShared)
    }

    /// Whether a connection of this peer gets a place.
    public func decide(_ peer: Peer, _ holders: [Holder]) -> Decision {
        let own = holders.count { $0.peer == peer }
        if let perPeer, own >= perPeer {
            let victim = oldest(holders) { $0.isSilent && $0.peer == peer }
            return victim.map { .replace($0) } ?? .peerIsFull
        }
        guard holders.count >= all else { return .welcome }
        var counts: [Peer: Int] = [:]
        for holder in holders where holder.isSilent && !holder.isKept { counts[holder.peer, default: 0] += 1 }
        if let most = counts.values.max() {
            let victim = oldest(holders) { $0.isSilent && counts[$0.peer] == most }
            if let victim { return .replace(victim) }
        }
        guard isShared else { return .full }
        counts = [:]
        for holder in holders { counts[holder.peer, default: 0] += 1 }
        var victim: Int?
        if let most = counts.values.max(), most >= own + 2 {
            victim =
                oldest(holders) { $0.floods && counts[$0.peer] == most } ?? oldest(holders) { counts[$0.peer] == most }
        }
        return (victim ?? oldest(holders) { $0.floods }).map { .replace($0) } ?? .full
    }

    private func oldest(_ holders: [Holder], _ matches: (Holder) -> Bool) -> Int? {
        holders.indices.filter { !holders[$0].isKept && matches(holders[$0]) }
            .min { holders[$0].since < holders[$1].since }
    }
}
