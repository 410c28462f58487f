import Core
import Spotting

/// One error of the detector in a recording: a word that it missed, took for another, or found where none was said.
public struct DetectionError: Sendable, Equatable, Encodable {
    /// The raw values are those of JSON.
    public enum Kind: String, Sendable, Equatable, Encodable, CaseIterable {
        /// A word was said and nothing was detected.
        case miss
        /// Another word was detected in its place.
        case wrongWord = "wrong"
        /// A word was detected that was not said, or twice.
        case falseAccept = "false-accept"
    }

    public let kind: Kind
    /// The recording as it is shown.
    public let file: String
    /// The word that was said, and when, in seconds; nil for a false accept.
    public let said: String?
    public let start: Double?
    public let end: Double?
    /// The word that was detected; nil for a miss.
    public let heard: String?
    /// Time of the decision; for a miss, of the highest score of the word that was said.
    public let time: Double
    /// Confidence of the detection; for a miss, the highest score that the word reached.
    public let score: Double
    /// Threshold of the word that was detected, or missed; nil for a word that is switched off.
    public let threshold: Double?
    /// The recording as it is opened.
    public let path: String

    /// Programs get the name as it is shown, not the path.
    private enum CodingKeys: String, CodingKey { case kind, file, said, start, end, heard, time, score, threshold }
}

extension DetectionError {
    /// The errors in one recording, sorted by time. A word in whose place another was detected is one error, not two.
    ///
    /// - Parameters:
    ///   - detections: sorted by time; labels that are not words are ignored.
    ///   - truths: reference words, sorted by start.
    ///   - highest: the highest score of each reference word that has no hit, and its time, `[truths]`.
    static func all(
        path: String,
        detections: [Detection],
        outcomes: [Outcome],
        truths: [SpokenWord],
        highest: [(score: Float, time: Double)],
        labels: Labels,
        thresholds: [Float?]
    ) -> [DetectionError] {
        func threshold(_ label: Int) -> Double? {
            (thresholds.indices.contains(label) ? thresholds[label] : nil).map(asWritten)
        }
        func rounded(_ value: Double) -> Double { (value * 10_000).rounded() / 10_000 }
        let file = FileName.shown(path)
        var errors: [DetectionError] = []
        var found = Set<Int>()
        for (detection, outcome) in zip(detections, outcomes) {
            let truth: SpokenWord?
            switch outcome {
            case .hit(let index, _):
                found.insert(index)
                continue
            case .wrong(let index):
                found.insert(index)
                truth = truths[index]
            case .falseAccept: truth = nil
            }
            errors.append(
                DetectionError(
                    kind: truth == nil ? .falseAccept : .wrongWord,
                    file: file,
                    said: truth.map { labels.name(of: $0.label) },
                    start: truth?.start,
                    end: truth?.end,
                    heard: labels.name(of: detection.index),
                    time: rounded(detection.time),
                    score: rounded(Double(detection.confidence)),
                    threshold: threshold(detection.index),
                    path: path
                )
            )
        }
        for (index, truth) in truths.enumerated() where !found.contains(index) {
            errors.append(
                DetectionError(
                    kind: .miss,
                    file: file,
                    said: labels.name(of: truth.label),
                    start: truth.start,
                    end: truth.end,
                    heard: nil,
                    time: rounded(highest.indices.contains(index) ? highest[index].time : truth.end),
                    score: rounded(Double(highest.indices.contains(index) ? highest[index].score : 0)),
                    threshold: threshold(truth.label),
                    path: path
                )
            )
        }
        return errors.sorted { ($0.time, $0.kind.rawValue) < ($1.time, $1.kind.rawValue) }
    }
}
