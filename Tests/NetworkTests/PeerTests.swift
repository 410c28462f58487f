import Network
import Testing

/// Who counts as one peer.
struct PeerTests {
    private func peer(_ text: String) throws -> Peer { Peer(try #require(IPAddress(text))) }

    @Test func `an IPv4 address is one peer, also through a socket of IPv6`() throws {
        #expect(try peer("192.0.2.1") == peer("::ffff:192.0.2.1"))
        #expect(try peer("192.0.2.1") != peer("192.0.2.2"))
    }

    @Test func `whoever has one address of an IPv6 network of 64 bits has all, and is one peer`() throws {
        #expect(try peer("2001:db8:1:2::1") == peer("2001:db8:1:2:ffff:ffff:ffff:ffff"))
        #expect(try peer("2001:db8:1:2::1") != peer("2001:db8:1:3::1"))
        #expect(try peer("2001:db8:1:2::1") != peer("2001:db8:2:2::1"))
    }

    @Test func `a link-local network is that of its interface`() throws {
        #expect(try peer("fe80::1%eth0") == peer("fe80::2%eth0"))
        #expect(try peer("fe80::1%eth0") != peer("fe80::1%eth1"))
    }

    @Test func `no IPv6 network is an IPv4 address`() throws {
        #expect(try peer("::1") != peer("0.0.0.0"))
        #expect(try peer("c000:201::1") != peer("192.0.2.1"))
    }
}
