public import Audio
public import JSON

/// A client whose audio the service gets, as it is shown to people. A pure value.
public struct StreamClient: Equatable, Sendable {
    /// Names it in requests; counted from 1 on since the start.
    public let number: Int
    public let name: String
    /// Whether it sends audio now.
    public let isStreaming: Bool

    public init(number: Int, name: String, isStreaming: Bool) {
        (self.number, self.name, self.isStreaming) = (number, name, isStreaming)
    }

    /// One JSON object.
    public var json: JSON {
        ["number": .number(number), "name": .string(name), "streaming": .bool(isStreaming)]
    }

    /// What is heard of it while somebody looks: its last seconds, and the newest scores of all labels.
    public typealias Sound = (history: AudioHistory, scores: [Float])
}
