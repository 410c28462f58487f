import Audio
import Core
import JSON
import Spotting

/// Finds the words of files, or the labels of clips, by the settings that all files of a command share. Any thread.
struct FileClassifier: Sendable {
    var settings: DetectorSettings { detector.settings }
    private let detector: FileDetector
    private let isForClips: Bool
    private let mix: ChannelMix

    init(_ options: ClassifyOptions) throws {
        var settings = try options.listening.detector()
        settings.phrases = try Misconfiguration.check {
            try options.phrases.map { try Phrase($0, words: settings.vocabulary.labels) }
        }
        detector = FileDetector(settings)
        isForClips = options.clips
        mix = options.listening.mix
    }

    func open(_ path: String) throws(AudioError) -> FileStream { try FileStream(path: path, mix: mix) }

    /// Finds the words of a file.
    ///
    /// - Parameters:
    ///   - name: what the file is called in the results.
    ///   - spare: threads that may help.
    ///   - eachHop: gets each hop; returns false to stop.
    /// - Throws: what reading the file throws, after `report` got all that was found before.
    func words(
        in stream: consuming FileStream,
        name: String,
        spare: SpareWorkers,
        eachHop: (ScoredHop) -> Bool,
        report: (FileDetection) -> Void
    ) throws(AudioError) {
        try detector.detect(in: stream, spare: spare) { hop, _, _ in
            eachHop(hop)
        } report: { detection in
            report(FileDetection(file: name, name: settings.name(of: detection), detection: detection))
        }
    }

    /// Scores a clip.
    ///
    /// - Returns: its label, and its length in seconds.
    func label(of path: String, name: String) throws(AudioError) -> (clip: ClipLabel, seconds: Double) {
        var scorer = ClipScorer(settings.vocabulary)
        let (posteriors, seconds) = try scorer.score(file: path, mix: mix)
        let scores = zip(settings.vocabulary.labels, posteriors).map { (label: $0, score: $1) }
        let best = scores.max { $0.score < $1.score } ?? (label: "", score: 0)
        return (ClipLabel(file: name, label: best.label, confidence: best.score, scores: scores), seconds)
    }

    /// All that is found in a file, or the error.
    ///
    /// - Parameter eachHop: as in ``words(in:name:spare:eachHop:report:)``; not called for clips.
    func record(
        of path: String,
        name: String,
        spare: SpareWorkers = SpareWorkers(),
        eachHop: (ScoredHop) -> Bool = { _ in true }
    ) -> FileRecord {
        var record = FileRecord(file: name)
        do throws(AudioError) {
            if isForClips {
                let (clip, seconds) = try label(of: path, name: name)
                record.seconds = seconds
                record.label = clip
            } else {
                record.events = []
                try words(in: open(path), name: name, spare: spare) { hop in
                    record.seconds = hop.seconds
                    return eachHop(hop)
                } report: { detection in
                    record.events?.append(detection)
                }
            }
        } catch {
            // The caller may know the file by another name than the one that was opened.
            record.error = error.description.replacing("'\(path)'", with: "'\(printable(name))'")
        }
        return record
    }
}

/// What is known of one file after it was processed.
struct FileRecord {
    let file: String
    /// Audio that was read.
    var seconds = 0.0
    /// Nil for clips.
    var events: [FileDetection]?
    var label: ClipLabel?
    /// One line; what was found before the error stays.
    var error: String?

    /// `{"file", "seconds", "events" or "label", "confidence" and "scores", "error" if there was one}`
    var json: JSON {
        var json: JSON = ["file": .string(FileName.shown(file)), "seconds": .number(seconds, places: 3)]
        if let events { json.append(["events": .array(events.map { .object(JSONLines.members($0)) })]) }
        if let label {
            json.append([
                "label": .string(label.label), "confidence": .number(label.confidence, places: 4),
                "scores": JSONLines.scores(label),
            ])
        }
        if let error { json.append(["error": .string(error)]) }
        return json
    }
}
