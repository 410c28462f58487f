import Configuration
private import Core
import Glibc
import System

/// Posts JSON to a web server: one HTTP/1.1 request per connection, with one timeout for all of it, the look-up of the
/// name included.
///
/// Redirects are not followed, and only the status of the answer is read.
struct Webhook: Sendable {
    let address: WebAddress
    /// Seconds.
    let timeout: Double
    /// Finds the addresses of the host; may block.
    var resolve: NameLookup.Resolver = NameLookup.system

    /// Posts `body`. Returns the status of the answer, 200…299. Blocks until then.
    ///
    /// - Throws: ``ActionError/webhook`` or ``ActionError/timedOut``.
    @discardableResult
    func post(_ body: String, stop: EventFD?) throws(ActionError) -> Int {
        let deadline = Clock.now + .seconds(timeout)
        let connection = try connect(deadline: deadline, stop: stop)
        let request = """
            POST \(address.target) HTTP/1.1\r
            Host: \(address.authority)\r
            Content-Type: application/json\r
            Content-Length: \(body.utf8.count)\r
            User-Agent: beckon\r
            Connection: close\r
            \r
            \(body)
            """
        try send(Array(request.utf8), connection, deadline: deadline, stop: stop)
        let status = try readStatus(connection, deadline: deadline, stop: stop)
        switch status {
        case 200..<300: return status
        case 300..<400:
            throw .webhook.saying(
                "\(address.text) answered \(status), a redirect, which is not followed; post to the new address"
            )
        default: throw .webhook.saying("\(address.text) answered \(status); check the server's log")
        }
    }

    private func connect(deadline: Instant, stop: EventFD?) throws(ActionError) -> FileDescriptor {
        let found = try addresses(deadline: deadline, stop: stop)
        var failure = ActionError.webhook.saying("\(address.text): the name has no address that may be used")
        // `localhost` must be this machine, even if a name server says otherwise.
        for place in found where !address.isLoopback || place.isLoopback {
            let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
            let connection = FileDescriptor(socket(place.family, type, 0))
            guard connection.isOpen else { continue }
            do throws(ActionError) {
                try connect(connection, place, deadline: deadline, stop: stop)
                return connection
            } catch {
                failure = error
            }
        }
        throw failure
    }

    /// The addresses of the host; a look-up of a name has a thread of its own.
    private func addresses(deadline: Instant, stop: EventFD?) throws(ActionError) -> [NetworkAddress] {
        if let numeric = NameLookup.numeric(host: address.host, port: address.port) { return numeric }
        let lookup = try NameLookup(host: address.host, port: address.port, resolve)
        let reason = "the name server does not answer"
        try wait(lookup.descriptor, POLLIN, deadline: deadline, stop: stop, lateBecause: reason)
        switch lookup.result {
        case .success(let addresses): return addresses
        case .failure(let failure):
            throw .webhook.saying("cannot find \(address.host): \(failure.text); check the name")
        }
    }

    private func connect(
        _ connection: borrowing FileDescriptor,
        _ place: NetworkAddress,
        deadline: Instant,
        stop: EventFD?
    ) throws(ActionError) {
        let refusal = place.connect(connection.rawValue)
        if refusal == 0 { return }
        guard refusal == EINPROGRESS else { throw unreachable(refusal) }
        try wait(connection.rawValue, POLLOUT, deadline: deadline, stop: stop)
        var number: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(connection.rawValue, SOL_SOCKET, SO_ERROR, &number, &size)
        if number != 0 { throw unreachable(number) }
    }

    private func unreachable(_ number: Int32) -> ActionError {
        .webhook.saying("cannot reach \(address.text): \(SystemError.text(number)); \(Self.remedy(number))")
    }

    /// What to do when a connection fails with this `errno`.
    static func remedy(_ number: Int32) -> String {
        switch number {
        // What the firewall of systemd's unit answers.
        case EPERM, EACCES: "allow the address: IPAddressAllow= in systemctl edit beckon"
        case EHOSTUNREACH, ENETUNREACH: "is the machine on, and in a network that this one reaches?"
        default: "is the server running?"
        }
    }

    private func send(
        _ bytes: [UInt8],
        _ connection: borrowing FileDescriptor,
        deadline: Instant,
        stop: EventFD?
    ) throws(ActionError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(connection.rawValue, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                try wait(connection.rawValue, POLLOUT, deadline: deadline, stop: stop)
            } else if errno != EINTR {
                throw broken("send: \(SystemError.text(errno))")
            }
        }
    }

    /// The most bytes of an answer that are read: a server may send without end.
    private static let longestAnswer = 4096

    /// Reads the status of the answer. Interim answers (1xx; RFC 9110, 15.2) before it are skipped; what comes after the line
    /// `HTTP/1.1 204 No Content` is not read.
    private func readStatus(_ connection: borrowing FileDescriptor, deadline: Instant, stop: EventFD?)
        throws(ActionError)
        -> Int
    {
        var line: [UInt8] = []
        var isInterim = false
        for _ in 0..<Self.longestAnswer {
            let byte = try readByte(connection, deadline: deadline, stop: stop)
            guard byte == 10 else {
                line.append(byte)
                continue
            }
            if isInterim {
                // An empty line ends the headers of an interim answer.
                isInterim = !line.allSatisfy { $0 == 13 }
            } else {
                guard let status = Self.status(ofLine: line) else { break }
                // 101 changes the protocol, which was not asked for.
                guard (100..<200).contains(status), status != 101 else { return status }
                isInterim = true
            }
            line.removeAll(keepingCapacity: true)
        }
        throw broken("it does not speak HTTP/1")
    }

    private func readByte(_ connection: borrowing FileDescriptor, deadline: Instant, stop: EventFD?)
        throws(ActionError)
        -> UInt8
    {
        var byte: UInt8 = 0
        while true {
            let count = recv(connection.rawValue, &byte, 1, 0)
            if count == 1 { return byte }
            if count == 0 { throw broken("it closed the connection before it answered") }
            if errno == EAGAIN {
                try wait(connection.rawValue, POLLIN, deadline: deadline, stop: stop)
            } else if errno != EINTR {
                throw broken("recv: \(SystemError.text(errno))")
            }
        }
    }

    /// The status of a status line (RFC 9112), without its line feed: exactly three digits, 100 to 599; nil for any other line.
    static func status(ofLine line: [UInt8]) -> Int? {
        let line = line.last == 13 ? line.dropLast() : line[...]
        let parts = line.split(separator: 32, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[0].starts(with: "HTTP/1.".utf8), parts[1].count == 3,
            parts[1].allSatisfy({ (48...57).contains($0) })
        else { return nil }
        let status = parts[1].reduce(0) { $0 * 10 + Int($1 - 48) }
        return (100..<600).contains(status) ? status : nil
    }

    private func broken(_ reason: String) -> ActionError {
        .webhook.saying("\(address.text) gave no valid answer: \(reason); check the server's log")
    }

    private func wait(
        _ descriptor: Int32,
        _ events: Int32,
        deadline: Instant,
        stop: EventFD?,
        lateBecause reason: String? = nil
    ) throws(ActionError) {
        var requests = [Poll.request(descriptor, events), Poll.request(stop?.descriptor ?? -1, POLLIN)]
        Poll.wait(&requests, until: deadline)
        if requests[1].revents != 0 { throw .webhook.saying("\(address.text): cancelled, the service is stopping") }
        guard requests[0].revents != 0 else {
            throw .timedOut.saying(
                "\(address.text) took longer than \(shortest(timeout)) s; \(reason ?? "check the server's log")"
            )
        }
    }
}
