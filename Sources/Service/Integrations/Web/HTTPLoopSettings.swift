public import Metrics

/// Where messages for one client come from, until it leaves.
protocol MessageSource: AnyObject {
    /// Whether ``next()`` would give something now.
    var hasMore: Bool { get }
    /// The next message; empty if there is none now, nil at the end.
    func next() -> [UInt8]?
}

extension HTTPLoop {
    struct Limits {
        var connections = 64
        /// How many of them one peer may have.
        var perPeer = 32
        /// Connections beyond these, for ``Handler/isVital`` requests alone: monitors are answered, whoever holds the others.
        var reserved = 8
        /// Most clients that get streams of messages.
        var streams = 8
        /// The time for a whole request, from the connection or the answer before, and for a whole answer.
        var timeout = Duration.seconds(10)
        /// Bytes for the heads of request and answer of a connection.
        var memory = 16 << 10
        var body = WebRouter.longestBody
    }

    enum Outcome {
        case answer(WebAnswer)
        /// The answer comes by ``answer(_:_:)``, with the number that was given.
        case later
        /// A response without an end, of this content type.
        case stream(String, any MessageSource)
    }

    /// What the owner does with requests.
    struct Handler {
        /// Whether a request is answered on the connections that are reserved.
        var isVital: (WebRequest) -> Bool
        /// Refuses a request by its head, before its body is read; nil goes on.
        var refuse: (WebRequest) -> WebAnswer?
        /// Answers a whole request, which has this number.
        var perform: (WebRequest, UInt64) -> Outcome
    }
}

extension WebServer {
    /// What has happened so far.
    public struct Counts: Counted, Equatable {
        /// Connections, and open pages among them, now.
        var connections = 0
        var pages = 0
        var accepted = 0
        var requests = 0
        /// Connections beyond the limit, and streams beyond theirs.
        var refused = 0
        /// Connections ended because no whole request came in time, or another connection needed the place meanwhile.
        var silent = 0
        /// Connections ended because the client did not read in time.
        var slow = 0

        public static let counters: [Counter<Counts>] = [
            Counter("connections", \.connections)
                .gauge("beckon_web_connections", "Connections to the web server that are open."),
            Counter("pages", \.pages), Counter("accepted", \.accepted),
            Counter("requests", \.requests).counter("beckon_web_requests", "Requests to the web server."),
            Counter("refused", \.refused).metric(dropped, .init("reason", "limit")),
            Counter("silent", \.silent).metric(dropped, .init("reason", "silent")),
            Counter("slow", \.slow).metric(dropped, .init("reason", "slow")),
        ]

        private static let dropped = MetricFamily.counters(
            "beckon_web_connections_dropped",
            "Connections to the web server that it ended or refused."
        )
    }
}
