import CCurl
import Core
import Glibc
import System

/// Fetches a file by HTTP or HTTPS, with libcurl, which is loaded for the first request. Redirects are followed, unless it is fetched from one
/// machine only.
public struct HTTPDownload: Sendable {
    /// Such as `http://192.168.1.20:8123/api/tts_proxy/answer.mp3`.
    public let address: String
    /// The most bytes.
    public let limit: Int
    /// The machine that it is fetched from, whatever name the address has; nil: the one that the address names.
    public let machine: IPAddress?

    public init(_ address: String, limit: Int, from machine: IPAddress? = nil) {
        (self.address, self.limit, self.machine) = (address, limit, machine)
    }

    /// Where the bytes go. libcurl has a pointer to it.
    private final class Target {
        let limit: Int
        let take: ([UInt8]) -> Bool
        var count = 0
        var isTooLong = false

        init(limit: Int, take: @escaping ([UInt8]) -> Bool) { (self.limit, self.take) = (limit, take) }

        /// Returns false where no more is wanted.
        func add(_ bytes: UnsafeRawBufferPointer) -> Bool {
            count += bytes.count
            isTooLong = count > limit
            return !isTooLong && take(Array(bytes))
        }
    }

    /// Fetches it, and waits for the end. Blocks until then.
    ///
    /// - Parameters:
    ///   - wakeUp: a descriptor that is readable when `isCancelled` may have changed.
    ///   - isCancelled: ends it.
    ///   - take: gets the bytes, piece by piece; returns false if they cannot be kept.
    /// - Throws: ``HTTPError``.
    public func fetch(
        timeout: Double,
        wakeUp: Int32,
        isCancelled: () -> Bool,
        _ take: @escaping ([UInt8]) -> Bool
    ) throws(HTTPError) {
        let lowercased = address.lowercased()
        guard lowercased.hasPrefix("http://") || lowercased.hasPrefix("https://") else {
            throw HTTPError("\(printable(address)): not an address that begins with http:// or https://")
        }
        guard let library = CurlLibrary.loaded else { throw HTTPError(HTTPRequest.noLibrary) }
        let target = Target(limit: limit, take: take)
        guard let loop = library.functions.make_loop?() else { throw noMemory }
        defer { _ = library.functions.destroy_loop?(loop) }
        let reason = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
        reason.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        defer { reason.deallocate() }
        var place: UnsafeMutablePointer<curl_slist>?
        if let machine {
            place = library.functions.append?(
                nil,
                "::\(machine.text.contains(":") ? "[\(machine.text)]" : machine.text):"
            )
            guard place != nil else { throw noMemory }
        }
        defer { library.functions.free_list?(place) }
        var settings = CCurl_fetch()
        settings.place = place
        (settings.most, settings.reason) = (curl_off_t(limit), reason)
        settings.context = Unmanaged.passUnretained(target).toOpaque()
        settings.piece = { bytes, size, count, context in
            guard let context else { return 0 }
            let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return Unmanaged<Target>.fromOpaque(context).takeUnretainedValue().add(piece) ? piece.count : 0
        }
        let request = address.withCString { address in
            settings.address = address
            return library.withFunctions { CCurl_begin_fetch($0, loop, &settings) }
        }
        guard let request else { throw noMemory }
        defer {
            _ = library.functions.remove?(loop, request)
            library.functions.destroy?(request)
        }
        let end = try withExtendedLifetime(target) { () throws(HTTPError) in
            try run(library, loop, until: Clock.now + .seconds(timeout), wakeUp, isCancelled)
        }
        guard end != CURLE_OK else { return }
        if target.isTooLong || end == CURLE_FILESIZE_EXCEEDED {
            throw HTTPError("\(printable(address)): longer than \(limit >> 20) MB, the most that is fetched")
        }
        if end == CURLE_WRITE_ERROR { throw HTTPError("\(printable(address)): cannot be kept in memory") }
        let text = reason.pointee == 0 ? library.text(end) : String(cString: reason)
        throw HTTPError("cannot fetch \(printable(address)): \(printable(text))")
    }

    private var noMemory: HTTPError { HTTPError("\(printable(address)): no memory is left") }

    private func run(
        _ library: CurlLibrary,
        _ loop: UnsafeMutableRawPointer,
        until deadline: Instant,
        _ wakeUp: Int32,
        _ isCancelled: () -> Bool
    ) throws(HTTPError) -> CURLcode {
        while true {
            var count: Int32 = 0
            _ = library.functions.run?(loop, &count)
            var end = CURLE_OK
            if library.withFunctions({ CCurl_end($0, loop, &end) }) { return end }
            if isCancelled() { throw HTTPError("\(printable(address)): cancelled") }
            if Clock.now >= deadline { throw HTTPError("\(printable(address)) took too long", isLate: true) }
            var extra = curl_waitfd(fd: wakeUp, events: Int16(POLLIN), revents: 0)
            _ = library.functions.wait?(loop, &extra, 1, Poll.milliseconds(until: deadline), &count)
        }
    }
}
