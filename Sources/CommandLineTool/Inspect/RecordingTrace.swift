import Audio
private import Core
import Inference
import Inspection
import Spotting

/// All that a report shows of one recording: its sound, and what each part of the chain made of it, hop by hop.
struct RecordingTrace {
    /// One hop of 100 ms.
    struct Hop {
        /// End of the hop, in seconds from the file's start.
        let time: Double
        /// Smoothed scores, one a label.
        let scores: [Float]
        /// Whether each step of the hop was speech, or sound where the model cannot tell the two apart; oldest first.
        let sounds: [Bool]
        let inSpeech: Bool
        /// Labels that fired and have not been re-armed.
        let refractory: [Int]
        /// Label of the word that fired at this hop.
        let fired: Int?
    }

    let file: String
    let format: String
    let sampleRate: Int
    let channels: Int
    /// Those that were listened to.
    let heard: [Int]
    /// Part of the file that was looked at, in seconds; the quiet after the file's end is no part of it.
    let from: Double
    private(set) var to: Double
    /// Whether the file goes on after `to`.
    private(set) var isCut = false
    /// What the network was given: one channel at 16 kHz.
    private(set) var samples: [Float] = []
    /// Columns of the front end, each of as many values as there are bands; empty where it has no bands.
    private(set) var columns: [Float] = []
    private(set) var hops: [Hop] = []
    private(set) var events: [Event] = []
    /// Of each channel that was listened to, as recorded.
    private(set) var statistics: [SampleStatistics] = []
    /// What ended reading early.
    private(set) var problem: String?

    /// Hears a file through the chain of `classify`, from its start, and keeps what lies in the part asked for.
    ///
    /// - Throws: what opening the file throws, or reading it where nothing could be read; a failure later on is kept in
    ///   `problem`.
    init(_ options: InspectOptions, vocabulary: Vocabulary, thresholds: Thresholds, progress: Progress) throws {
        let source = try AudioFile(path: options.file)
        file = options.file
        format = source.format
        sampleRate = source.sampleRate
        channels = source.channels
        heard = (0..<channels).filter(options.listening.mix.contains)
        from = options.from
        to = from
        do {
            try listen(options, vocabulary: vocabulary, thresholds: thresholds, progress: progress)
        } catch {
            guard !samples.isEmpty else { throw error }
            problem = "\(error)"
        }
        guard !samples.isEmpty else {
            if Interrupt.isRequested { return }
            throw Failure("\(printable(file)): the recording ends before --from \(decimal(from, 1)) seconds")
        }
        try? scan()
    }

    private mutating func listen(
        _ options: InspectOptions,
        vocabulary: Vocabulary,
        thresholds: Thresholds,
        progress: Progress
    ) throws {
        let model = vocabulary.model
        var stream = try FileStream(path: file, mix: options.listening.mix)
        var detector = Detector(vocabulary, settings: options.listening.gate, thresholds: thresholds)
        let end = options.to ?? from + options.longest
        let newest = model.features.bandHertz.isEmpty ? 0 : max(1, model.hopSamples / model.features.hopSamples)
        var found: [Detection] = []
        var heard: [Float] = []
        var columns: [Float] = []
        var hop = 0
        var before = 0.0
        while !Interrupt.isRequested {
            let goesOn = try stream.next { samples in
                detector.process(window: samples) { found.append($0) }
                let newestHop = samples.extracting(last: model.hopSamples)
                heard = newestHop.indices.map { newestHop[$0] }
                if newest > 0 { columns = model.features(of: samples, newest: newest) }
            }
            guard goesOn else { return }
            if stream.seconds > end + 1e-6 {
                isCut = true
                return
            }
            progress.report(file: file, seconds: stream.seconds, of: stream.expectedSeconds)
            hop += 1
            let new = Int(((stream.seconds - before) * Double(model.sampleRate)).rounded())
            before = stream.seconds
            if Double(hop) * HopScorer.hopSeconds(of: model) > from + 1e-6 {
                samples += heard.prefix(new)
                self.columns += columns
                to = stream.seconds
                keep(detector.scores, detector.activity, detector.gate, found, hop: hop, vocabulary: vocabulary)
            }
            found.removeAll(keepingCapacity: true)
        }
    }

    private mutating func keep(
        _ scores: [Float],
        _ activity: ActivityHistory,
        _ gate: Gate,
        _ found: [Detection],
        hop: Int,
        vocabulary: Vocabulary
    ) {
        let length = HopScorer.hopSeconds(of: vocabulary.model)
        hops.append(
            Hop(
                time: Double(hop) * length,
                scores: scores,
                sounds: activity.newest(Int((length / activity.stepSeconds).rounded())),
                inSpeech: gate.inSpeech,
                refractory: gate.refractoryLabels,
                fired: found.first { $0.kind == .word }?.index
            )
        )
        for detection in found {
            let labels = vocabulary.labels
            let name = labels.indices.contains(detection.index) ? labels[detection.index] : ""
            events.append(Event(detection, name: name, file: file, fileLength: to))
        }
    }

    /// Looks at the samples as they were recorded, each channel that is listened to by itself.
    private mutating func scan() throws {
        var source = try AudioFile(path: file)
        let count = source.channels
        statistics = heard.map { _ in SampleStatistics(sampleRate: source.sampleRate) }
        var interleaved = [Float](repeating: 0, count: 4096 * count)
        var one = [Float](repeating: 0, count: 4096)
        let part =
            Int(from * Double(sampleRate))..<max(Int(to * Double(sampleRate)), Int(from * Double(sampleRate)) + 1)
        var position = 0
        while position < part.upperBound {
            var room = interleaved.mutableSpan
            let frames = try source.read(into: &room)
            guard frames > 0 else { return }
            let inside = part.clamped(to: position..<position + frames)
            for (index, channel) in heard.enumerated() where !inside.isEmpty {
                var target = one.mutableSpan
                ChannelMix.channel(channel).apply(
                    to: interleaved.span.extracting(
                        (inside.lowerBound - position) * count..<(inside.upperBound - position) * count
                    ),
                    channels: count,
                    into: &target
                )
                statistics[index].add(one.span.extracting(first: inside.count))
            }
            position += frames
        }
    }
}
