import Configuration
import Core
import Network
import System

/// Posts JSON to a web server, with one timeout for all of it.
struct Webhook: Sendable {
    let address: WebAddress
    /// Seconds.
    let timeout: Double
    /// See ``HTTPRequest/caFile``.
    var caFile: String?
    /// Whether redirects to the same host and port are followed: 301, 302, 307 and 308, by posting again.
    var followsRedirects = false

    private static let mostRedirects = 5

    /// Posts `body`. Returns the status of the answer, 200…299. Blocks until then.
    ///
    /// - Throws: ``ActionError/webhook`` or ``ActionError/timedOut``.
    @discardableResult
    func post(_ body: String, stop: EventFD?) throws(ActionError) -> Int {
        let start = Clock.now
        var address = address
        for _ in 0...Self.mostRedirects {
            let answer = try post(body, to: address, since: start, stop)
            if (200..<300).contains(answer.status) { return answer.status }
            guard (300..<400).contains(answer.status) else {
                throw .webhook.saying("\(address.text) answered \(answer.status); check the server's log")
            }
            guard followsRedirects, [301, 302, 307, 308].contains(answer.status), let redirect = answer.redirect else {
                throw .webhook.saying(
                    "\(address.text) answered \(answer.status), a redirect, which is not followed; post to the new address"
                )
            }
            address = try next(redirect, after: address)
        }
        throw .webhook.saying(
            "\(self.address.text) redirects more than \(Self.mostRedirects) times; check the server's settings"
        )
    }

    private func post(_ body: String, to address: WebAddress, since start: Instant, _ stop: EventFD?)
        throws(ActionError) -> HTTPRequest.Answer
    {
        var request = HTTPRequest(address.text, host: address.host, body: body)
        (request.caFile, request.isDirect) = (caFile, address.isLoopback)
        request.readsRedirects = followsRedirects
        do throws(HTTPError) {
            return try request.post(timeout: timeout, since: start, stop: stop)
        } catch {
            throw (error.isLate ? ActionError.timedOut : .webhook).saying(error.description)
        }
    }

    /// Words go to no service that the configuration does not name: on another port of the same host may be another one, of another user.
    private func next(_ redirect: String, after address: WebAddress) throws(ActionError) -> WebAddress {
        guard let next = try? WebAddress(redirect), next.isSameOrigin(as: address) || next.isSecured(address) else {
            throw .webhook.saying(
                "\(address.text) redirects to \(redirect), another host or port, or one without TLS, which is not followed; "
                    + "post to the new address"
            )
        }
        return next
    }
}
