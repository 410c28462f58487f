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
    /// Whether, where all places are taken, one that floods makes room for any peer, those of the peer with the most of them first; and
    /// where none floods, the peer with the most gives its quietest to a peer that has at least two fewer.
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
        if let victim = oldestOfMost(holders, where: \.isSilent) { return .replace(victim) }
        guard isShared else { return .full }
        if let victim = oldestOfMost(holders, where: \.floods) { return .replace(victim) }
        // One that says nothing yet, and is kept as it is new, speaks or makes room soon: nobody who speaks makes room before it.
        if holders.contains(where: \.isSilent) { return .full }
        var counts: [Peer: Int] = [:]
        for holder in holders { counts[holder.peer, default: 0] += 1 }
        guard let most = counts.values.max(), most >= own + 2 else { return .full }
        return oldest(holders) { counts[$0.peer] == most }.map { .replace($0) } ?? .full
    }

    /// The order in which connections that wait for a place get one: a peer's n-th comes as if it had n places more, the fewest first.
    ///
    /// So a peer with many that wait delays only its own.
    ///
    /// - Parameters:
    ///   - waiting: whose the connections are, the oldest first.
    ///   - held: places that each peer has.
    /// - Returns: indices of `waiting`.
    public static func order(of waiting: [Peer], held: [Peer: Int]) -> [Int] {
        var next = held
        let ranks = waiting.map { peer in
            defer { next[peer, default: 0] += 1 }
            return next[peer, default: 0]
        }
        return ranks.indices.sorted { (ranks[$0], $0) < (ranks[$1], $1) }
    }

    /// Of the peer with the most holders of this kind, the oldest of them; nil if there is none.
    private func oldestOfMost(_ holders: [Holder], where matches: (Holder) -> Bool) -> Int? {
        var counts: [Peer: Int] = [:]
        for holder in holders where !holder.isKept && matches(holder) { counts[holder.peer, default: 0] += 1 }
        guard let most = counts.values.max() else { return nil }
        return oldest(holders) { matches($0) && counts[$0.peer] == most }
    }

    private func oldest(_ holders: [Holder], _ matches: (Holder) -> Bool) -> Int? {
        holders.indices.filter { !holders[$0].isKept && matches(holders[$0]) }
            .min { holders[$0].since < holders[$1].since }
    }
}
