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
    private let kitchen = AudioHistory()
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
        ) { recorded in
            switch recorded {
            case .own(1): voice.map { $0 * 0.45 }
            case .own(2): [Float](repeating: 0, count: 16000)
            case .ofClient(1): voice.map { $0 * 0.35 }
            default: nil
            }
        } client: { [kitchen] number, _ in
            number == 3 ? ("kitchen", kitchen) : nil
        } renamed: { name, new in
            new == "center" ? "\(name) is in the configuration" : nil
        }
    }

    /// Appends audio to the history, as the detector's thread does.
    private func play(_ samples: [Float], to history: AudioHistory? = nil) {
        let history = history ?? self.history
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
        // Made first: a recording in which nobody speaks ends after a time.
        let said = noise(0.8) + voice.map { max(-1, min(1, $0 * gain)) } + noise(1.5)
        _ = try desk.execute(.record, settings)
        #expect(desk.state.isRecording)
        play(said)
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
        #expect(state.word == "rear center" && state.before == 0 && state.wanted == 4)
        #expect(state.message == nil, "\(state.message ?? "")")
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
        #expect(desk.state.word == nil && desk.state.takes.isEmpty && desk.take(0) == nil)
        #expect(desk.state.saved == "rear center" && desk.state.estimate == state.estimate)

        fails(.begin(word: "rear center", more: false), "is taught already")
        fails(.begin(word: "Rear-Center", more: false), "is spelled almost like 'rear center'")
        fails(.add(word: "rear center", .own(3)), "its recording is gone")
        fails(.add(word: "rear center", .own(2)), "no speech was found")
        #expect(
            try desk.execute(.add(word: "rear center", .own(1)), settings) == "'rear center' is taught, from 3 takes"
        )
        fails(.not(word: "rear center", .own(1)), "nothing was changed")
        fails(.not(word: "left", .own(1)), "the model knows 'left' by itself")
        #expect(try settings.words.read()?["rear center"]?.takes.count == 3)
        #expect(try desk.execute(.forget(word: "rear center"), settings) == "'rear center' was forgotten")
        #expect(try settings.words.read()?.words.isEmpty == true)
        fails(.forget(word: "rear center"), "no word 'rear center' was taught")
    }

    @Test func `a word of a satellite becomes a take as one of the service's own does`() throws {
        _ = try desk.execute(.begin(word: "rear center", more: false), settings)
        _ = try desk.execute(.take(.own(1)), settings)
        _ = try desk.execute(.take(.ofClient(1)), settings)
        #expect(desk.state.takes.count == 2, "\(desk.state.message ?? "")")
        fails(.take(.ofClient(2)), "its recording is gone")
        // What may be taken for it: its parts, and words that sound alike; said for users of a page.
        let estimate = desk.state.estimate.joined(separator: "\n")
        #expect(estimate.contains("It may be confused with 'rear', 'center', '"), "\(estimate)")
        #expect(estimate.contains("press Wrong beside it in Recent words"))
        #expect(try desk.execute(.save, settings) == "'rear center' is taught, from 2 takes")
        // No advice that needs a command line.
        fails(
            .not(word: "rear center", .ofClient(1)),
            "raise the threshold, or choose another word; nothing was changed"
        )
    }

    @Test func `a take is what a satellite says next, and one alone is cautioned when it is saved`() throws {
        let alone = TeachingDesk(history: nil)
        _ = try alone.execute(.begin(word: "rear center", more: false), settings)
        #expect(throws: TeachingError.self) { _ = try alone.execute(.record, settings) }
        #expect(throws: TeachingError.self) { _ = try alone.execute(.recordClient(2), settings) }
        let said = noise(0.8) + voice.map { $0 * 0.5 } + noise(1.5)
        _ = try alone.execute(.recordClient(3), settings)
        #expect(alone.state.isRecording && alone.state.client == "kitchen")
        // What others hear is no take of it.
        play(said)
        #expect(alone.state.isRecording)
        play(said, to: kitchen)
        #expect(comesTrue(within: 30) { !alone.state.isRecording })
        let state = alone.state
        #expect(state.takes.count == 1 && state.message == nil && state.estimate.isEmpty, "\(state)")
        #expect(try alone.execute(.save, settings) == "'rear center' is taught, from 1 take")
        let caution = "Caution: it has one take"
        #expect(
            alone.state.saved == "rear center" && alone.state.estimate.first?.hasPrefix(caution) == true,
            "\(alone.state)"
        )
        #expect(alone.state.estimate.contains { $0.hasPrefix("Said as in the takes") }, "\(alone.state)")
        // The next word begins without it.
        _ = try alone.execute(.begin(word: "other", more: false), settings)
        #expect(alone.state.saved == nil && alone.state.estimate.isEmpty)
    }

    @Test func `a taught word gets another name, if that is one and nobody has it`() throws {
        for word in ["rear center", "middle"] {
            _ = try desk.execute(.begin(word: word, more: false), settings)
            _ = try desk.execute(.take(.own(1)), settings)
            _ = try desk.execute(word == "middle" ? .cancel : .save, settings)
        }
        let before = try #require(try settings.words.read()?["rear center"])
        for (name, problem) in [
            ("rear center", "has this name already"), ("", "a word needs a name"),
            ("_x", "do not begin with an underscore"),
            ("left", "'left' is a word that the model knows; choose another name"),
            ("Left", "'Left' is spelled almost like 'left', which is a word that the model knows"),
        ] {
            fails(.rename(word: "rear center", to: name), problem)
        }
        fails(.rename(word: "left", to: "other"), "'left' is one of the model's words, which keep their names")
        fails(.rename(word: "nobody", to: "other"), "no word 'nobody' was taught")
        #expect(try settings.words.read()?.words == [before])
        #expect(
            try desk.execute(.rename(word: "rear center", to: "Rear-Center"), settings)
                == "'rear center' is called 'Rear-Center' now"
        )
        #expect(try settings.words.read()?.words.map(\.name) == ["Rear-Center"])
        // Of a single word there are no parts; the configuration that has the old name is told of.
        #expect(
            try desk.execute(.rename(word: "Rear-Center", to: "center"), settings)
                == "'Rear-Center' is called 'center' now; Rear-Center is in the configuration"
        )
        let after = try #require(try settings.words.read()?["center"])
        #expect(after.takes.map(\.audio) == before.takes.map(\.audio) && after.takes.allSatisfy(\.parts.isEmpty))
        #expect(before.takes.allSatisfy { !$0.parts.isEmpty } && after.threshold > 0 && after.threshold < 1)
        _ = try desk.execute(.begin(word: "center", more: true), settings)
        fails(.rename(word: "center", to: "other"), "is being taught; save or cancel it first")
    }

    @Test func `a word has at most a hundred takes`() throws {
        _ = try desk.execute(.begin(word: "rear center", more: false), settings)
        _ = try desk.execute(.take(.own(1)), settings)
        _ = try desk.execute(.save, settings)
        try settings.words.file().update { store in
            guard var word = store?.words.first, let take = word.takes.first else { return }
            word.takes = [WordStore.Take](repeating: take, count: WordStore.Limit.takes)
            store = WordStore(words: [word])
        }
        _ = try desk.execute(.begin(word: "rear center", more: true), settings)
        let says = "'rear center' has 100 takes, which is the limit; save it"
        fails(.record, says)
        fails(.take(.ofClient(1)), says)
        #expect(!desk.state.isRecording && desk.state.takes.isEmpty)
        _ = try desk.execute(.cancel, settings)
        fails(.add(word: "rear center", .ofClient(1)), says)
        #expect(try settings.words.read()?.words.first?.takes.count == 100)
    }

    @Test func `a recent word becomes a take of the word that is taught; a recording ends when the teaching does`()
        throws
    {
        _ = try desk.execute(.begin(word: "rear center", more: false), settings)
        _ = try desk.execute(.take(.own(1)), settings)
        #expect(desk.state.takes.count == 1 && desk.state.message == nil)
        _ = try desk.execute(.take(.own(1)), settings)
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

    @Test func `a word is typed: what to expect is told, its sounds are chosen anew, and it is stored`() throws {
        #expect(try desk.execute(.type(word: "smart mirror", sounds: []), settings) == nil)
        let typing = try #require(desk.state.typing)
        #expect(desk.state.word == nil && typing.word == "smart mirror" && typing.refusal == nil)
        #expect(typing.pronunciations.first?.sounds == "s m ɑ ɹ t m ɪ ɹ ɝ")
        #expect(typing.expected.map(\.sensitivity) == [.strict, .balanced, .eager])
        #expect(typing.expected.allSatisfy { (0.5...1).contains($0.found) && $0.falseAcceptsPerHour < 2.6 })
        #expect(typing.remarks.contains { $0.hasPrefix("Nearest in ") })
        fails(.begin(word: "other", more: false), "'smart mirror' is being taught; save or cancel it first")
        fails(.type(word: "other", sounds: []), "'smart mirror' is being taught")
        fails(.record, "no word is being taught")
        // What cannot be read changes nothing.
        fails(.type(word: "smart mirror", sounds: ["5"]), "'5'")
        fails(.type(word: "smart mirror", sounds: [String](repeating: "s", count: 9)), "at most 8 pronunciations")
        #expect(desk.state.typing == typing)
        let written = ["S M AA1 R T M IH1 R ER0", "smɑːtmɪɹə"]
        _ = try desk.execute(.type(word: "smart mirror", sounds: written), settings)
        #expect(desk.state.typing?.pronunciations.map(\.sounds) == ["s m ɑ ɹ t m ɪ ɹ ɝ", "s m ɑ t m ɪ ɹ ə"])
        #expect(try settings.words.file().read() == nil)
        let text = try desk.execute(.save, settings)
        #expect(text?.hasPrefix("'smart mirror' is typed") == true && desk.state == TeachingState())
        let stored = try #require(try settings.words.read()?["smart mirror"])
        #expect(stored.isTyped && stored.sounds?.ways == ["s m ɑ ɹ t m ɪ ɹ ɝ", "s m ɑ t m ɪ ɹ ə"])
        fails(.type(word: "smart mirror", sounds: []), "is typed already; takes can be added to it")
        fails(.type(word: "Smart-Mirror", sounds: []), "is spelled almost like 'smart mirror'")
        _ = try desk.execute(.type(word: "smart merrier", sounds: ["s m ɑ ɹ t m ɪ ɹ ɝ"]), settings)
        #expect(desk.state.typing?.refusal?.contains("sounds like 'smart mirror'") == true)
        fails(.save, "sounds like 'smart mirror'")
        _ = try desk.execute(.cancel, settings)
        #expect(desk.state == TeachingState())
    }

    @Test(arguments: [
        ("hi", "2 sounds", "or teach it by voice"), ("and the", "too often", "choose a longer name"),
    ]) func `a name that cannot work is told with what would help, and is not stored`(
        name: String,
        says: String,
        advice: String
    ) throws {
        _ = try desk.execute(.type(word: name, sounds: []), settings)
        let refusal = try #require(desk.state.typing?.refusal)
        #expect(refusal.contains(says) && refusal.contains(advice) && !refusal.contains("beckon"), "\(refusal)")
        fails(.save, says)
        #expect(desk.state.typing?.word == name)
        #expect(try settings.words.file().read() == nil)
    }

    @Test func `a name that no typed word can have is refused at once`() throws {
        for (name, problem) in [("left", "which are found anyway"), ("你好", "no known sound"), ("_x", "underscore")] {
            fails(.type(word: name, sounds: []), problem)
        }
        _ = try desk.execute(.begin(word: "rear center", more: false), settings)
        fails(.type(word: "hey house", sounds: []), "'rear center' is being taught")
        #expect(desk.state.typing == nil && desk.state.word == "rear center")
    }

    @Test(.enabled(if: Synthesizer() != nil, "espeak-ng or flite is not installed"))
    func `each pronunciation can be played`() throws {
        _ = try desk.execute(.type(word: "hey house", sounds: ["h eɪ h aʊ s", "s ʙ h aʊ s"]), settings)
        let typing = try #require(desk.state.typing)
        #expect(typing.pronunciations.map(\.isPlayable) == [true, false] && typing.silence == nil)
        let said = try #require(desk.take(0))
        #expect((0.3...2).contains(Double(said.count) / 16_000) && said.contains { abs($0) > 0.05 })
        #expect(desk.take(1) == nil && desk.take(2) == nil)
    }
}
