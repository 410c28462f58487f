public import Core

/// Decides which of a broker's messages that were not executed are logged: the first of each topic at once, then at most one line
/// in ten seconds, which counts the others. A pure value.
public struct RefusalLog: Sendable {
    static let interval = Duration.seconds(10)
    /// Most topics that are remembered.
    static let mostTopics = 64

    private var told: [String: Instant] = [:]
    private var last: Instant?
    private var unreported = 0

    public init() {}

    /// The line to log now about a message; nil for none.
    ///
    /// - Parameter reason: what is wrong with it, or what is accepted.
    public mutating func line(topic: String, payload: [UInt8]?, _ reason: String, at now: Instant) -> String? {
        let isNew = told[topic] == nil && told.count < Self.mostTopics
        let isDue = last.map { now - $0 >= Self.interval } ?? true
        guard isNew || isDue else {
            unreported += 1
            return nil
        }
        (told[topic], last) = (now, now)
        let others = unreported == 0 ? "" : " (and \(unreported) other messages since the last line)"
        unreported = 0
        let value = payload.map { " '\(Self.shown($0))'" } ?? ""
        return "MQTT: \(printable(String(topic.prefix(200)))):\(value) was not executed: \(reason)\(others)"
    }

    /// Counts messages that are not logged by themselves.
    mutating func skip(_ others: Int) { unreported += others }

    /// The beginning of a payload, in one line.
    private static func shown(_ payload: [UInt8]) -> String {
        let text = printable(String(decoding: payload.prefix(60), as: UTF8.self))
        return payload.count > 60 ? text + "…" : text
    }
}
