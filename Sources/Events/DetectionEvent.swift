private import Core
public import Spotting

/// Something the service heard, with everything an action may want to know of it.
public struct DetectionEvent: Equatable, Sendable {
    /// Counts all events since the service began, from 1; a gap tells that some were lost.
    public let sequence: UInt64
    public let kind: Detection.Kind
    /// The word, or the phrase's text.
    public let name: String
    /// 0…1.
    public let confidence: Float
    /// In seconds since the service began to listen, as are the next two.
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
    public var json: String {
        let subject = kind == .word ? "word" : "phrase"
        return """
            {"event": "\(kind.key)", "\(subject)": \(jsonString(name)), \
            "confidence": \(decimal(Double(confidence), 4)), "start": \(decimal(start, 3)), \
            "end": \(decimal(end, 3)), "time": \(decimal(time, 3)), "sequence": \(sequence), \
            "device": \(jsonString(device)), "date": "\(date.text)", "startDate": "\(startDate.text)", \
            "endDate": "\(endDate.text)"}
            """
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
