// record-detections WORDS FILE…: all that the detector finds in recordings, to the last bit, by each of its ways: live, in batches, from
// files, as clips, and as `evaluate --stream` replays it. `Benchmarks/detections` compares what two builds print.
//
// WORDS is a file of taught words, or "none". It runs in the repository, where it finds the model and the wake words. A line has the
// recording, the settings, the way, what was found, its name, and its numbers as bits.

import Audio
import Core
import Enrollment
import Evaluation
import Spotting
import WakeWords

/// Seconds of a recording that are listened to.
private let longest = 60.0

private func bits(_ value: Float) -> String { String(value.bitPattern, radix: 16) }
private func bits(_ value: Double) -> String { String(value.bitPattern, radix: 16) }

/// A recording: its samples and where it comes from.
private struct Recording {
    let path: String
    /// Its file and the folder of it.
    var name: String { path.split(separator: "/").suffix(2).joined(separator: "/") }
    let samples: [Float]
    var hops: Int { samples.count / AudioFormat.hopSamples }
    /// The samples after a second of silence, as windows need them.
    let padded: [Float]

    init(_ path: String) throws {
        self.path = path
        var samples = try FileBlocks.readClip(path: path, atMost: longest)
        // A second of silence, in which the last word is decided.
        samples += [Float](repeating: 0, count: AudioFormat.windowSamples)
        samples.removeLast(samples.count % AudioFormat.hopSamples)
        self.samples = samples
        padded = [Float](repeating: 0, count: AudioFormat.windowSamples) + samples
    }

    /// The place of a hop in the samples, and that of the window that ends with it in `padded`.
    func hop(_ number: Int) -> Range<Int> { number * AudioFormat.hopSamples..<(number + 1) * AudioFormat.hopSamples }
    func window(_ number: Int) -> Range<Int> {
        hop(number).upperBound..<hop(number).upperBound + AudioFormat.windowSamples
    }
}

/// Prints what one way finds.
private struct Printer {
    let heading: String
    let settings: DetectorSettings

    func callAsFunction(_ found: Detection, stream: Int? = nil) {
        var parts = [heading + (stream.map { "#\($0)" } ?? ""), found.kind.key, settings.name(of: found)]
        parts += [bits(found.confidence), bits(found.start), bits(found.end), bits(found.time), bits(found.threshold)]
        parts += [found.proposed, found.confirmed].map { $0.map(bits) ?? "-" }
        parts.append(found.isOwnSpeech ? "own" : "")
        print(parts.joined(separator: "\t"))
    }
}

/// One stream, whose settings change in it: without the words of the user, then with them again; and after a gap.
private func live(_ recording: Recording, _ settings: DetectorSettings, other: DetectorSettings?, _ printer: Printer) {
    var detector = Detector(settings)
    for hop in 0..<recording.hops {
        if let other {
            if hop == recording.hops / 3 { _ = detector.update(other) }
            if hop == recording.hops / 2 { _ = detector.update(settings) }
            if hop == recording.hops * 3 / 4 { detector.flush() }
        }
        let block = recording.samples.span.extracting(recording.hop(hop))
        // A loudspeaker plays the same for half of the time.
        let played = settings.marksOwnSpeech && hop / 40 % 2 == 0 ? block : Span()
        let names = Printer(heading: printer.heading, settings: detector.settings)
        detector.process(window: recording.padded.span.extracting(recording.window(hop)), played: played) { names($0) }
    }
    detector.finish { printer($0) }
    print(printer.heading, "looks", detector.looks, detector.refusals, separator: "\t")
}

/// Three streams, of which the second begins later, and the third is begun again.
private func batched(_ recording: Recording, _ settings: DetectorSettings, other: DetectorSettings?, _ printer: Printer)
{
    var batch = BatchDetector(settings)
    let streams = (0..<3).map { _ in batch.makeStream() }
    for hop in 0..<recording.hops {
        if let other {
            if hop == recording.hops / 3 { batch.update(other) }
            if hop == recording.hops / 2 { batch.update(settings) }
        }
        if hop == recording.hops / 4 { batch.reset(streams[2]) }
        let present = streams.indices.filter { $0 != 1 || hop >= 7 }
        for index in present {
            let first = (index == 1 ? hop - 7 : hop) * AudioFormat.hopSamples
            streams[index].fill { room in
                for place in room.indices { room[place] = recording.samples[first + place] }
                return room.count
            }
            streams[index].endsWithHop = hop == recording.hops - 1
        }
        let names = Printer(heading: printer.heading, settings: batch.settings)
        batch.process(present.map { streams[$0] }) { names($1, stream: present[$0]) }
    }
    print(printer.heading, "looks", batch.looks, batch.refusals, separator: "\t")
}

private func files(_ recording: Recording, _ settings: DetectorSettings, _ printer: Printer) throws {
    try FileDetector(settings).detect(in: FileStream(path: recording.path, mix: .mix)) { hop, _, _ in
        hop.seconds < longest
    } report: {
        printer($0)
    }
}

private func replayed(_ recording: Recording, _ settings: DetectorSettings, _ printer: Printer) throws {
    let scorer = FileScorer(settings.vocabulary, lookaheadQuiet: settings.lookaheadQuiet)
    var trace = PosteriorTrace(settings.vocabulary)
    try scorer.forEachHop(of: FileStream(path: recording.path, mix: .mix)) { hop, window in
        trace.add(hop.scores, lookahead: hop.lookahead, activity: hop.activity, window: window)
        return hop.seconds < longest
    }
    for found in trace.detections(settings) { printer(found) }
}

private func clips(_ recording: Recording, _ vocabulary: Vocabulary, _ heading: String) {
    var scorer = ClipScorer(vocabulary)
    for start in stride(from: 0, to: min(recording.samples.count, 160_000), by: 32_000) {
        let clip = Array(recording.samples[start..<min(start + 32_000, recording.samples.count)])
        print(heading, scorer.score(clip: clip).map(bits).joined(separator: " "), separator: "\t")
    }
}

private func record(_ recording: Recording, _ vocabulary: Vocabulary, plain: Vocabulary, _ kinds: String) throws {
    for mode in [DetectionMode.spot, .command] {
        for trigger in GateSettings.Trigger.allCases {
            for threshold in [nil, 0.3] as [Float?] {
                func settings(_ vocabulary: Vocabulary) throws -> DetectorSettings {
                    var gate = GateSettings()
                    (gate.mode, gate.trigger, gate.nearMissMargin) = (mode, trigger, 0.4)
                    var settings = DetectorSettings(vocabulary, gate: gate)
                    if let threshold { settings.thresholds.setAll(threshold) }
                    // So low that the voices reach it.
                    for word in vocabulary.wakeWords where threshold != nil {
                        try settings.thresholds.set(word.name, to: 0.004)
                    }
                    return settings
                }
                let chosen = try settings(vocabulary)
                func printer(_ way: String) -> Printer {
                    let level = threshold == nil ? "usual" : "low"
                    let heading = "\(recording.name)\t\(kinds) \(mode.rawValue) \(trigger.rawValue) \(level)\t\(way)"
                    return Printer(heading: heading, settings: chosen)
                }
                live(recording, chosen, other: nil, printer("live"))
                try files(recording, chosen, printer("file"))
                try replayed(recording, chosen, printer("replayed"))
                guard trigger == .early else { continue }
                batched(recording, chosen, other: nil, printer("batched"))
                guard vocabulary !== plain else { continue }
                let other = try settings(plain)
                live(recording, chosen, other: other, printer("live, changed"))
                batched(recording, chosen, other: other, printer("batched, changed"))
                var own = chosen
                own.marksOwnSpeech = true
                live(recording, own, other: nil, printer("own speech"))
            }
        }
    }
    clips(recording, vocabulary, "\(recording.name)\t\(kinds)\tclip")
}

let arguments = CommandLine.arguments.dropFirst()
guard let words = arguments.first else { fatalError("usage: record-detections WORDS FILE…") }
private let model = try VocabularyLoader.model(in: "Models/commands")
private let all = try VocabularyLoader(
    modelFolder: "Models/commands",
    words: TaughtWords(words),
    wakeWords: ["okay_nabu", "alexa"].map { "Models/wake-words/\($0).json" }
).load(model).vocabulary
private let plain = Vocabulary(model)
private let alone = Vocabulary(
    try VocabularyLoader.model(in: "Models/commands", confirms: false),
    wakeWords: all.wakeWords
)
for path in arguments.dropFirst() {
    let recording = try Recording(path)
    try record(recording, all, plain: plain, "all words")
    try record(recording, plain, plain: plain, "model")
    try record(recording, alone, plain: alone, "one network")
}
