private import Audio
import Core
import Enrollment
import Inference
import Input
import Spotting
import System

/// Utterances from a microphone, or from a file played in its place, as they are spoken.
struct SpokenTakes: ~Copyable {
    /// What ends a wait.
    enum Heard {
        case utterance(Utterance)
        case key(TakeKeys.Key)
        /// The end of the file or of the time, Ctrl-C, or a device without a clock.
        case end
    }

    /// Time without an utterance after which a hint is shown.
    private static let hintDelay = Duration.seconds(8)

    private let source: any AudioSource
    private let model: Model
    private let deadline: Instant?
    private var segmenter: UtteranceSegmenter
    private let meter = LevelMeter()

    /// Starts the source.
    ///
    /// - Parameter deadline: when to give up; nil: never.
    init(_ source: any AudioSource, model: Model, until deadline: Instant? = nil) throws {
        self.source = source
        self.model = model
        self.deadline = deadline
        segmenter = UtteranceSegmenter(model)
        try source.start()
    }

    /// Whether the time is over.
    var isLate: Bool { deadline.map { Clock.now >= $0 } ?? false }

    /// Waits until the microphone delivers audio, so that nobody speaks before it hears.
    ///
    /// - Returns: false at the end of the file or of the time, or after Ctrl-C.
    mutating func waitForAudio() -> Bool {
        while !Interrupt.isRequested, !source.hasEnded, !isLate, !source.isRefused {
            let hasAudio = source.next(until: Clock.now + .milliseconds(200)) { _, _ in }
            reportWarnings()
            if hasAudio, !source.isRefused { return true }
        }
        reportWarnings()
        return false
    }

    /// Waits for the next utterance, or for a key.
    ///
    /// - Parameter keys: nil waits for an utterance only.
    mutating func next(_ keys: TakeKeys? = nil) -> Heard {
        defer { meter.clear() }
        // Starts afresh, so that speech before the prompt is not a take.
        segmenter = UtteranceSegmenter(model)
        // What was recorded while nobody was asked to speak, such as a take that was played.
        source.dropUnread()
        let asked = Clock.now
        var showsHint = true
        while !Interrupt.isRequested, !isLate {
            var found: Utterance?
            var level: Float = 0
            let heard = source.next(until: Clock.now + .milliseconds(200)) { window, block in
                if !block.continues { segmenter = UtteranceSegmenter(model) }
                let hop = window.extracting(last: model.hopSamples)
                for index in hop.indices { level = max(level, abs(hop[index])) }
                found = segmenter.process(window: window)
            }
            reportWarnings()
            if source.isRefused { return .end }
            if let found { return .utterance(found) }
            if let key = keys?.next() { return .key(key) }
            if heard { meter.show(level, isOpen: segmenter.isOpen) }
            if !heard, source.hasEnded { return segmenter.finish().map { .utterance($0) } ?? .end }
            if showsHint, Clock.now - asked > Self.hintDelay {
                showsHint = false
                meter.clear()
                Output.report(
                    .notice,
                    "no speech was detected yet; if you spoke, beckon doctor finds out what is wrong"
                )
            }
        }
        return .end
    }

    /// Waits for a key while the microphone stays open; what it hears is dropped.
    ///
    /// - Returns: nil after Ctrl-C, or if the source ends.
    mutating func key(_ keys: TakeKeys) -> TakeKeys.Key? {
        while !Interrupt.isRequested {
            if let key = keys.next() { return key }
            if source.isRefused { return nil }
            let heard = source.next(until: Clock.now + .milliseconds(200)) { _, _ in }
            reportWarnings()
            if !heard, source.hasEnded { return nil }
        }
        return nil
    }

    /// Prints the source's warnings.
    private func reportWarnings() {
        for message in source.messages(at: Clock.now) where message.level >= .warning {
            meter.clear()
            Output.report(message.level, message.text)
        }
    }

    func stop() { source.stop(until: .distantFuture) }
}
