private import Configuration
import JSON

/// The daemon's answer to a command, parsed.
public struct ControlAnswer: Equatable, Sendable {
    /// Why the command failed; nil if it succeeded.
    public let error: String?
    /// All other members, one line per value: `device: hw:CARD=Mic`, `hopMilliseconds.mean: 2.5`.
    public let lines: [String]
    private let objects: [String: [String]]

    /// - Throws: ``ControlError/socket`` if the line is not an answer of the daemon.
    public init(line: String) throws(ControlError) {
        guard let node = try? JSONNode.parse(line), case .object(let members) = node.value,
            case .bool(let isDone)? = members.first(where: { $0.name == "ok" })?.node.value
        else { throw .socket.saying("not an answer of beckon: \(line.prefix(80))") }
        if case .string(let reason)? = members.first(where: { $0.name == "error" })?.node.value {
            error = reason
        } else {
            error = isDone ? nil : "the service refused the command and gave no reason; check its log"
        }
        objects = Dictionary(
            members.flatMap { Self.objects($0.node, under: $0.name) },
            uniquingKeysWith: { $1 }
        )
        lines = members.filter { $0.name != "ok" && $0.name != "error" }.flatMap { Self.lines($0.node, under: $0.name) }
    }

    /// The value of a member of ``lines``, such as `device`; nil if the answer has none.
    public func value(_ name: String) -> String? {
        lines.first { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
    }

    /// The names of the members of an object, such as `thresholds` or `sessions[0].thresholds`, in the order of the answer; empty
    /// if the answer has no such object.
    public func names(in object: String) -> [String] { objects[object] ?? [] }

    private static func objects(_ node: JSONNode, under name: String) -> [(String, [String])] {
        switch node.value {
        case .object(let members):
            [(name, members.map(\.name))] + members.flatMap { objects($0.node, under: "\(name).\($0.name)") }
        case .array(let elements): elements.enumerated().flatMap { objects($1, under: "\(name)[\($0)]") }
        default: []
        }
    }

    private static func lines(_ node: JSONNode, under name: String) -> [String] {
        switch node.value {
        case .object(let members): members.flatMap { lines($0.node, under: "\(name).\($0.name)") }
        case .array(let elements): elements.enumerated().flatMap { lines($1, under: "\(name)[\($0)]") }
        case .string(let text): ["\(name): \(text)"]
        default: ["\(name): \(node.description)"]
        }
    }
}
