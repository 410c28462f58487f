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
    /// The posterior of every label, `[labels]`, in the model's order.
    let scores: [(label: String, score: Float)]
}

/// An output format: each function returns text, and the caller writes it.
protocol ReportFormat: Sendable {
    /// The text before all results.
    func header(clips: Bool, labels: [String]) -> String
    func detection(_ found: FileDetection) -> String
    func clip(_ clip: ClipLabel) -> String
    /// The text for a file without detections.
    func nothing(file: String) -> String
}

extension ReportFormat {
    func header(clips: Bool, labels: [String]) -> String { "" }
    func clip(_ clip: ClipLabel) -> String { "" }
    func nothing(file: String) -> String { "" }
}
