import CCurl
public import Core
import Synchronization
public import System

/// A POST request by HTTP/1.1, over TLS where its address says so, on a connection of its own.
///
/// By libcurl, which is loaded for the first one. Proxies are those of the environment (`https_proxy`, `no_proxy` and others, as libcurl
/// reads them). Of the answer only the status is read.
public struct HTTPRequest: Sendable {
    /// Such as `https://example.org:8443/path`.
    public var address: String
    /// The name or the address in `address`; IPv6 without brackets.
    public var host: String
    public var body: String
    public var contentType = "application/json"
    /// The certificates of the authorities that are trusted, in PEM format; nil: those of the system.
    public var caFile: String?
    /// Whether it goes to this machine, and so never through a proxy.
    public var isDirect = false
    /// Whether ``Answer/redirect`` is wanted.
    public var readsRedirects = false

    public init(_ address: String, host: String, body: String) {
        (self.address, self.host, self.body) = (address, host, body)
    }

    /// What a server answered.
    public struct Answer: Sendable {
        /// 200…999, or 101.
        public let status: Int
        /// The address to which it redirects.
        public let redirect: String?
    }

    /// Loads libcurl, so that the first request does not wait for that. Returns false if it is not installed.
    public static func prepare() -> Bool { CurlLibrary.loaded != nil }

    public static let noLibrary = "libcurl is not installed; apt install libcurl4"

    private static let lookups = Mutex(AbandonedLookups())

    /// Posts, and waits for the answer. Blocks until then.
    ///
    /// - Parameters:
    ///   - timeout: for all of it since `start`, the look-up of the name included, in seconds.
    ///   - stop: cancels it when it is signalled.
    /// - Throws: ``HTTPError``.
    public func post(timeout: Double, since start: Instant = Clock.now, stop: EventFD?) throws(HTTPError) -> Answer {
        guard let library = CurlLibrary.loaded else { throw HTTPError(Self.noLibrary) }
        guard isDirect || IPAddress(host) != nil || Self.lookups.withLock({ $0.mayBegin(at: Clock.now) }) else {
            throw HTTPError(
                "cannot find \(host): \(AbandonedLookups.limit) look-ups wait for the name server already; check it"
            )
        }
        guard let transfer = CurlTransfer(library, self) else { throw HTTPError("\(address): no memory is left") }
        let deadline = start + .seconds(timeout)
        while true {
            if let end = transfer.run() {
                // However it ended after that: the rest of an answer is not wanted.
                guard let status = transfer.status else { throw failure(transfer, end) }
                return Answer(status: status, redirect: transfer.redirect)
            }
            let isStopped = transfer.wait(until: deadline, stop: stop)
            guard isStopped || Clock.now >= deadline else { continue }
            // The thread that looks the name up stays until the C library gives up.
            if !transfer.has(CURLINFO_NAMELOOKUP_TIME_T) { Self.lookups.withLock { $0.add(at: Clock.now) } }
            guard !isStopped else { throw HTTPError("\(address): cancelled, the service is stopping") }
            throw late(transfer, timeout)
        }
    }
}

/// Look-ups of names that were given up. Their threads stay until the C library gives up too, after half a minute or so: so they are
/// bounded.
struct AbandonedLookups {
    static let limit = 16
    private static let longest = Duration.seconds(60)

    private var ends: [Instant] = []

    /// Whether there may be another look-up.
    mutating func mayBegin(at now: Instant) -> Bool {
        ends.removeAll { $0 <= now }
        return ends.count < Self.limit
    }

    mutating func add(at now: Instant) { ends.append(now + Self.longest) }
}
