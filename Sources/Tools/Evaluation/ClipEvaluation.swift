public import Audio
public import Core
private import Inference
public import Spotting

/// Scores the clips of a ``ClipFolder`` for a ``ClipReport``. Clips may be scored on several threads at once.
public struct ClipEvaluation: Sendable {
    public let labels: Labels
    private let vocabulary: Vocabulary
    private let mix: ChannelMix

    /// - Parameter mix: how the channels of a clip become one.
    public init(_ vocabulary: Vocabulary, mix: ChannelMix) {
        self.vocabulary = vocabulary
        self.mix = mix
        labels = Labels(vocabulary.labels)
    }

    /// Scores one clip; a recording in ``Labels/backgroundFolder`` is cut into clips of silence, one a second.
    ///
    /// - Parameter goesOn: called before each second of a background recording; false stops.
    /// - Throws: `AudioError`, or ``EvaluationError`` for a background recording of less than a second.
    public func score(_ clip: ClipFolder.Clip, goesOn: () -> Bool = { true }) throws -> [ScoredClip] {
        var scorer = ClipScorer(vocabulary)
        let truth = labels.label(ofFolder: clip.folder)
        func scored(_ name: String, _ posteriors: [Float]) -> ScoredClip {
            ScoredClip(name: name, said: clip.folder, truth: truth, posteriors: posteriors, speaker: clip.speaker)
        }
        guard clip.folder == Labels.backgroundFolder else {
            return [scored(clip.name, try scorer.score(file: clip.path, mix: mix).posteriors)]
        }
        var clips: [ScoredClip] = []
        var blocks = try FileBlocks(path: clip.path, mix: mix)
        let length = vocabulary.model.windowSamples
        var window = [Float](repeating: 0, count: length)
        while goesOn() {
            var span = window.mutableSpan
            guard try blocks.next(into: &span) == length else {
                guard !clips.isEmpty else {
                    throw EvaluationError(
                        description:
                            "\(printable(clip.path)): shorter than the one second that a clip of silence takes"
                    )
                }
                break
            }
            clips.append(scored("\(clip.name), second \(clips.count)", scorer.score(window: window)))
        }
        return clips
    }
}
