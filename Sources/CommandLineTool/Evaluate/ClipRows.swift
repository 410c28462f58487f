import Core
import Evaluation

/// The clips of an evaluation as comma-separated values, one row a clip.
struct ClipRows {
    private let clips: [ScoredClip]
    private let labels: Labels

    init(_ clips: [ScoredClip], _ labels: Labels) { (self.clips, self.labels) = (clips, labels) }

    /// With a header line. The speaker's column is there if any clip has one; the last columns are the scores of all labels.
    var text: String {
        let hasSpeakers = clips.contains { $0.speaker != nil }
        let header =
            ["file", "said", "label", "heard", "confidence", "margin"] + (hasSpeakers ? ["speaker"] : []) + labels.names
        let rows = clips.map { clip in
            [FileName.shown(clip.name), clip.said, labels.name(of: clip.truth), labels.name(of: clip.answer)]
                + [decimal(clip.confidence, 4), decimal(clip.margin, 4)] + (hasSpeakers ? [clip.speaker ?? ""] : [])
                + labels.names.indices.map { decimal(Double(clip.posterior($0)), 4) }
        }
        return ([header] + rows).map { $0.map(CSV.field).joined(separator: ",") + "\n" }.joined()
    }
}
