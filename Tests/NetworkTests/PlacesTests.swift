import Core
import Network
import Testing

/// Who gets a place, and who gives one up.
struct PlacesTests {
    private static func holder(_ peer: Int, silent: Bool = false, at second: Int, kept: Bool = false) -> Places.Holder {
        Places.Holder(.user(UInt32(peer)), isSilent: silent, since: Instant(nanoseconds: Int64(second)), isKept: kept)
    }

    @Test func `there is room until all places are taken`() {
        let places = Places(all: 2)
        #expect(places.decide(.unknown, []) == .welcome)
        #expect(places.decide(.unknown, [Self.holder(1, at: 0)]) == .welcome)
        #expect(places.decide(.unknown, [Self.holder(1, at: 0), Self.holder(1, at: 1)]) == .full)
    }

    @Test func `who has said nothing makes room: of the peer with the most of them, the one that waits longest`() {
        let places = Places(all: 5)
        let holders = [
            Self.holder(1, silent: true, at: 0), Self.holder(2, silent: true, at: 4),
            Self.holder(2, silent: true, at: 3), Self.holder(3, at: 1), Self.holder(3, at: 2),
        ]
        #expect(places.decide(.user(9), holders) == .replace(2))
        #expect(places.decide(.user(2), holders) == .replace(2))
    }

    @Test func `a peer has its share, in which its own silent connections make room`() {
        let places = Places(all: 10, perPeer: 2)
        let spoken = [Self.holder(1, at: 0), Self.holder(1, at: 1), Self.holder(2, silent: true, at: 2)]
        #expect(places.decide(.user(1), spoken) == .peerIsFull)
        #expect(places.decide(.user(2), spoken) == .welcome)
        let silent = [Self.holder(1, at: 0), Self.holder(1, silent: true, at: 1), Self.holder(2, silent: true, at: 0)]
        #expect(places.decide(.user(1), silent) == .replace(1))
    }

    @Test func `where places are shared, the peer with the most gives its quietest to one that has fewer`() {
        let places = Places(all: 4, isShared: true)
        let holders = [
            Self.holder(1, at: 5), Self.holder(1, at: 3), Self.holder(1, at: 4), Self.holder(2, at: 0),
        ]
        #expect(places.decide(.user(3), holders) == .replace(1))
        #expect(places.decide(.user(2), holders) == .replace(1))
        #expect(places.decide(.user(1), holders) == .full)
        // One more each would be no fairer.
        let even = [Self.holder(1, at: 0), Self.holder(1, at: 1), Self.holder(2, at: 2), Self.holder(2, at: 3)]
        #expect(places.decide(.user(2), even) == .full)
        #expect(places.decide(.user(3), even) != .full)
    }

    @Test func `one that floods makes room for any peer, the longest first`() {
        func holder(_ peer: Int, floods: Bool, at second: Int) -> Places.Holder {
            var holder = Self.holder(peer, at: second)
            holder.floods = floods
            return holder
        }
        let places = Places(all: 3, isShared: true)
        let own = [holder(1, floods: false, at: 0), holder(1, floods: true, at: 2), holder(1, floods: true, at: 1)]
        #expect(places.decide(.user(1), own) == .replace(2))
        // The peer with the most of these first; one that does not flood stays, though its peer has the most places.
        let others = [
            holder(1, floods: false, at: 0), holder(1, floods: false, at: 1), holder(1, floods: false, at: 2),
            holder(2, floods: true, at: 5), holder(2, floods: true, at: 4), holder(3, floods: true, at: 3),
        ]
        #expect(Places(all: 6, isShared: true).decide(.user(9), others) == .replace(4))
        #expect(Places(all: 6, isShared: true).decide(.user(1), others) == .replace(4))
        #expect(Places(all: 3).decide(.user(3), own) == .full)
    }

    @Test func `what is kept makes no room`() {
        let places = Places(all: 2, isShared: true)
        let holders = [Self.holder(1, at: 0, kept: true), Self.holder(1, at: 1)]
        #expect(places.decide(.user(2), holders) == .replace(1))
        // A peer with fewer gives none because those of the peer with the most are kept.
        let most = [
            Self.holder(1, at: 0, kept: true), Self.holder(1, at: 0, kept: true), Self.holder(1, at: 0, kept: true),
            Self.holder(2, at: 1), Self.holder(2, at: 2),
        ]
        #expect(Places(all: 5, isShared: true).decide(.user(3), most) == .full)
        let silent = [Self.holder(1, silent: true, at: 0, kept: true), Self.holder(2, at: 1)]
        #expect(places.decide(.user(3), silent) == .full)
        // One that speaks does not go before those of its peer that are new and silent.
        let crowd = [Self.holder(1, at: 0)] + (1...3).map { Self.holder(1, silent: true, at: $0, kept: true) }
        #expect(Places(all: 4, isShared: true).decide(.user(2), crowd) == .full)
    }

    @Test func `a peer with many connections that wait delays only its own`() {
        let (a, b, c) = (Peer.user(1), Peer.user(2), Peer.user(3))
        #expect(Places.order(of: [a, a, a, b, c], held: [:]) == [0, 3, 4, 1, 2])
        // With the places that they have: c has one more than the others.
        #expect(Places.order(of: [c, a, a, b], held: [a: 4, b: 4, c: 5]) == [1, 3, 0, 2])
        #expect(Places.order(of: [a, a, a], held: [a: 7]) == [0, 1, 2])
        #expect(Places.order(of: [], held: [a: 1]).isEmpty)
    }
}
