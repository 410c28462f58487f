public import Core
public import Spotting

/// A word or phrase that the service detected, with everything that an action or an integration may want to know.
///
/// The dispatcher makes it once for each ``Detection`` and hands it to every ``EventSink``.
public struct DetectionEvent: Equatable, Sendable {
    /// Counts all detections since the service started, from 1; a missing number tells that one was lost or suppressed.
    public let sequence: UInt64
    public let kind: Detection.Kind
    /// The word, or the phrase's text.
    public let name: String
    /// Posterior, 0…1.
    public let confidence: Float
    /// Estimated start of the word, in seconds since the service began to listen, as are the next two.
    public let start: Double
    public let end: Double
    /// When it was decided.
    public let time: Double
    /// When it was decided, on the wall clock.
    public let date: Timestamp
    /// The capture device.
    public let device: String

    public init(
        sequence: UInt64,
        kind: Detection.Kind,
        name: String,
        confidence: Float,
        start: Double,
        end: Double,
        time: Double,
        date: Timestamp,
        device: String
    ) {
        self.sequence = sequence
        self.kind = kind
        self.name = name
        self.confidence = confidence
        self.start = start
        self.end = end
        self.time = time
        self.date = date
        self.device = device
    }

    /// When it was said, on the wall clock.
    public var startDate: Timestamp { date.adding(seconds: start - time) }
    public var endDate: Timestamp { date.adding(seconds: end - time) }

    /// One JSON object without a line end. The keys up to `time` are those of `beckon classify --json`.
    public var json: JSON {
        [
            "event": .string(kind.key), kind == .word ? "word" : "phrase": .string(name),
            "confidence": .number(confidence, places: 4), "start": .number(start, places: 3),
            "end": .number(end, places: 3), "time": .number(time, places: 3), "sequence": .number(sequence),
            "device": .string(device), "date": .string(date.text), "startDate": .string(startDate.text),
            "endDate": .string(endDate.text),
        ]
    }

    /// What programs and journal entries get: names and values, in a fixed order.
    public var fields: [(name: String, value: String)] {
        [
            ("BECKON_EVENT", kind.key), ("BECKON_WORD", name), ("BECKON_CONFIDENCE", decimal(Double(confidence), 4)),
            ("BECKON_TIME", date.text), ("BECKON_START", startDate.text), ("BECKON_END", endDate.text),
            ("BECKON_DEVICE", device), ("BECKON_SEQUENCE", String(sequence)),
        ]
    }
}

/// Something that takes the service's events: actions, the control socket, saved clips, a terminal, an integration.
public protocol EventSink: Sendable {
    /// Takes one event. Called on the dispatcher's thread, in the order of the events.
    ///
    /// It must not wait for a device, a reader or a network: whoever has to, keeps a bounded queue and a thread.
    func receive(_ event: DetectionEvent)
}
