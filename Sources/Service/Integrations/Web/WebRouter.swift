import Control
import Core
import Metrics
import Network

/// What a request asks for, and whether it may: a pure function of the request's head.
///
/// Three things protect the service from web pages of other sites that the user's browser has open. A page that binds its own name to
/// this machine's address (DNS rebinding) is recognised by the `Host` header. One that sends requests here is recognised by `Origin`
/// and `Sec-Fetch-Site`. And changes and sound need a token in a header of its own, which no other site knows or may send.
///
/// A proxy that has checked who the user is, such as Home Assistant's, may be named by its address. Then only it gets the page, by any
/// name and below any path, and it needs no token.
struct WebRouter: Sendable {
    enum Route: Equatable, Sendable {
        case page
        /// A stream of messages, with or without the sound's picture, of the service's own audio or of a client's.
        case live(withSound: Bool, client: Int? = nil)
        case metrics(MetricsFormat)
        case health
        case readiness
        /// The last detected and nearly detected words.
        case misses
        /// The recording of one of them, by its number.
        case clip(Int)
        /// The recording of a recent word of a client of the wake-word server, by its number.
        case clientClip(Int)
        /// How far the teaching of a word is.
        case teaching
        /// The sound of one of its takes, by its number.
        case take(Int)
        /// The key of the voice satellite.
        case satelliteKey
        /// A change, whose command is in the body.
        case control
        case refused(WebAnswer)
    }

    /// Names of this machine, in lower case, in addition to addresses and `localhost`.
    let hosts: Set<String>
    /// Addresses of proxies that have checked who the user is.
    var proxies: [IPAddress] = []
    /// Whether there is a detector to show.
    let hasPage: Bool
    /// Compares a token with the valid one.
    let isToken: @Sendable (String) -> Bool

    /// Most bytes of a change.
    static let longestBody = 4096

    /// The route of a request; its body is not looked at.
    func route(_ request: WebRequest) -> Route {
        let isReading = request.method == "GET" || request.method == "HEAD"
        switch request.path {
        // For monitors, which may know the machine by any name; they learn only whether it works.
        case "/healthz": return isReading ? .health : Self.wrongMethod("GET, HEAD")
        case "/readyz": return isReading ? .readiness : Self.wrongMethod("GET, HEAD")
        default: break
        }
        let isTrusted = isTrusted(request)
        if let refusal = isTrusted ? Self.foreign(request) : refusal(request) { return .refused(refusal) }
        if !isTrusted, !proxies.isEmpty, request.path != "/metrics" { return .refused(Self.onlyByProxy) }
        switch request.path {
        case "/metrics":
            return isReading ? .metrics(MetricsFormat(accept: request.accept)) : Self.wrongMethod("GET, HEAD")
        case "/" where hasPage: return isReading ? .page : Self.wrongMethod("GET, HEAD")
        case "/live" where hasPage: return live(request, nil, isTrusted)
        case let path where hasPage && path.hasPrefix("/live/"):
            guard let client = Int(digits: path.dropFirst("/live/".count)) else {
                return .refused(.text(404, "there is no such client; /live names them"))
            }
            return live(request, client, isTrusted)
        case "/misses" where hasPage: return heard(request, .misses)
        case "/teaching" where hasPage: return heard(request, .teaching)
        case "/esphome" where hasPage: return heard(request, .satelliteKey)
        case let path where hasPage && path.hasPrefix("/misses/") && path.hasSuffix(".wav"):
            guard let number = Self.number(in: path, after: "/misses/") else { return .refused(Self.noSuchClip) }
            return heard(request, .clip(number))
        case let path where hasPage && path.hasPrefix("/clients/") && path.hasSuffix(".wav"):
            guard let number = Self.number(in: path, after: "/clients/") else { return .refused(Self.noSuchClip) }
            return heard(request, .clientClip(number))
        case let path where hasPage && path.hasPrefix("/teaching/") && path.hasSuffix(".wav"):
            guard let number = Self.number(in: path, after: "/teaching/") else { return .refused(Self.noSuchClip) }
            return heard(request, .take(number))
        case "/control" where hasPage:
            return request.method == "POST" ? control(request) : Self.wrongMethod("POST")
        default:
            return .refused(
                .text(
                    404,
                    (hasPage
                        ? "there are /, /live, /misses, /teaching, /esphome, /control, "
                        : "without a microphone there is no page; there are ")
                        + "/metrics, /healthz and /readyz"
                )
            )
        }
    }

    private func live(_ request: WebRequest, _ client: Int?, _ isTrusted: Bool) -> Route {
        guard request.method == "GET" else { return Self.wrongMethod("GET") }
        guard !isTrusted, let token = request.token else { return .live(withSound: isTrusted, client: client) }
        return isToken(token) ? .live(withSound: true, client: client) : Self.wrongToken
    }

    private static func number(in path: String, after folder: String) -> Int? {
        Int(digits: path.dropFirst(folder.count).dropLast(".wav".count))
    }

    /// Whether a request comes from a proxy that has checked who the user is.
    func isTrusted(_ request: WebRequest) -> Bool {
        guard !proxies.isEmpty, let peer = request.peer.flatMap({ IPAddress($0) }) else { return false }
        return proxies.contains { $0.includes(peer) }
    }

    /// What was said, and secrets, which are for those who have the token.
    private func heard(_ request: WebRequest, _ route: Route) -> Route {
        guard request.method == "GET" else { return Self.wrongMethod("GET") }
        return withoutToken(request) ?? route
    }

    /// Why a request may not change or hear anything; nil if it may.
    private func withoutToken(_ request: WebRequest) -> Route? {
        guard !isTrusted(request) else { return nil }
        guard let token = request.token else { return Self.noToken }
        return isToken(token) ? nil : Self.wrongToken
    }

    private func control(_ request: WebRequest) -> Route {
        if let refused = withoutToken(request) { return refused }
        let type = request.contentType?.split(separator: ";").first?.lowercased().filter { !$0.isWhitespace }
        guard type == "application/json" else {
            return .refused(.text(415, "a change is JSON, such as {\"command\": \"mute\"}, sent as application/json"))
        }
        if let length = request.contentLength, Int(digits: length).map({ $0 > Self.longestBody }) ?? true {
            return .refused(Self.tooLarge)
        }
        return .control
    }

    static let tooLarge = WebAnswer.text(413, "a change has at most \(longestBody) bytes")

    static let noSuchClip = WebAnswer.text(404, "there is no such recording; /misses and /teaching list them")

    private static let noToken = Route.refused(
        .text(403, "this needs the header \(WebToken.header); beckon web token prints its value")
    )

    private static let wrongToken = Route.refused(
        .text(403, "the token is not valid; beckon web token prints the valid one")
    )

    private static func wrongMethod(_ methods: String) -> Route {
        .refused(.text(405, "only \(methods) here").adding("Allow", methods))
    }

    /// Why a request may come from another site; nil if it does not.
    private func refusal(_ request: WebRequest) -> WebAnswer? {
        guard let host = request.host, let name = Self.name(of: host), isKnown(name) else {
            return .text(
                421,
                "this machine is not known here by the name \(printable(String((request.host ?? "").prefix(80)))); "
                    + "use its address, or add the name to web.hosts in the configuration"
            )
        }
        if let origin = request.origin, !Self.isSame(origin, host) { return Self.otherSite }
        return Self.foreign(request)
    }

    /// Why a browser says that a request comes from another site; nil if it does not.
    private static func foreign(_ request: WebRequest) -> WebAnswer? {
        // Links from elsewhere may lead to the page; what it does is asked for by itself.
        let isLink = request.path == "/" && request.fetchMode == "navigate" && request.method == "GET"
        if let site = request.fetchSite, site != "same-origin", site != "none", !isLink {
            return otherSite
        }
        return nil
    }

    private static let otherSite = WebAnswer.text(403, "requests from other sites are refused")

    private static let onlyByProxy = WebAnswer.text(
        403,
        "only the proxies of web.proxies in the configuration get the page"
    )

    private func isKnown(_ name: String) -> Bool { name == "localhost" || Self.isAddress(name) || hosts.contains(name) }

    /// The name or address of a `Host` header (RFC 9110, 7.2), in lower case and without port and brackets; nil if it is none.
    static func name(of host: String) -> String? {
        // Before the letters become small: some beyond ASCII would become letters of ASCII.
        guard host.utf8.count <= longestHost, host.utf8.allSatisfy(isHostByte) else { return nil }
        let host = host.lowercased()
        if host.hasPrefix("[") {
            guard let end = host.firstIndex(of: "]") else { return nil }
            let rest = host[host.index(after: end)...]
            let address = host[host.index(after: host.startIndex)..<end]
            return isPort(rest) && address.contains(":") && isAddress(String(address)) ? String(address) : nil
        }
        let end = host.firstIndex(of: ":") ?? host.endIndex
        let name = host[..<end]
        guard isPort(host[end...]), !name.isEmpty, !name.contains("["), !name.contains("]") else { return nil }
        return String(name)
    }

    /// A name has at most 253 bytes (RFC 1035), beside which there may be a port.
    private static let longestHost = 260

    /// Letters, digits and what else stands in a host: no blanks, no user's name, nothing beyond ASCII.
    private static func isHostByte(_ byte: UInt8) -> Bool {
        let character = Character(Unicode.Scalar(byte))
        return character.isASCII && (character.isLetter || character.isNumber || "-._:[]".contains(character))
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.isEmpty || text.first == ":" && UInt16(digits: text.dropFirst()).map { $0 > 0 } ?? false
    }

    /// Whether a name is an address in numbers, which no other site can bind to this machine.
    static func isAddress(_ name: String) -> Bool { IPAddress(name).map { $0.zone == nil } ?? false }

    /// Whether an origin is that of a page from this host: `http://HOST`, or `https://HOST` behind a proxy. The host is ASCII.
    static func isSame(_ origin: String, _ host: String) -> Bool {
        guard origin.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return false }
        let (origin, host) = (origin.lowercased(), host.lowercased())
        return origin == "http://" + host || origin == "https://" + host
    }
}
