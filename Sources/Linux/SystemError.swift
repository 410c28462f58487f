import Glibc

/// A call of the system that failed: `eventfd: Too many open files`.
public struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
    public let call: String
    /// An errno.
    public let number: Int32

    init(_ call: String) { (self.call, number) = (call, errno) }

    public var description: String { "\(call): \(Self.text(number))" }

    /// The C library's text for an errno.
    public static func text(_ number: Int32) -> String { String(cString: strerror(number)) }
}
