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

    /// - Parameter fileLength: in seconds; the quiet after a file's end is no part of it, though a word may be decided in it.
    init(_ detection: Detection, name: String, file: String, fileLength: Double) {
        self.file = file
        kind = detection.kind
        self.name = name
        confidence = detection.confidence
        start = min(detection.start, fileLength)
        end = min(detection.end, fileLength)
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

/// How results are printed. Each function gives the text for one thing; where it goes is the caller's business.
protocol ReportFormat: Sendable {
    /// Printed once, before everything else.
    func header(clips: Bool, labels: [String]) -> String
    func event(_ event: Event) -> String
    func clip(_ clip: ClipLabel) -> String
    /// Printed after a file in which nothing was heard.
    func nothing(file: String) -> String
}

extension ReportFormat {
    func header(clips: Bool, labels: [String]) -> String { "" }
    func nothing(file: String) -> String { "" }
}

extension Detection.Kind {
    /// The value of the key `event` in JSON and CSV.
    var key: String {
        switch self {
        case .word: "word"
        case .phrase: "phrase"
        case .phrasePartial: "phrase-partial"
        }
    }
}

/// A number with a fixed count of decimals, always with a point.
func decimal(_ value: Double, _ places: Int) -> String {
    var scale = 1
    for _ in 0..<places { scale *= 10 }
    guard value.isFinite, abs(value) < 1e12 else { return "0" }
    let scaled = Int((abs(value) * Double(scale)).rounded())
    let sign = value < 0 && scaled > 0 ? "-" : ""
    guard places > 0 else { return sign + String(scaled) }
    let fraction = String(scaled % scale)
    let zeros = String(repeating: "0", count: places - fraction.count)
    return "\(sign)\(scaled / scale).\(zeros)\(fraction)"
}
