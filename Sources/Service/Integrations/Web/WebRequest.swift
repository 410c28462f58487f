/// A request, as far as it matters here. A pure value.
struct WebRequest: Equatable, Sendable {
    /// Such as `GET`; as the client wrote it.
    var method = "GET"
    /// Decoded, without the query.
    var path = "/"
    var host: String?
    /// The client's address in numbers; nil on a unix socket.
    var peer: String?
    var origin: String?
    /// `Sec-Fetch-Site` and `Sec-Fetch-Mode`, which browsers send.
    var fetchSite: String?
    var fetchMode: String?
    var accept: String?
    var contentType: String?
    var contentLength: String?
    /// What ``WebToken/header`` carries.
    var token: String?
    var body: [UInt8] = []

    /// The headers that are read, by name.
    static let headers: [(name: String, path: any WritableKeyPath<WebRequest, String?> & Sendable)] = [
        ("Host", \.host), ("Origin", \.origin), ("Sec-Fetch-Site", \.fetchSite), ("Sec-Fetch-Mode", \.fetchMode),
        ("Accept", \.accept), ("Content-Type", \.contentType), ("Content-Length", \.contentLength),
        (WebToken.header, \.token),
    ]
}

/// The answer to a request. A pure value.
struct WebAnswer: Equatable, Sendable {
    var status: UInt32
    var contentType: String
    /// In addition to those of every answer.
    var headers: [Header] = []
    var body: [UInt8]

    struct Header: Equatable, Sendable {
        var name: String
        var value: String
    }

    init(_ status: UInt32 = 200, _ contentType: String, _ body: String) {
        self.status = status
        self.contentType = contentType
        self.body = Array(body.utf8)
    }

    init(_ contentType: String, _ bytes: [UInt8]) {
        status = 200
        self.contentType = contentType
        body = bytes
    }

    static func text(_ status: UInt32, _ line: String) -> WebAnswer {
        WebAnswer(status, "text/plain; charset=utf-8", line + "\n")
    }

    func adding(_ name: String, _ value: String) -> WebAnswer {
        var answer = self
        answer.headers.append(Header(name: name, value: value))
        return answer
    }

    /// The same answer, which a page of the same origin may show in a frame.
    var framed: WebAnswer {
        let isPolicy = { (header: Header) in header.name == "Content-Security-Policy" }
        let policy = headers.first(where: isPolicy)?.value ?? Self.closedPolicy
        var answer = self
        answer.headers.removeAll(where: isPolicy)
        return answer.adding("X-Frame-Options", "SAMEORIGIN")
            .adding(
                "Content-Security-Policy",
                policy.replacing("frame-ancestors 'none'", with: "frame-ancestors 'self'")
            )
    }

    /// What every answer carries, unless it has a header of that name: nothing is kept by caches, guessed, framed or handed to other sites.
    static let safety: [Header] = [
        Header(name: "Cache-Control", value: "no-store"), Header(name: "X-Content-Type-Options", value: "nosniff"),
        Header(name: "X-Frame-Options", value: "DENY"), Header(name: "Referrer-Policy", value: "no-referrer"),
        Header(name: "Cross-Origin-Resource-Policy", value: "same-origin"),
        Header(name: "Cross-Origin-Opener-Policy", value: "same-origin"),
    ]

    /// The policy of answers that are not page.
    static let closedPolicy = "default-src 'none'; frame-ancestors 'none'"
}
