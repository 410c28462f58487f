private import Audio
import Capture
import Core
import Daemon
import Enrollment
import Inference
import Spotting
import System

/// Utterances from a microphone, or from a file that is played as one: one after the other, as they are said.
struct SpokenTakes: ~Copyable {
    /// So long it is waited before a word about what may be wrong, in nanoseconds.
    private static let patience: Int64 = 8_000_000_000

    private let source: any AudioSource
    private let model: Model
    private var cutter: UtteranceCutter
    private var gaps = GapReport()
    private let meter = LevelMeter()

    /// Starts to listen.
    init(_ source: any AudioSource, model: Model) throws {
        self.source = source
        self.model = model
        cutter = UtteranceCutter(model)
        try (source as? Microphone)?.start()
    }

    /// Waits for what is said next.
    ///
    /// - Returns: nil where there will be no more, or the user wants to leave.
    mutating func next() -> Utterance? {
        defer { meter.clear() }
        // What is said before one is asked is no answer.
        cutter = UtteranceCutter(model)
        let asked = Clock.now
        var isPatient = true
        while !Interrupt.isRequested {
            var found: Utterance?
            var level: Float = 0
            let heard = source.next(until: Clock.now + 200_000_000) { window, block in
                if !block.continues { cutter = UtteranceCutter(model) }
                let hop = window.extracting(last: model.hopSamples)
                for index in hop.indices { level = max(level, abs(hop[index])) }
                found = cutter.hear(window: window)
            }
            tellChanges()
            if let found { return found }
            if heard { meter.show(level, isOpen: cutter.isOpen) }
            if !heard, source.hasEnded { return cutter.finish() }
            if isPatient, Clock.now - asked > Self.patience {
                isPatient = false
                meter.clear()
                Terminal.tell(.notice, "nothing was said yet; if you spoke, beckon doctor tells what is wrong")
            }
        }
        return nil
    }

    /// What the microphone has to tell.
    private mutating func tellChanges() {
        guard let microphone = source as? Microphone else { return }
        for words in gaps.news(of: microphone, at: Clock.now) {
            guard words.priority.number <= LogLevel.warning.number else { continue }
            meter.clear()
            Terminal.tell(words.priority, words.text)
        }
    }

    /// Ends listening.
    func stop() { (source as? Microphone)?.stop() }
}
