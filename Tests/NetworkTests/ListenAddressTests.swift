import Network
import Testing

/// Addresses of servers, as text.
struct ListenAddressTests {
    @Test(arguments: [
        ("tcp://127.0.0.1:10400", ListenAddress.tcp(host: "127.0.0.1", port: 10_400)),
        ("tcp://localhost:1", .tcp(host: "127.0.0.1", port: 1)),
        ("tcp://0.0.0.0:65535", .tcp(host: "0.0.0.0", port: 65_535)),
        ("tcp://[::1]:80", .tcp(host: "::1", port: 80)), ("unix:///run/a b/s", .unix(path: "/run/a b/s")),
    ])
    func `addresses are read, and written as they were`(text: String, address: ListenAddress) throws {
        let read = try ListenAddress(text)
        #expect(read == address)
        #expect(try ListenAddress(read.description) == address)
    }

    @Test(arguments: [
        "", "tcp://", "tcp://127.0.0.1", "tcp://127.0.0.1:",
        "tcp://127.0.0.1:0",
        "tcp://127.0.0.1:65536", "tcp://127.0.0.1:-1", "tcp://127.0.0.1:+1", "tcp://127.0.0.+1:1", "tcp://[::1%lo]:1",
        "tcp://1.2.3:4", "tcp://house.local:10400",
        "tcp://[::1:10400", "tcp://[127.0.0.1]:1", "tcp://[]:1", "unix://", "unix://relative",
        "unix:///" + String(repeating: "x", count: 107),
    ])
    func `others are refused`(text: String) {
        do throws(SocketError) {
            _ = try ListenAddress(text)
            Issue.record("accepted: \(text)")
        } catch {
            #expect(error.description.contains("an address looks like tcp://127.0.0.1:10400"))
        }
    }

    @Test(arguments: [
        ("0.0.0.0:10400", "tcp://0.0.0.0:10400"), ("127.0.0.1:10400", "tcp://127.0.0.1:10400"),
        ("localhost:80", "tcp://127.0.0.1:80"), ("http://127.0.0.1:1", "tcp://127.0.0.1:1"),
        ("http://0.0.0.0:10480/", "tcp://0.0.0.0:10480"), ("tcp:/1.2.3.4:5", "tcp://1.2.3.4:5"),
        ("10400", "tcp://127.0.0.1:10400"), (":10400", "tcp://127.0.0.1:10400"),
        ("tcp://:10400", "tcp://127.0.0.1:10400"),
        ("*:10400", "tcp://0.0.0.0:10400"), ("[::]:10400", "tcp://[::]:10400"), ("::1:10400", "tcp://[::1]:10400"),
        ("tcp://::1:10400", "tcp://[::1]:10400"), ("/run/x.socket", "unix:///run/x.socket"),
    ])
    func `what is meant by others is named`(text: String, meant: String) {
        do throws(SocketError) {
            _ = try ListenAddress(text)
            Issue.record("accepted: \(text)")
        } catch {
            #expect(error.description.hasSuffix("; write \(meant)"), "\(error)")
        }
    }

    @Test func `only loopback and unix sockets are local`() throws {
        for text in ["tcp://127.0.0.1:1", "tcp://127.9.9.9:1", "tcp://[::1]:1", "tcp://[0::1]:1", "unix:///x"] {
            #expect(try ListenAddress(text).isLocal)
        }
        for text in ["tcp://0.0.0.0:1", "tcp://[::]:1", "tcp://192.168.1.2:1"] {
            #expect(try !ListenAddress(text).isLocal)
        }
    }
}
