import Spotting

/// A detection in a file; times are in seconds from the file's start.
struct FileDetection {
    let file: String
    /// The word, or the phrase's text.
    let name: String
    let detection: Detection
}

/// The label of a short clip.
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
    func detection(_ found: FileDetection) -> String
    func clip(_ clip: ClipLabel) -> String
    /// Printed after a file without detections.
    func nothing(file: String) -> String
}

extension ReportFormat {
    func header(clips: Bool, labels: [String]) -> String { "" }
    func nothing(file: String) -> String { "" }
}
