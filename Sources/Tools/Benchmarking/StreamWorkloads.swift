import Audio
import Core
import Inference
import Spotting

extension DetectorSettings {
    /// A copy with `count` taught words that no audio resembles; nil where the model has no embedding. A word has
    /// two templates, as a detector keeps the mean of a word's takes.
    func teaching(_ count: Int) -> DetectorSettings? {
        let model = vocabulary.model
        guard model.embeddingCount > 0 else { return nil }
        let taught = (0..<count).compactMap { number in
            let template = (0..<model.embeddingCount).map { Float(($0 * 7 + number * 13) % 29) - 14 }
            return TaughtWord(
                name: "word \(number)",
                threshold: 0.8,
                templates: [template, template],
                templateSpacing: TemplateAlignment.spacingOfWord,
                boundary: 0.6
            )
        }
        return DetectorSettings(Vocabulary(model, taught: taught), gate: gate)
    }
}

/// Writes a block of 1600 samples to the ring and runs the detector on the window: the whole cost of a stream's hop.
final class HopWork: Workload {
    private var detector: Detector
    private let ring: BlockRing
    private let sound: [Float]
    /// First sample of the next block.
    private var place: Int
    private(set) var detections = 0

    /// - Parameter sound: audio of several blocks, repeated, from sample `place` on; shared by all streams.
    init(_ settings: DetectorSettings, sound: [Float], place: Int = 0) throws {
        detector = Detector(settings)
        ring = try BlockRing(minimumCapacity: 1)
        self.sound = sound
        self.place = place
    }

    static func sound(_ model: Model) -> [Float] {
        benchSound(20 * AudioFormat.hopSamples + model.sampleRate / 7, rate: model.sampleRate)
    }

    func run() {
        let sound = sound
        let block = sound.span.extracting(place..<place + AudioFormat.hopSamples)
        // The length is not a whole number of blocks, so that blocks start at other samples in each repetition.
        place = (place + AudioFormat.hopSamples) % (sound.count - AudioFormat.hopSamples)
        ring.write(block, time: Instant(nanoseconds: 0))
        _ = ring.withWindow { window, _ in detector.process(window: window) { _ in detections += 1 } }
    }
}

/// Runs one hop of each of many streams in turn, so that their states and the weights compete for the caches.
final class StreamsWork: Workload {
    private let streams: [HopWork]

    init(_ settings: DetectorSettings, count: Int) throws {
        let sound = HopWork.sound(settings.vocabulary.model)
        streams = try (0..<count).map { number in
            try HopWork(settings, sound: sound, place: number * 997 % (sound.count - AudioFormat.hopSamples))
        }
    }

    var units: Int { streams.count }

    func run() { for stream in streams { stream.run() } }
}

/// Runs one hop of many streams in one batch, as a server with many microphones does.
final class BatchWork: Workload {
    private var detector: BatchDetector
    private let streams: [DetectorStream]
    private let sound: [Float]
    private var hop = 0
    private(set) var detections = 0

    init(_ settings: DetectorSettings, count: Int) {
        var detector = BatchDetector(settings)
        streams = (0..<count).map { _ in detector.makeStream() }
        self.detector = detector
        sound = HopWork.sound(settings.vocabulary.model)
    }

    var units: Int { streams.count }

    /// No two streams get the same audio at the same time.
    func run() {
        let last = sound.count - AudioFormat.hopSamples
        sound.withUnsafeBufferPointer { sound in
            for (index, stream) in streams.enumerated() {
                let place = (hop * AudioFormat.hopSamples + index * 997) % last
                stream.fill { room in
                    _ = room.update(from: sound[place..<place + room.count])
                    return room.count
                }
            }
        }
        hop += 1
        detector.process(streams) { _, _ in detections += 1 }
    }
}

/// Runs smoother, gate and phrases on 4 s of posteriors that contain two words.
final class GateWork: Workload {
    private let hops: [(scores: HopScores, activity: ActivityHistory)]
    private var words: WordStream
    private(set) var detections = 0

    /// Confirms each proposal at once: there is no audio to look at.
    private final class Agreement: ProposalLook {
        private let words: [Int]

        init(_ words: [Int]) { self.words = words }

        func look(_ word: ProposedWord, _ posteriors: [Float]) -> Verdict {
            var best = words.first ?? 0
            for word in words where posteriors[word] > posteriors[best] { best = word }
            return Verdict(label: best, confidence: 1, confirmed: 1)
        }
    }

    init(_ settings: DetectorSettings) throws {
        let model = settings.vocabulary.model
        let names = settings.thresholds.words
        let said = [names.first, names.last].compactMap { word in model.labels.firstIndex { $0 == word } }
        var activity = EnergyActivityDetector()
        hops = (0..<40).map { number in
            // The words sound for 0.5 s from 0.5 s and 1.8 s on; their posteriors are highest from 0.3 to 0.9 s later.
            let word = number < 18 ? 0 : 1
            let age = number - [5, 18][word]
            let isSound = (0..<5).contains(age)
            let winner = (3..<9).contains(age) && word < said.count ? said[word] : model.silenceIndex
            var posteriors = [Float](repeating: 0.001, count: model.labels.count)
            posteriors[winner] = 1 - 0.001 * Float(model.labels.count - 1)
            activity.add([Float](repeating: isSound ? 0.1 : 0.001, count: model.hopSamples).span)
            return (HopScores(posteriors: posteriors), activity.history)
        }
        var settings = settings
        settings.phrases =
            names.count > 1 ? [try Phrase("\(names[0]) \(names[names.count - 1])", words: model.labels)] : []
        words = WordStream(settings, looks: Agreement(said))
    }

    var units: Int { hops.count }

    func run() {
        for index in hops.indices {
            words.add(hops[index].scores, activity: hops[index].activity, hop: Span()) { _ in detections += 1 }
        }
    }
}
