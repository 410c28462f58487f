import Audio
import Control
import Core
import Enrollment
import Inference
import Synchronization
import System
import TestSupport
import Testing

@testable import LiveTeaching

/// Words that are taught with the audio of a service.
struct TeachingDeskTests {
    private let folder: TestFolder
    private let history = AudioHistory()
    private let desk: TeachingDesk
    private let settings: TeachingDesk.Settings
    private let voice: [Float]

    init() throws {
        folder = try TestFolder()
        desk = TeachingDesk(history: history)
        let folder = ModelFolder.find(Checkout.model)
        let voice = try FileBlocks.readClip(path: Voices.path("Rear_Center"), atMost: 5)
        self.voice = voice
        settings = TeachingDesk.Settings(
            model: try Model(folder: Checkout.model),
            modelFolder: folder,
            words: TaughtWords(self.folder.file("words"))
        ) { number in number == 1 ? voice.map { $0 * 0.45 } : number == 2 ? [Float](repeating: 0, count: 16000) : nil }
    }

    /// Appends audio to the history, as the detector's thread does.
    private func play(_ samples: [Float]) {
        var window = [Float](repeating: 0, count: AudioFormat.windowSamples)
        for start in stride(from: 0, to: samples.count - AudioFormat.hopSamples, by: AudioFormat.hopSamples) {
            window.removeFirst(AudioFormat.hopSamples)
            window += samples[start..<start + AudioFormat.hopSamples]
            history.add(window.span)
        }
    }

    private func noise(_ seconds: Double) -> [Float] {
        var chance = SplitMix(seed: 1)
        return (0..<Int(seconds * 16000)).map { _ in Float.random(in: -0.001...0.001, using: &chance) }
    }

    /// Says the word with a gain; returns when the recording has ended.
    private func say(_ gain: Float) throws {
        let before = desk.state.recordings
        _ = try desk.execute(.record, settings)
        #expect(desk.state.isRecording)
        play(noise(0.8) + voice.map { max(-1, min(1, $0 * gain)) } + noise(1.5))
        #expect(comesTrue(within: 30) { desk.state.recordings == before + 1 })
        #expect(!desk.state.isRecording)
    }

    private func fails(_ step: TeachingStep, _ says: String) {
        do {
            _ = try desk.execute(step, settings)
            Issue.record("\(step) was done")
        } catch {
            #expect("\(error)".contains(says), "\(error)")
        }
    }

    @Test
    func `takes are recorded, repeated and stored; the word gets more, a negative is refused, and it is forgotten`()
        throws
    {
        fails(.record, "no word is being taught")
        #expect(try desk.execute(.begin(word: "rear center", more: false), settings) == nil)
        fails(.begin(word: "other", more: false), "'rear center' is being taught; save or cancel it first")
        fails(.save, "there is no take to store")
        for gain in [1, 0.7, 0.5] as [Float] { try say(gain) }
        var state = desk.state
        #expect(state.word == "rear center" && state.before == 0 && state.wanted == 4 && state.message == nil)
        #expect(
            state.takes.count == 3 && state.takes.allSatisfy { (1.0...1.4).contains($0.seconds) },
            "\(state.takes.map(\.seconds))"
        )
        #expect(state.takes.allSatisfy { $0.envelope.count == 48 && $0.envelope.max() == 1 })
        #expect(state.estimate.first?.hasPrefix("Said as in the takes, it is ") == true, "\(state.estimate)")
        #expect(desk.take(2)?.isEmpty == false && desk.take(3) == nil && desk.take(-1) == nil)
        _ = try desk.execute(.redo, settings)
        #expect(desk.state.takes.count == 2 && desk.take(2) == nil)
        try say(40)
        state = desk.state
        #expect(
            state.takes.count == 2 && state.message?.hasPrefix("left out: clipped") == true,
            "\(state.message ?? "")"
        )
        #expect(try desk.execute(.save, settings) == "'rear center' is taught, from 2 takes")
        #expect(desk.state == TeachingState() && desk.take(0) == nil)

        fails(.begin(word: "rear center", more: false), "is taught already")
        fails(.begin(word: "Rear-Center", more: false), "is spelled almost like 'rear center'")
        fails(.add(word: "rear center", recent: 3), "its recording is gone")
        fails(.add(word: "rear center", recent: 2), "no speech was found")
        #expect(
            try desk.execute(.add(word: "rear center", recent: 1), settings) == "'rear center' is taught, from 3 takes"
        )
        fails(.not(word: "rear center", recent: 1), "nothing was changed")
        fails(.not(word: "left", recent: 1), "the model knows 'left' by itself")
        #expect(try settings.words.read()?["rear center"]?.takes.count == 3)
        #expect(try desk.execute(.forget(word: "rear center"), settings) == "'rear center' was forgotten")
        #expect(try settings.words.read()?.words.isEmpty == true)
        fails(.forget(word: "rear center"), "no word 'rear center' was taught")
    }

    @Test func `a recent word becomes a take of the word that is taught; a recording ends when the teaching does`()
        throws
    {
        _ = try desk.execute(.begin(word: "rear center", more: false), settings)
        _ = try desk.execute(.take(recent: 1), settings)
        #expect(desk.state.takes.count == 1 && desk.state.message == nil)
        _ = try desk.execute(.take(recent: 1), settings)
        #expect(desk.state.takes.count == 1 && desk.state.message?.contains("the same recording as take 1") == true)
        _ = try desk.execute(.record, settings)
        fails(.save, "a take is being recorded")
        _ = try desk.execute(.cancel, settings)
        #expect(desk.state == TeachingState() && desk.stop(until: Clock.now + .seconds(10)))
        #expect(try settings.words.file().read() == nil)
        for name in ["_x", "", " x", "Left"] {
            #expect(throws: (any Error).self) { try desk.execute(.begin(word: name, more: false), settings) }
        }
        fails(.begin(word: "new", more: true), "'new' is not taught yet")
    }
}
