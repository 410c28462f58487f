public import Actions
public import JSON

/// The result of a command: the same type at both ends of the control socket.
public enum ControlReply: Equatable, Sendable {
    case done
    /// Done, but the client should know this.
    case note(String)
    case status(ServiceStatus)
    case words(RecentWordList)
    case failed(String)

    /// The reason of a command that may be tried again.
    public static let noRoom = "too many changes wait already; try again later"

    /// The reply as clients of the control socket get it: `ok`, and the members or an `error`.
    public var json: JSON {
        var json: JSON = ["ok": true]
        switch self {
        case .done: break
        case .note(let text): json.append(["note": .string(text)])
        case .status(let status): json.append(status.members)
        case .words(let list): json.append(list.members)
        case .failed(let reason): json = ["ok": false, "error": .string(reason)]
        }
        return json
    }

    /// Reads a line of the service.
    ///
    /// - Parameter command: what it answers.
    /// - Throws: ``ControlError/socket`` if it is not a reply of the daemon.
    public init(line: String, to command: ControlCommand) throws(ControlError) {
        guard let node = try? JSONNode.parse(line), let isDone = node["ok"]?.flag else {
            throw .socket.saying("not an answer of beckon: \(line.prefix(80))")
        }
        if let reason = node["error"]?.text {
            self = .failed(reason)
        } else if !isDone {
            self = .failed("the service refused the command and gave no reason; check its log")
        } else {
            switch command {
            case .status, .events: self = .status(ServiceStatus(node))
            case .misses: self = .words(RecentWordList(node))
            case .change, .talk: self = node["note"]?.text.map { .note($0) } ?? .done
            }
        }
    }
}

/// Carries out a command for a client; any thread may call it, and it never waits.
///
/// - Parameter later: takes the reply where it is not returned, on any thread.
/// - Returns: the reply; nil if it comes later.
public typealias ControlPerformer =
    @Sendable (ControlCommand, _ later: @escaping @Sendable (ControlReply) -> Void) -> ControlReply?
