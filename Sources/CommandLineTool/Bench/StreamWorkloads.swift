import Audio
import Inference
private import KernelInterface
import Spotting

/// What a detector is made from.
struct DetectorRecipe {
    let model: Model
    let gate: GateSettings
    let thresholds: Thresholds
    var personal: [PersonalWord] = []

    func make() -> Detector {
        let vocabulary = Vocabulary(model, personal: personal)
        let thresholds =
            personal.isEmpty ? thresholds : Thresholds(labels: vocabulary.labels, defaults: vocabulary.thresholds)
        return Detector(vocabulary, settings: gate, thresholds: thresholds)
    }

    /// With so many words of the user's own, which resemble nothing; nil where the model has no embedding. How many takes taught
    /// a word does not matter: their mean is what is kept in memory.
    func teaching(_ count: Int) -> DetectorRecipe? {
        guard model.embeddingCount > 0 else { return nil }
        var recipe = self
        recipe.personal = (0..<count).compactMap { number in
            let template = (0..<model.embeddingCount).map { Float(($0 * 7 + number * 13) % 29) - 14 }
            return PersonalWord(
                name: "word \(number)",
                threshold: 0.8,
                templates: [template],
                templateSpacing: 0,
                boundary: 0.6
            )
        }
        return recipe
    }
}

/// A block of 1600 samples into the ring, and the window through the detector: all that a hop of one stream costs.
final class HopWork: Workload {
    private var detector: Detector
    private let ring: BlockRing
    private let sound: [Float]
    private var place: Int
    private(set) var detections = 0

    /// - Parameter sound: several blocks, heard over and over from `place` on; streams share it.
    init(_ recipe: DetectorRecipe, sound: [Float], place: Int = 0) throws {
        detector = recipe.make()
        ring = try BlockRing(minimumCapacity: 1)
        self.sound = sound
        self.place = place
    }

    static func sound(_ model: Model) -> [Float] {
        benchSound(20 * BlockRing.blockLength + model.sampleRate / 7, rate: model.sampleRate)
    }

    func run() {
        let sound = sound
        let block = sound.span.extracting(place..<place + BlockRing.blockLength)
        // A step that is no whole number of blocks, so that the joint is elsewhere each time round.
        place = (place + BlockRing.blockLength) % (sound.count - BlockRing.blockLength)
        ring.write(block, time: 0)
        _ = ring.withWindow { window, _ in detector.process(window: window) { _ in detections += 1 } }
    }
}

/// A hop of each of many streams, one after the other, so that their states and the weights compete for the caches.
final class StreamsWork: Workload {
    private let streams: [HopWork]

    init(_ recipe: DetectorRecipe, count: Int) throws {
        let sound = HopWork.sound(recipe.model)
        streams = try (0..<count).map { number in
            try HopWork(recipe, sound: sound, place: number * 997 % (sound.count - BlockRing.blockLength))
        }
    }

    var units: Int { streams.count }

    func run() { for stream in streams { stream.run() } }
}

/// Four seconds of posteriors in which two words are said, through smoother, gate and phrases.
final class GateWork: Workload {
    private struct Hop {
        let scores: HopScores
        let activity: ActivityHistory
    }

    private let hops: [Hop]
    private var handler: PosteriorHandler
    private(set) var detections = 0

    init(_ recipe: DetectorRecipe) throws {
        let model = recipe.model
        let words = recipe.thresholds.words
        let said = [words.first, words.last].compactMap { word in model.labels.firstIndex { $0 == word } }
        var tracker = EnergyActivityDetector()
        hops = (0..<40).map { number in
            // A word is heard for half a second from 0.5 s and from 1.8 s on, and wins from its middle on.
            let word = number < 18 ? 0 : 1
            let age = number - [5, 18][word]
            let isSound = (0..<5).contains(age)
            let winner = (3..<9).contains(age) && word < said.count ? said[word] : model.silenceIndex
            var posteriors = [Float](repeating: 0.001, count: model.labels.count)
            posteriors[winner] = 1 - 0.001 * Float(model.labels.count - 1)
            tracker.add([Float](repeating: isSound ? 0.1 : 0.001, count: model.hopSamples).span)
            return Hop(scores: HopScores(posteriors: posteriors), activity: tracker.history)
        }
        let phrase = words.count > 1 ? [try Phrase("\(words[0]) \(words[words.count - 1])", words: model.labels)] : []
        handler = PosteriorHandler(
            labels: model.labels.count,
            silence: model.silenceIndex,
            hopSeconds: HopScorer.hopSeconds(of: model),
            settings: recipe.gate,
            thresholds: recipe.thresholds,
            phrases: phrase
        )
    }

    var units: Int { hops.count }

    func run() {
        for index in hops.indices {
            handler.process(hops[index].scores, activity: hops[index].activity) { _ in detections += 1 }
        }
    }
}
