import CCurl
import Core
import Glibc
import System

/// libcurl's functions, with the types that ``HTTPRequest`` needs.
struct CurlLibrary: @unchecked Sendable {
    // Sendable is unchecked because the functions never change.
    let functions: CCurl

    /// Loaded for the first request; nil if it is not installed.
    static let loaded = CurlLibrary()

    private init?() {
        var functions = CCurl()
        guard CCurl_load(&functions) else { return nil }
        self.functions = functions
    }

    func withFunctions<Result>(_ body: (UnsafePointer<CCurl>) -> Result) -> Result {
        withUnsafePointer(to: functions, body)
    }

    /// What libcurl calls a failure.
    func text(_ code: CURLcode) -> String { functions.text?(code).map { String(cString: $0) } ?? "" }
}

/// One request on its way, and the loop that runs it. Used by one thread.
struct CurlTransfer: ~Copyable {
    private let library: CurlLibrary
    private let loop: UnsafeMutableRawPointer
    private let request: UnsafeMutableRawPointer
    private let headers: UnsafeMutablePointer<curl_slist>?
    private let answer: Answer
    /// `CURL_ERROR_SIZE` bytes, which libcurl writes.
    private let reason: UnsafeMutablePointer<CChar>

    /// What has come of the answer. libcurl has a pointer to it.
    private final class Answer {
        /// The most bytes that are read: a server may send without end.
        static let longest = 64 << 10

        let library: CurlLibrary
        /// Whether the body of a redirect is read: libcurl says only at its end where it leads.
        let readsRedirects: Bool
        var request: UnsafeMutableRawPointer?
        private var count = 0

        init(_ library: CurlLibrary, readsRedirects: Bool) {
            (self.library, self.readsRedirects) = (library, readsRedirects)
        }

        var status: Int { library.withFunctions { Int(CCurl_number($0, request, CURLINFO_RESPONSE_CODE)) } }

        /// Takes bytes; false: no more are wanted.
        func take(_ size: Int) -> Bool {
            count += size
            return count <= Self.longest
        }

        /// Takes a line of a head; false: the answer is known or is not HTTP, and the rest of it is not wanted.
        func takeLine(_ line: UnsafeRawBufferPointer) -> Bool {
            guard take(line.count) else { return false }
            if isBeforeStatus {
                guard Self.isStatus(line) else { return false }
                isFinal = status >= 200 || status == 101
            }
            // The line that ends an interim answer; another status follows.
            isBeforeStatus = !isFinal && (line.first == 10 || line.first == 13)
            return !isFinal || (readsRedirects && (300..<400).contains(status))
        }

        /// Whether a line is `HTTP/1.1 200` or alike. libcurl takes any line that begins with `http/` for a status of 200.
        private static func isStatus(_ line: UnsafeRawBufferPointer) -> Bool {
            guard line.starts(with: "HTTP/".utf8) else { return false }
            let parts = line.dropFirst(5).split(maxSplits: 2) { $0 == 32 || $0 == 10 || $0 == 13 }
            guard parts.count > 1, parts[1].count == 3 else { return false }
            let version = parts[0].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            return version.count < 3
                && (version + [parts[1]]).allSatisfy { !$0.isEmpty && $0.allSatisfy { (48...57).contains($0) } }
        }

        private var isBeforeStatus = true

        /// Whether the first line has come that is not of an interim answer (1xx; RFC 9110, 15.2). 101 changes the protocol, which was
        /// not asked for.
        private(set) var isFinal = false
    }

    /// Nil if the system has no memory for it.
    init?(_ library: CurlLibrary, _ post: HTTPRequest) {
        guard let loop = library.functions.make_loop?() else { return nil }
        let answer = Answer(library, readsRedirects: post.readsRedirects)
        var headers: UnsafeMutablePointer<curl_slist>?
        // Without those of libcurl: what a server does not expect.
        for header in ["Content-Type: \(post.contentType)", "Connection: close", "Accept:", "Expect:"] {
            headers = library.functions.append?(headers, header) ?? headers
        }
        let reason = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
        reason.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        var settings = CCurl_post()
        settings.headers = headers
        settings.direct = post.isDirect
        settings.line = { bytes, size, count, context in
            guard let context else { return 0 }
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return Unmanaged<Answer>.fromOpaque(context).takeUnretainedValue().takeLine(line) ? line.count : 0
        }
        settings.piece = { _, size, count, context in
            guard let context else { return 0 }
            return Unmanaged<Answer>.fromOpaque(context).takeUnretainedValue().take(size * count) ? size * count : 0
        }
        settings.context = Unmanaged.passUnretained(answer).toOpaque()
        settings.reason = reason
        settings.size = post.body.utf8.count
        let request = post.address.withCString { address in
            post.body.withCString { body in
                withOptionalCString(post.caFile) { authorities in
                    (settings.address, settings.body, settings.authorities) = (address, body, authorities)
                    return library.withFunctions { CCurl_begin($0, loop, &settings) }
                }
            }
        }
        guard let request else {
            library.functions.free_list?(headers)
            _ = library.functions.destroy_loop?(loop)
            reason.deallocate()
            return nil
        }
        answer.request = request
        (self.library, self.loop, self.request, self.headers) = (library, loop, request, headers)
        (self.answer, self.reason) = (answer, reason)
    }

    deinit {
        _ = library.functions.remove?(loop, request)
        library.functions.destroy?(request)
        _ = library.functions.destroy_loop?(loop)
        library.functions.free_list?(headers)
        reason.deallocate()
    }

    /// Does what can be done without waiting. Returns how the request has ended; nil if it has not.
    func run() -> CURLcode? {
        var count: Int32 = 0
        _ = library.functions.run?(loop, &count)
        var end = CURLE_OK
        return library.withFunctions { CCurl_end($0, loop, &end) } ? end : nil
    }

    /// Waits until ``run()`` has work, `stop` is signalled, or the deadline has passed. Returns whether `stop` was signalled.
    func wait(until deadline: Instant, stop: EventFD?) -> Bool {
        var extra = curl_waitfd(fd: stop?.descriptor ?? -1, events: Int16(POLLIN), revents: 0)
        var count: Int32 = 0
        _ = library.functions.wait?(loop, &extra, stop == nil ? 0 : 1, Poll.milliseconds(until: deadline), &count)
        return extra.revents != 0
    }

    /// The status of the answer; nil if it has not come.
    var status: Int? { answer.isFinal ? answer.status : nil }

    /// Where the answer redirects to.
    var redirect: String? {
        library.withFunctions { CCurl_redirect($0, request).map { String(cString: $0) } }
    }

    /// What libcurl says about a failure.
    func reason(_ code: CURLcode) -> String {
        reason.pointee == 0 ? library.text(code) : String(cString: reason)
    }

    func number(_ name: CURLINFO) -> Int { library.withFunctions { Int(CCurl_number($0, request, name)) } }

    /// Whether an event, such as `CURLINFO_CONNECT_TIME_T`, has happened.
    func has(_ event: CURLINFO) -> Bool { library.withFunctions { CCurl_time($0, request, event) > 0 } }
}

private func withOptionalCString<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
    guard let text else { return body(nil) }
    return text.withCString(body)
}
