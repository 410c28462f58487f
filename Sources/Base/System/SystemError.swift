import Glibc

/// A failed system call; as text, `eventfd: Too many open files`.
public struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
    public let call: String
    /// An errno.
    public let number: Int32

    /// For a call that failed just now and set `errno`.
    public init(_ call: String) { self.init(call, errno) }

    /// - Parameter number: an errno; functions of pthread return it.
    public init(_ call: String, _ number: Int32) { (self.call, self.number) = (call, number) }

    public var description: String { "\(call): \(Self.text(number))" }

    /// The C library's text for an errno.
    public static func text(_ number: Int32) -> String {
        // Where no memory is left there may be no text.
        let text: UnsafeMutablePointer<CChar>? = strerror(number)
        return text.map { String(cString: $0) } ?? "error \(number)"
    }

    /// What to do: what is given, unless it is the limit on open files that lets a call fail.
    public func remedy(_ usual: String) -> String {
        number == EMFILE || number == ENFILE ? FileLimit.remedy : usual
    }
}

/// An error of a part that needs threads: what it says where the system refuses them, for ``SystemThread`` and ``EventFD``.
public protocol RefusalError: Error {
    /// - Parameter text: one line: what the system refused, and what to do.
    init(refused text: String, _ error: SystemError)
}

extension RefusalError {
    public static func noEventFD(_ error: SystemError) -> Self {
        Self(refused: "cannot wake threads (\(error)); the limit on open files may be too low", error)
    }

    public static func noThread(_ error: SystemError) -> Self {
        Self(refused: "cannot start a thread (\(error)); the limit on tasks or memory may be too low", error)
    }
}
