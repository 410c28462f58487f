import CMicroHTTPD
import Core
import Glibc

/// libmicrohttpd's functions, with the types that ``HTTPLoop`` needs.
struct HTTPLibrary: @unchecked Sendable {
    private var functions: CMicroHTTPD

    /// Loads the library; nil if it is not installed.
    init?() {
        var functions = CMicroHTTPD()
        guard CMicroHTTPD_load(&functions) else { return nil }
        self.functions = functions
    }

    /// Makes a server; nil with `errno` set if that fails.
    func start(_ settings: inout CMicroHTTPD_settings) -> OpaquePointer? {
        withFunctions { CMicroHTTPD_start($0, &settings) }
    }

    func stop(_ server: OpaquePointer) { functions.stop?(server) }
    func run(_ server: OpaquePointer) { _ = functions.run?(server) }
    func descriptor(_ server: OpaquePointer) -> Int32 { withFunctions { CMicroHTTPD_descriptor($0, server) } }

    /// The time after which it has to run; nil if there is none.
    func timeout(_ server: OpaquePointer) -> Duration? {
        var milliseconds: UInt64 = 0
        guard functions.timeout?(server, &milliseconds) == .YES else { return nil }
        return .milliseconds(Int(clamping: milliseconds))
    }

    /// Hands over a connection, which is closed if that fails.
    func add(_ server: OpaquePointer, _ descriptor: Int32) {
        _ = withFunctions { CMicroHTTPD_add($0, server, descriptor) }
    }

    func socket(_ connection: OpaquePointer) -> Int32 { withFunctions { CMicroHTTPD_socket($0, connection) } }

    func context(_ connection: OpaquePointer) -> UnsafeMutableRawPointer? {
        withFunctions { CMicroHTTPD_context($0, connection) }
    }

    func suspend(_ connection: OpaquePointer) { functions.suspend?(connection) }
    func resume(_ connection: OpaquePointer) { functions.resume?(connection) }

    /// The value of a request's header; nil without it. Valid while the request is.
    func header(_ name: String, of connection: OpaquePointer) -> UnsafePointer<CChar>? {
        withFunctions { CMicroHTTPD_header($0, connection, name) }
    }

    /// A response that holds a copy of these bytes.
    func response(_ body: [UInt8]) -> OpaquePointer? {
        var body = body
        return body.withUnsafeMutableBytes { bytes in
            withFunctions { CMicroHTTPD_response($0, bytes.count, bytes.baseAddress) }
        }
    }

    /// A response whose bytes a callback gives, without an end.
    func stream(
        blockSize: Int,
        _ read: MHD_ContentReaderCallback,
        _ context: UnsafeMutableRawPointer,
        _ free: MHD_ContentReaderFreeCallback
    ) -> OpaquePointer? {
        functions.stream?(UInt64.max, blockSize, read, context, free)
    }

    func addHeader(_ response: OpaquePointer, _ name: String, _ value: String) {
        _ = functions.header?(response, name, value)
    }

    func queue(_ connection: OpaquePointer, _ status: UInt32, _ response: OpaquePointer) -> MHD_Result {
        functions.queue?(connection, status, response) ?? .NO
    }

    func destroy(_ response: OpaquePointer) { functions.destroy?(response) }

    private func withFunctions<Result>(_ body: (UnsafePointer<CMicroHTTPD>) -> Result) -> Result {
        withUnsafePointer(to: functions, body)
    }
}
