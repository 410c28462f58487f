private import Audio
import Capture
import Core
import Daemon
import Enrollment
import Inference
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
    private var gaps = GapReport()
    private var input = InputReport()
    private let meter = LevelMeter()

    /// Starts the microphone.
    ///
    /// - Parameter deadline: when to give up; nil: never.
    init(_ source: any AudioSource, model: Model, until deadline: Instant? = nil) throws {
        self.source = source
        self.model = model
        self.deadline = deadline
        segmenter = UtteranceSegmenter(model)
        try (source as? Microphone)?.start()
    }

    /// Whether the time is over.
    var isLate: Bool { deadline.map { Clock.now >= $0 } ?? false }

    /// Waits until the microphone delivers audio, so that nobody speaks before it hears.
    ///
    /// - Returns: false at the end of the file or of the time, or after Ctrl-C.
    mutating func waitForAudio() -> Bool {
        while !Interrupt.isRequested, !source.hasEnded, !isLate, !isRefused {
            let hasAudio = source.next(until: Clock.now + .milliseconds(200)) { _, _ in }
            reportWarnings()
            if hasAudio, !isRefused { return true }
        }
        reportWarnings()
        return false
    }

    /// Whether the microphone was given up for good: a device without a clock.
    private var isRefused: Bool { (source as? Microphone)?.status.isTooFast ?? false }

    /// Waits for the next utterance, or for a key.
    ///
    /// - Parameter keys: nil waits for an utterance only.
    mutating func next(_ keys: TakeKeys? = nil) -> Heard {
        defer { meter.clear() }
        // Starts afresh, so that speech before the prompt is not a take.
        segmenter = UtteranceSegmenter(model)
        dropBacklog()
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
            if isRefused { return .end }
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
            if isRefused { return nil }
            let heard = source.next(until: Clock.now + .milliseconds(200)) { _, _ in }
            reportWarnings()
            if !heard, source.hasEnded { return nil }
        }
        return nil
    }

    /// Drops what was recorded while nobody was asked to speak, such as a take that was played.
    private func dropBacklog() {
        // A file is played from where it is.
        guard source is Microphone else { return }
        while source.next(until: Clock.now, { _, _ in }) {}
    }

    /// Prints the microphone's warnings.
    private mutating func reportWarnings() {
        guard let microphone = source as? Microphone else { return }
        for message in gaps.messages(of: microphone, at: Clock.now)
            + input.messages(of: microphone.status, at: Clock.now)
        {
            guard message.level >= .warning else { continue }
            meter.clear()
            Output.report(message.level, message.text)
        }
    }

    /// Stops the microphone.
    func stop() { (source as? Microphone)?.stop() }
}
