import Spotting

/// One event of a file with its names filled in; all times in seconds from the file's start.
struct Event {
    let file: String
    let kind: Detection.Kind
    /// The word, or the phrase's text.
    let name: String
    let confidence: Float
    let start: Double
    let end: Double
    /// When it was decided.
    let time: Double

    init(_ detection: Detection, name: String, file: String) {
        self.file = file
        kind = detection.kind
        self.name = name
        confidence = detection.confidence
        start = detection.start
        end = detection.end
        time = detection.time
    }
}

/// The one label of a short clip.
struct ClipLabel {
    let file: String
    let label: String
    let confidence: Float
    /// Every label's posterior, in the model's order.
    let scores: [(label: String, score: Float)]
}

/// How results are printed: each function returns the text for one thing, and the caller writes it.
protocol ReportFormat: Sendable {
    /// Printed once, before everything else.
    func header(clips: Bool, labels: [String]) -> String
    func event(_ event: Event) -> String
    func clip(_ clip: ClipLabel) -> String
    /// Printed after a file without detections.
    func nothing(file: String) -> String
}

extension ReportFormat {
    func header(clips: Bool, labels: [String]) -> String { "" }
    func nothing(file: String) -> String { "" }
}
