import Core
import Glibc
import Metrics
import Network
import System

@testable import Web

/// The token that the fuzzed server takes.
private let token = String(repeating: "5e", count: 32)

/// A server without a service: it counts the changes that it would make.
private final class Server {
    var changes = 0
    private(set) var loop: HTTPLoop?

    init() {
        let router = WebRouter(hosts: ["kitchen"], hasPage: true) { WebToken.isEqual($0, token) }
        guard let library = HTTPLibrary() else { fatalError("libmicrohttpd is not installed") }
        let handler = HTTPLoop.Handler(
            isVital: { [.health, .readiness].contains(router.route($0)) },
            refuse: { request in
                if case .refused(let answer) = router.route(request) { answer } else { nil }
            },
            perform: { [unowned self] request, _ in
                switch router.route(request) {
                case .misses, .clip, .clientClip, .teaching, .take:
                    changes += 1
                    check(request.token == token, "what was said without the token")
                    return .answer(.text(200, "heard"))
                case .control:
                    changes += 1
                    check(request.token == token, "a change without the token")
                    check(request.body.count <= WebRouter.longestBody, "a body of \(request.body.count) bytes")
                    return .answer(.text(200, "changed"))
                case .live: return .stream("text/event-stream", Few())
                case .page: return .answer(LivePage.answer)
                case .refused: fatalError("a refused request goes on")
                default: return .answer(.text(200, "ok"))
                }
            }
        )
        loop = try? HTTPLoop(library, HTTPLoop.Limits(), handler)
    }

    /// A stream of three messages.
    private final class Few: MessageSource {
        private var left = 3
        var hasMore: Bool { true }
        func next() -> [UInt8]? {
            left -= 1
            return left < 0 ? nil : Array("event: x\ndata: y\n\n".utf8)
        }
    }
}

/// All runs are on one thread.
nonisolated(unsafe) private let server = Server()

/// A client's bytes, as they are: no change without the token, each connection ends, and answers are HTTP.
func fuzzWeb(_ bytes: [UInt8]) {
    guard let loop = server.loop else { fatalError("the server does not start") }
    server.changes = 0
    var ends: [Int32] = [-1, -1]
    check(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0, "socketpair")
    loop.add(Network.Connection(FileDescriptor(ends[0]), .unknown))
    let client = FileDescriptor(ends[1])
    _ = send(client.rawValue, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    shutdown(client.rawValue, Int32(SHUT_WR))
    var answer: [UInt8] = []
    var room = [UInt8](repeating: 0, count: 1 << 16)
    for _ in 0..<200 where loop.connectionCount > 0 {
        loop.turn()
        loop.resumeStreams()
        let count = recv(client.rawValue, &room, room.count, 0)
        if count > 0 { answer += room[..<count] }
    }
    // A request that its client ends in the middle keeps its connection for as long as a slow one; a client that is gone does not.
    shutdown(client.rawValue, Int32(SHUT_RDWR))
    let end = Clock.now + .seconds(5)
    while loop.connectionCount > 0, Clock.now < end {
        loop.turn()
        loop.resumeStreams()
    }
    close(client.rawValue)
    check(loop.connectionCount == 0 && loop.streamCount == 0, "a connection goes on")
    check(answer.isEmpty || answer.starts(with: "HTTP/1.".utf8), "an answer that is not HTTP")
    let text = String(decoding: bytes, as: UTF8.self)
    check(server.changes == 0 || text.contains(token), "a change without the token")
    checkNames(text)
}

/// A host is known only if it is an address, `localhost` or a name of the machine; and metrics with such a label stay lines.
private func checkNames(_ text: String) {
    let router = WebRouter(hosts: ["kitchen"], hasPage: true) { _ in false }
    var request = WebRequest()
    request.host = text
    if case .refused = router.route(request) {
    } else {
        let name = WebRouter.name(of: text) ?? ""
        check(name == "localhost" || name == "kitchen" || WebRouter.isAddress(name), "host \(text)")
    }
    // By bytes: to Swift, a carriage return and the newline after it are one character.
    let lines = MetricsFormat(accept: text).text([.gauges("beckon_x", text, [([.init("word", text)], 1)])]).utf8
        .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    check(lines.count == 4 || lines.count == 5 && lines[3].elementsEqual("# EOF".utf8), "a label breaks its line")
}
