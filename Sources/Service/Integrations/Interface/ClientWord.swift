private import Core
public import JSON
public import System

/// A detected word, or one that was nearly detected, in the audio of a client, with its sound. A pure value.
public struct ClientWord: Equatable, Sendable {
    /// Counts the entries from 1 on since the start; names one in requests.
    public let number: Int
    /// What the client is called.
    public let client: String
    public let word: String
    /// Whether the word did not reach its threshold, so that the client was not told.
    public let isNear: Bool
    /// Smoothed posterior, and the threshold at that moment, 0…1.
    public let confidence: Float
    public let threshold: Float
    /// Estimated start of the word, by this machine's clock.
    public let date: Timestamp
    /// From before the word to after it, `[samples]` at 16 kHz.
    public let samples: [Int16]

    public init(
        number: Int,
        client: String,
        word: String,
        isNear: Bool,
        confidence: Float,
        threshold: Float,
        date: Timestamp,
        samples: [Int16]
    ) {
        (self.number, self.client, self.word, self.isNear) = (number, client, word, isNear)
        (self.confidence, self.threshold, self.date, self.samples) = (confidence, threshold, date, samples)
    }

    /// One JSON object without its sound, with the keys of a recent word of the service's own.
    public var json: JSON {
        [
            "number": .number(number), "event": isNear ? "near-miss" : "word", "word": .string(word),
            "confidence": .number(confidence, places: 4), "threshold": .number(threshold, places: 4),
            "date": .string(date.text), "client": .string(client), "clip": .bool(!samples.isEmpty),
        ]
    }
}
