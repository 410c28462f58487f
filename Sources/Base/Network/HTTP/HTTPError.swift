import CCurl
import Core
import Glibc
import System

/// Why a request failed. The text is one line: the address, what happened and what to do.
public struct HTTPError: Error, Equatable, Sendable, CustomStringConvertible {
    public let description: String
    /// Whether it took too long.
    public let isLate: Bool

    init(_ description: String, isLate: Bool = false) { (self.description, self.isLate) = (description, isLate) }

    /// What to do when a connection fails with this `errno`.
    static func remedy(_ number: Int32) -> String {
        switch number {
        // What the firewall of systemd's unit answers.
        case EPERM, EACCES: "allow the address: IPAddressAllow= in systemctl edit beckon"
        case EHOSTUNREACH, ENETUNREACH: "is the machine on, and in a network that this one reaches?"
        default: "is the server running?"
        }
    }
}

extension HTTPRequest {
    private var isSecure: Bool { address.lowercased().hasPrefix("https:") }

    func late(_ transfer: borrowing CurlTransfer, _ timeout: Double) -> HTTPError {
        let reason =
            if !transfer.has(CURLINFO_NAMELOOKUP_TIME_T) {
                "the name server does not answer"
            } else if isSecure, !transfer.has(CURLINFO_APPCONNECT_TIME_T) {
                "its machine does not answer by TLS: is it on, is the port that of https, does a firewall drop it?"
            } else if !transfer.has(CURLINFO_CONNECT_TIME_T) {
                "its machine does not answer: is it on, does a firewall drop the port?"
            } else {
                "check the server's log"
            }
        return HTTPError("\(address) took longer than \(shortest(timeout)) s; \(reason)", isLate: true)
    }

    func failure(_ transfer: borrowing CurlTransfer, _ code: CURLcode) -> HTTPError {
        let text = printable(transfer.reason(code))
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST:
            return HTTPError("cannot find \(host); check the name, and whether the name server may be reached")
        case CURLE_COULDNT_RESOLVE_PROXY:
            return HTTPError(
                "\(address): cannot find the proxy (\(text)); check the variable \(isSecure ? "https" : "http")_proxy"
            )
        case CURLE_COULDNT_CONNECT:
            let number = Int32(clamping: transfer.number(CURLINFO_OS_ERRNO))
            let cause = number == 0 ? text : SystemError.text(number)
            return HTTPError("cannot reach \(address): \(cause); \(HTTPError.remedy(number))")
        case CURLE_PEER_FAILED_VERIFICATION:
            return HTTPError("\(address): \(refusal(verified: transfer.number(CURLINFO_SSL_VERIFYRESULT), text))")
        case CURLE_SSL_CACERT_BADFILE:
            return HTTPError(
                caFile.map { path in
                    "\(address): caFile \(path): \(certificateProblem(path) ?? text); name the file with the certificate of its authority"
                }
                    ?? "\(address): the system has no certificates of authorities (\(text)); apt install ca-certificates, or set caFile"
            )
        case CURLE_SSL_CONNECT_ERROR:
            let isPlain = ["wrong version number", "packet length", "http request"].contains { text.contains($0) }
            return HTTPError(
                isPlain
                    ? "\(address): what answers does not speak TLS; use the port of https, or http://"
                    : "\(address): TLS failed (\(text)); check the server's log"
            )
        case CURLE_URL_MALFORMAT:
            return HTTPError("\(address): not a valid web address; correct it, such as http://127.0.0.1:8123/path")
        case CURLE_GOT_NOTHING: return broken("it closed the connection before it answered")
        // The last two are for a head that is longer than libcurl reads; 100 is CURLE_TOO_LARGE, from 8.6 on.
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_WRITE_ERROR, CURLE_OUT_OF_MEMORY,
            CURLcode(100):
            return broken("it does not speak HTTP/1")
        default: return broken(text)
        }
    }

    private func broken(_ reason: String) -> HTTPError {
        HTTPError("\(address) gave no valid answer: \(reason); check the server's log")
    }

    /// - Parameter result: of the certificate's check, an `X509_V_ERR`; 0, or 1 (unspecified), if only the name does not match.
    private func refusal(verified result: Int, _ text: String) -> String {
        switch result {
        case 0, 1: "its certificate is not for the name '\(host)'; post to a name that is in it"
        case 2, 18, 19, 20, 21:
            "its certificate is not signed by \(caFile ?? "an authority that this system trusts") (\(text)); name the certificate of its "
                + "authority in caFile"
        case 9: "its certificate is not valid yet; is this machine's clock right?"
        case 10: "its certificate has expired; renew it, or set this machine's clock"
        default: "its certificate is not accepted (\(text))"
        }
    }
}

/// Why a file does not serve as `caFile`; nil if it holds a certificate in PEM format.
public func certificateProblem(_ path: String) -> String? {
    do throws(ReadFileError) {
        let text = String(decoding: try readFile(path, limit: 4 << 20).bytes, as: UTF8.self)
        guard !text.contains("-----BEGIN ") || !text.contains("CERTIFICATE-----") else { return nil }
        return "it holds no certificate in PEM format (-----BEGIN CERTIFICATE-----)"
    } catch {
        return error.description
    }
}
