import JSON
import Metrics
import Network
import Testing

@testable import Web

/// Which requests may ask for what.
struct WebRouterTests {
    private static let token = String(repeating: "a1", count: 32)
    private let router = WebRouter(hosts: ["kitchen", "kitchen.local"], hasPage: true) { WebToken.isEqual($0, token) }

    private func request(_ change: (inout WebRequest) -> Void = { _ in }) -> WebRequest {
        var request = WebRequest()
        request.host = "127.0.0.1:10480"
        change(&request)
        return request
    }

    private func status(_ request: WebRequest) -> UInt32 {
        if case .refused(let answer) = router.route(request) { answer.status } else { 200 }
    }

    @Test func `each path has its route`() {
        for (path, route) in [
            ("/", .page), ("/live", .live(withSound: false)), ("/metrics", .metrics(.prometheus)),
            ("/healthz", .health),
            ("/readyz", .readiness), ("/live/3", .live(withSound: false, client: 3)),
        ] as [(String, WebRouter.Route)] {
            #expect(router.route(request { $0.path = path }) == route)
        }
        let change = request {
            $0.path = "/control"
            $0.method = "POST"
            $0.token = Self.token
            $0.contentType = "application/json; charset=utf-8"
        }
        #expect(router.route(change) == .control)
        let wanted = request {
            $0.path = "/metrics"
            $0.accept = "application/openmetrics-text"
        }
        #expect(router.route(wanted) == .metrics(.openMetrics))
        for path in [
            "/index.html", "/live/", "/live/x", "/live/-1", "/live/3/4", "/metrics/", "//", "", "/LIVE", "/control/x",
        ] {
            #expect(status(request { $0.path = path }) == 404, "\(path)")
        }
    }

    @Test func `other methods are refused, and told which there are`() {
        for (path, method) in [
            ("/", "POST"), ("/live", "HEAD"), ("/metrics", "PUT"), ("/healthz", "DELETE"), ("/readyz", "POST"),
            ("/control", "GET"), ("/control", "OPTIONS"), ("/", "get"), ("/", ""),
        ] {
            guard
                case .refused(let answer) = router.route(
                    request {
                        $0.path = path
                        $0.method = method
                    }
                )
            else {
                Issue.record("\(method) \(path) is not refused")
                continue
            }
            #expect(answer.status == 405 && answer.headers.contains { $0.name == "Allow" })
        }
    }

    @Test(
        arguments: [
            ("127.0.0.1:10480", true), ("127.0.0.1", true), ("192.168.1.10:80", true), ("[::1]:10480", true),
            ("[fe80::1]", true),
            ("localhost:10480", true), ("LOCALHOST", true), ("kitchen:10480", true), ("Kitchen.Local", true),
            ("evil.example:10480", false), ("kitchen.local.evil.example", false), ("127.0.0.1.evil.example", false),
            ("", false), (":10480", false), ("127.0.0.1:port", false), ("127.0.0.1:99999", false), ("[::1", false),
            ("[localhost]", false), ("[::1]evil.example", false), ("1.2.3", false), ("1.2.3.4.5", false),
            ("1.2.3.256", false),
            ("localhost.", false), ("user@localhost", false), ("::1", false), (nil, false),
            // What other programs take for a name, which anyone may bind to this machine's address (DNS rebinding).
            ("1.2.3.+4", false), ("+1.2.3.4:80", false), ("1.2.3.4.", false), ("1.2.3.4.:80", false),
            ("01.2.3.4", false),
            ("0x7f.0.0.1", false), ("127.1", false), ("2130706433", false), ("1.2.3.٤", false), ("１.2.3.4", false),
            ("127.0.0.1:+80", false), ("127.0.0.1:٨٠", false), ("127.0.0.1:", false), ("127.0.0.1:0", false),
            ("127.0.0.1:80:80", false), ("127.0.0.1 ", false), ("a@127.0.0.1", false),
            ("127.0.0.1@evil.example", false),
            ("127.0.0.1,evil.example", false), ("127.0.0.1/", false), ("127.0.0.1#", false), ("[::1].", false),
            ("[::1]:+80", false), ("[::1%25lo]", false), ("[::1%lo]", false), ("[:]", false), ("[dead:beef]", false),
            ("[1.2.3.4]", false), ("[::１]", false), ("[::1", false), ("[[::1]]", false), ("::1]", false),
            ("\u{212A}itchen", false), ("kitchen\u{0}", false), ("kitchen.", false), ("k\u{131}tchen", false),
            ("[0:0:0:0:0:0:0:1]:1", true), ("[::ffff:127.0.0.1]", true), ("kitchen.local:65535", true),
        ] as [(String?, Bool)]
    )
    func `only addresses and known names are hosts`(host: String?, isKnown: Bool) {
        for path in ["/", "/live", "/metrics"] {
            let status = status(
                request {
                    $0.host = host
                    $0.path = path
                }
            )
            #expect(status == (isKnown ? 200 : 421), "\(path)")
        }
        // Monitors may know the machine by any name.
        let monitor = request {
            $0.host = host
            $0.path = "/readyz"
        }
        #expect(self.status(monitor) == 200)
    }

    @Test func `requests of pages of other sites are refused`() {
        for (origin, site, mode, path, expected) in [
            ("http://127.0.0.1:10480", "same-origin", "cors", "/live", 200),
            ("https://127.0.0.1:10480", "same-origin", "cors", "/live", 200),
            (nil, "none", "navigate", "/", 200), (nil, nil, nil, "/metrics", 200),
            ("http://evil.example", nil, nil, "/live", 403), ("null", nil, nil, "/live", 403),
            ("", nil, nil, "/live", 403),
            ("http://127.0.0.1", nil, nil, "/live", 403),
            ("http://127.0.0.1:10480.evil.example", nil, nil, "/live", 403),
            (nil, "cross-site", "cors", "/live", 403), (nil, "same-site", "no-cors", "/metrics", 403),
            (nil, "cross-site", "no-cors", "/", 403), (nil, "CROSS-SITE", "cors", "/", 403),
            // A link from elsewhere may lead to the page, and to nothing else.
            (nil, "cross-site", "navigate", "/", 200), (nil, "cross-site", "navigate", "/metrics", 403),
        ] as [(String?, String?, String?, String, UInt32)] {
            let request = request {
                ($0.origin, $0.fetchSite, $0.fetchMode, $0.path) = (origin, site, mode, path)
            }
            #expect(status(request) == expected, "\(origin ?? "-") \(site ?? "-") \(mode ?? "-") \(path)")
        }
    }

    @Test func `changes and sound need the token, changes also JSON of a bounded length`() {
        func change(_ edit: (inout WebRequest) -> Void) -> UInt32 {
            status(
                request {
                    ($0.path, $0.method, $0.token, $0.contentType) = (
                        "/control", "POST", Self.token, "application/json"
                    )
                    edit(&$0)
                }
            )
        }
        #expect(change { _ in } == 200)
        #expect(change { $0.token = nil } == 403)
        #expect(change { $0.token = "" } == 403)
        #expect(change { $0.token = String(Self.token.dropLast()) } == 403)
        #expect(change { $0.token = String(Self.token.dropLast()) + "2" } == 403)
        #expect(change { $0.contentType = "text/plain" } == 415)
        #expect(change { $0.contentType = nil } == 415)
        #expect(change { $0.contentLength = "4096" } == 200)
        #expect(change { $0.contentLength = "4097" } == 413)
        #expect(change { $0.contentLength = "-" } == 413)
        #expect(change { $0.origin = "http://evil.example" } == 403)
        #expect(
            router.route(
                request {
                    $0.path = "/live"
                    $0.token = Self.token
                }
            ) == .live(withSound: true)
        )
        #expect(
            status(
                request {
                    $0.path = "/live"
                    $0.token = "x"
                }
            ) == 403
        )
    }

    @Test func `near misses, takes and their recordings need the token`() {
        let routes: [(String, WebRouter.Route)] = [
            ("/misses", .misses), ("/misses/12.wav", .clip(12)), ("/teaching", .teaching), ("/esphome", .satelliteKey),
            ("/teaching/0.wav", .take(0)), ("/clients/3.wav", .clientClip(3)),
        ]
        for (path, route) in routes {
            #expect(
                router.route(
                    request {
                        $0.path = path
                        $0.token = Self.token
                    }
                ) == route
            )
            #expect(status(request { $0.path = path }) == 403)
            #expect(
                status(
                    request {
                        ($0.path, $0.token, $0.method) = (path, Self.token, "POST")
                    }
                ) == 405
            )
        }
        for path in [
            "/misses/", "/misses/.wav", "/misses/x.wav", "/misses/1", "/misses/../1.wav", "/misses/1.wav/",
            "/teaching/", "/teaching/x.wav", "/teaching/-1.wav", "/clients", "/clients/-1.wav", "/clients/x.wav",
        ] {
            let status = status(
                request {
                    ($0.path, $0.token) = (path, Self.token)
                }
            )
            #expect(status == 404, "\(path)")
        }
    }

    /// As Home Assistant's ingress asks: with the browser's host and origin, whatever they are.
    @Test func `a proxy that is named gets the page by any name, without a token`() throws {
        let proxy = try #require(IPAddress("172.30.32.2"))
        let router = WebRouter(hosts: [], proxies: [proxy], hasPage: true) { _ in false }
        func route(_ path: String, _ peer: String?, _ edit: (inout WebRequest) -> Void = { _ in }) -> WebRouter.Route {
            router.route(
                request {
                    ($0.path, $0.peer, $0.host, $0.origin) = (path, peer, "house.example:8123", "https://house.example")
                    edit(&$0)
                }
            )
        }
        func status(_ route: WebRouter.Route) -> UInt32 {
            if case .refused(let answer) = route { answer.status } else { 200 }
        }
        func change(_ request: inout WebRequest) {
            (request.method, request.contentType) = ("POST", "application/json")
        }
        #expect(route("/", "172.30.32.2") == .page)
        #expect(route("/live", "172.30.32.2") == .live(withSound: true))
        // What a browser kept from elsewhere does not matter.
        #expect(route("/live", "172.30.32.2") { $0.token = "old" } == .live(withSound: true))
        #expect(route("/misses", "172.30.32.2") == .misses)
        #expect(route("/control", "172.30.32.2", change) == .control)
        #expect(status(route("/control", "172.30.32.2") { $0.method = "POST" }) == 415)
        // The page of another site in the same browser.
        #expect(
            status(
                route("/control", "172.30.32.2") {
                    change(&$0)
                    $0.fetchSite = "cross-site"
                }
            ) == 403
        )
        #expect(status(route("/live", "172.30.32.2") { $0.fetchSite = "same-site" }) == 403)
        // Others: a neighbour, a unix socket, and one that only says that it is the proxy.
        for peer in ["172.30.32.3", "127.0.0.1", "172.30.32.2 ", nil] {
            for path in [
                "/", "/live", "/misses", "/teaching", "/esphome", "/teaching/0.wav", "/clients/1.wav", "/control",
            ] {
                #expect(status(route(path, peer, change)) == 421)
                let local = route(path, peer) { ($0.host, $0.origin) = ("127.0.0.1", nil) }
                #expect(status(local) == 403, "\(path)")
            }
            #expect(route("/metrics", peer) { ($0.host, $0.origin) = ("127.0.0.1", nil) } == .metrics(.prometheus))
            #expect(route("/readyz", peer) == .readiness)
        }
    }

    @Test func `a proxy's address is recognised in every spelling`() throws {
        for (configured, peer, isProxy) in [
            ("fd00::2", "fd00:0:0:0:0:0:0:2", true), ("FD00:0::0002", "fd00::2", true), ("fd00::2", "fd00::3", false),
            ("::ffff:172.30.32.2", "172.30.32.2", true), ("172.30.32.2", "::ffff:ac1e:2002", true),
            ("fe80::1", "fe80::1%eth0", true), ("fe80::1%eth0", "fe80::1%eth0", true),
            ("fe80::1%eth0", "fe80::1%eth1", false), ("fe80::1%eth0", "fe80::1", false), ("::2", "0.0.0.2", false),
        ] {
            let proxy = try #require(IPAddress(configured))
            let router = WebRouter(hosts: [], proxies: [proxy], hasPage: true) { _ in false }
            #expect(router.isTrusted(request { $0.peer = peer }) == isProxy, "\(configured), \(peer)")
        }
    }

    @Test func `without a detector there is no page`() {
        let alone = WebRouter(hosts: [], hasPage: false) { _ in true }
        for path in ["/", "/live", "/control"] {
            guard case .refused(let answer) = alone.route(request { $0.path = path }) else {
                Issue.record("\(path) is there")
                continue
            }
            #expect(answer.status == 404 && String(decoding: answer.body, as: UTF8.self).contains("there are /metrics"))
        }
        #expect(alone.route(request { $0.path = "/readyz" }) == .readiness)
    }
}
