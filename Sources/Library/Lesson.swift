private import Audio
private import Core
import Enrollment
private import Inference
private import Spotting

extension Spotter {
    /// A recording in which a word is said, once or several times with pauses between.
    public struct Take: Sendable {
        /// One channel, in −1…1.
        public var samples: [Float]
        /// In Hz.
        public var sampleRate: Int

        public init(_ samples: [Float], sampleRate: Int) { (self.samples, self.sampleRate) = (samples, sampleRate) }
    }

    /// What came of teaching a word.
    public struct Lesson: Sendable {
        /// What is to be expected at one threshold.
        public struct Rates: Sendable, Equatable {
            public let threshold: Double
            /// Share of utterances that are missed, 0…1, where those who said the takes say the word, and where others do.
            public let missed, missedOfOthers: Double
            /// In an hour of other people's talk.
            public let falseAccepts: Double
        }

        /// A spotter that finds the word too; the one that taught it goes on as it was.
        public let spotter: Spotter
        /// How many takes the word has now.
        public let takes: Int
        /// Of each given recording how many utterances became takes, and what is wrong with the others, or noteworthy.
        public let recordings: [(used: Int, remarks: [String])]
        /// The estimates in sentences, and what the word may be taken for.
        public let remarks: [String]
        let calibration: WordCalibration?

        /// The estimates for a sensitivity and mode; nil where the model has nothing to estimate by.
        public func rates(_ sensitivity: Sensitivity, _ mode: Mode) -> Rates? {
            let named = [Sensitivity.strict: Core.Sensitivity.strict, .balanced: .balanced, .eager: .eager]
            guard let calibration, let sensitivity = named[sensitivity],
                let rates = calibration.rates(sensitivity, mode == .spot ? .spot : .command)
            else { return nil }
            return Rates(
                threshold: Double(rates.threshold),
                missed: rates.missed,
                missedOfOthers: rates.missedOfOthers,
                falseAccepts: mode == .spot ? rates.spot : rates.command
            )
        }
    }

    /// Teaches a word, as `beckon enroll --from` does. Takes that are too quiet, cut off, clipped, of another word or unlike the others are
    /// left out.
    ///
    /// - Parameters:
    ///   - more: whether the word is taught already and gets more takes.
    ///   - acceptsAlike: whether the word may sound like another one.
    ///   - file: a file of taught words that keeps it too, which is made where it is missing; nil for the new spotter's memory alone.
    /// - Throws: ``SpotterError/words`` where no take can be used, the word sounds like another one, or the file cannot be changed;
    ///   ``SpotterError/audio`` for samples that are no audio in −1…1; ``SpotterError/model`` for a model that cannot learn words.
    public func teaching(
        _ word: String,
        _ recordings: [Take],
        more: Bool = false,
        acceptsAlike: Bool = false,
        file path: String? = nil
    ) throws(SpotterError) -> Lesson {
        ForkGate.enter()
        defer { ForkGate.leave() }
        var clips: [[Float]] = []
        for recording in recordings { clips.append(try Self.resampled(recording)) }
        do {
            return try teach(word, clips, more, acceptsAlike, path)
        } catch {
            throw SpotterError(error)
        }
    }

    private func teach(
        _ word: String,
        _ clips: [[Float]],
        _ more: Bool,
        _ acceptsAlike: Bool,
        _ path: String?
    ) throws -> Lesson {
        let model = detector.vocabulary.model
        let negatives = try NegativeSet.beside(model, in: folder)
        let file = try path.map { path throws(EnrollmentError) in try TaughtWords(path).file() }
        try file?.checkChangeable()
        let known = try store ?? TaughtWords(settings.taughtWords ?? "none").read()
        var begun = try file.map { file throws(EnrollmentError) in try file.read() } ?? known
        var teaching = try Teaching.begin(
            word,
            more: more,
            in: &begun,
            model: model,
            negatives,
            acceptsAlike: acceptsAlike
        )
        let before = teaching.takes.count
        let heard = Self.add(clips, to: &teaching, model)
        guard teaching.takes.count > before else {
            let reasons = heard.enumerated().flatMap { number, one in one.remarks.map { "take \(number): \($0)" } }
            let why = reasons.isEmpty ? "no takes were given" : reasons.joined(separator: "; ")
            throw SpotterError.words.saying("'\(printable(word))' was not taught: \(why)")
        }
        if !acceptsAlike { try teaching.checkCommands() }
        var merged = known ?? WordStore()
        let stored: (word: WordStore.Word, calibration: WordCalibration?)
        if let file {
            stored = try file.store(teaching, acceptsAlike: acceptsAlike, negatives, WordStoreFile.Wait())
            try merged.put(stored.word)
        } else {
            stored = try merged.add(teaching, acceptsAlike: acceptsAlike, negatives)
        }
        let vocabulary = try Self.loader(folder, settings).vocabulary(
            model,
            taught: merged.taught(for: model),
            stored: merged.typed,
            wakeWords: .init(detector.vocabulary.wakeWords, missing: detector.vocabulary.missing)
        )
        var settings = settings
        settings.words = settings.words.map { $0 + [word] }
        let near = try NearWords.beside(model, in: folder)
        return Lesson(
            spotter: try Spotter(vocabulary, folder, settings, merged),
            takes: stored.word.takes.count,
            recordings: heard,
            remarks: negatives.flatMap { stored.calibration?.remarks(on: stored.word, near, $0) } ?? [],
            calibration: stored.calibration
        )
    }

    /// Adds the utterances of recordings as takes. Returns of each recording how many were used, and what is wrong with others.
    private static func add(
        _ clips: [[Float]],
        to teaching: inout Teaching,
        _ model: Model
    ) -> [(used: Int, remarks: [String])] {
        var heard: [(used: Int, remarks: [String])] = []
        // The recording of each take; -1 for those of before.
        var origins = teaching.takes.map { _ in -1 }
        for (number, clip) in clips.enumerated() {
            let utterances = UtteranceSegmenter.takes(in: clip, model)
            heard.append((0, utterances.isEmpty ? [TakeFault.noSpeech.plain] : []))
            for utterance in utterances {
                if let fault = teaching.add(utterance, mostClipped: TakeCheck.mostClippedInFile) {
                    heard[number].remarks.append(fault.plain)
                    continue
                }
                heard[number].used += 1
                origins.append(number)
                if let doubt = TakeCheck(utterance).doubt ?? teaching.doubtOfSounds {
                    heard[number].remarks.append("used, but \(doubt.plain)")
                }
            }
        }
        for outlier in teaching.removeOutliers() {
            guard origins.indices.contains(outlier.index), heard.indices.contains(origins[outlier.index]) else {
                continue
            }
            heard[origins[outlier.index]].used -= 1
            heard[origins[outlier.index]].remarks.append(TakeFault.outlier(similarity: outlier.similarity).plain)
        }
        return heard
    }

    /// A recording at 16 kHz.
    private static func resampled(_ take: Take) throws(SpotterError) -> [Float] {
        var reader = SampleReader(.floats, rate: take.sampleRate, channels: 1, isLive: true)
        let samples = try take.samples.read(by: &reader)
        var clip: [Float] = []
        do throws(AudioError) {
            var blocks = try BlockMaker(from: take.sampleRate, echo: nil)
            try blocks.add(samples.span) { block, _, _ in for index in block.indices { clip.append(block[index]) } }
            try blocks.finish { block, _, _ in for index in block.indices { clip.append(block[index]) } }
            clip.removeLast(max(0, clip.count - blocks.samples))
        } catch {
            throw .audio.saying(error.description)
        }
        return clip
    }
}
