public import JSON

/// The result of a command.
public enum ControlReply: Equatable, Sendable {
    case done
    /// An object whose members are added to the answer, such as `{"state": "muted"}`.
    case status(JSON)
    case failed(String)

    /// The reason of a command that may be tried again.
    public static let noRoom = "too many changes wait already; try again later"

    /// The answer as clients of the control socket get it: `ok`, and the members or an `error`.
    public var json: JSON {
        switch self {
        case .done: return ["ok": true]
        case .status(.object(let members)): return .object([JSON.Member("ok", true)] + members)
        case .status: return ["ok": true]
        case .failed(let reason): return ["ok": false, "error": .string(reason)]
        }
    }
}

/// Carries out a command for a client; any thread may call it, and it never waits.
///
/// - Parameter later: takes the reply where it is not returned, on any thread.
/// - Returns: the reply; nil if it comes later.
public typealias ControlPerformer =
    @Sendable (ControlCommand, _ later: @escaping @Sendable (ControlReply) -> Void) -> ControlReply?
