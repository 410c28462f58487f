import Network
import Testing

/// Addresses in numbers.
struct IPAddressTests {
    @Test(arguments: [
        "", "1.2.3.+4", "+1.2.3.4", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.-4", "1.2.3.4.", "01.2.3.4", "0x7f.0.0.1",
        "127.1",
        "2130706433", "1.2.3.٤", "１.2.3.4", "1.2.3.4 ", " 1.2.3.4", "1.2.3.4\0", "1.2.3.4%eth0", "1..3.4", "::g", ":::",
        "1::2::3",
        "::1%", "::1% ", "[::1]", "::1]", "::+1", "::１", "12345::", "1:2:3:4:5:6:7", "::1.2.3.+4", "localhost",
    ])
    func `other texts are not addresses`(text: String) { #expect(IPAddress(text) == nil) }

    @Test func `every spelling is the same address`() throws {
        for (left, right) in [
            ("::1", "0:0:0:0:0:0:0:1"), ("FD00::A", "fd00:0:0::000a"), ("::ffff:1.2.3.4", "1.2.3.4"),
            ("::ffff:102:304", "1.2.3.4"), ("fe80::1%eth0", "fe80:0::1%eth0"),
        ] {
            #expect(try #require(IPAddress(left)) == #require(IPAddress(right)), "\(left), \(right)")
        }
        for (left, right) in [("::1", "::2"), ("::1.2.3.4", "1.2.3.4"), ("fe80::1%eth0", "fe80::1%eth1")] {
            #expect(try #require(IPAddress(left)) != #require(IPAddress(right)), "\(left), \(right)")
        }
    }

    @Test func `loopback is recognised in every spelling`() throws {
        for text in ["127.0.0.1", "127.9.9.9", "::1", "0:0::1", "::ffff:127.0.0.1"] {
            #expect(try #require(IPAddress(text)).isLoopback, "\(text)")
        }
        for text in ["126.0.0.1", "0.0.0.0", "::", "::2", "::127.0.0.1", "100::1"] {
            #expect(try !#require(IPAddress(text)).isLoopback, "\(text)")
        }
    }
}
