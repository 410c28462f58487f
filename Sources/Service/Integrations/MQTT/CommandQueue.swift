public import Control

/// Commands from a broker that wait to be carried out: the newest of each topic. A pure value.
///
/// Of each topic one is under way at a time, so that the last of a burst counts, however long each takes. The topics are those of
/// commands, so their number is that of the words at most.
public struct CommandQueue: Sendable {
    private var waiting: [(topic: String, command: ControlCommand)] = []
    private var underWay: Set<String> = []
    /// Commands that a newer one of the same topic replaced before they were carried out.
    public private(set) var replaced = 0

    public init() {}

    /// Adds a command; it replaces one of the same topic that waits.
    public mutating func add(_ command: ControlCommand, topic: String) {
        if let index = waiting.firstIndex(where: { $0.topic == topic }) {
            waiting.remove(at: index)
            replaced += 1
        }
        waiting.append((topic, command))
    }

    /// The next command to carry out, whose end ``finish(_:)`` tells; nil if none may start now.
    public mutating func next() -> (topic: String, command: ControlCommand)? {
        guard let index = waiting.firstIndex(where: { !underWay.contains($0.topic) }) else { return nil }
        let next = waiting.remove(at: index)
        underWay.insert(next.topic)
        return next
    }

    /// Notes that the command of a topic has ended.
    public mutating func finish(_ topic: String) { underWay.remove(topic) }

    /// Takes a command back that found no room, unless a newer one of its topic has come.
    public mutating func putBack(_ command: ControlCommand, topic: String) {
        underWay.remove(topic)
        if waiting.contains(where: { $0.topic == topic }) {
            replaced += 1
        } else {
            waiting.insert((topic, command), at: 0)
        }
    }

    public var isEmpty: Bool { waiting.isEmpty }
}
