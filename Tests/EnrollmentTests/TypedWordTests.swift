import Core
import Foundation
import Inference
import Phonemes
import Spotting
import TestSupport
import Testing

@testable import Enrollment

/// Words that are made from their names: what they promise, what is refused, and that they are found in a recorded voice.
struct TypedWordTests {
    static let teacher = Result { try TypedWordTeacher(beside: Checkout.model) }
    private let teacher: TypedWordTeacher

    init() throws { teacher = try Self.teacher.get() }

    private func boundary(_ name: String) throws -> Float { try teacher.word(name).word.boundary }

    @Test(arguments: ["hey house", "view glass", "smart mirror", "snowboy", "okay nabu", "turn on the light"])
    func `a long name works`(name: String) throws {
        let (word, calibration) = try teacher.word(name)
        #expect(teacher.refusal(word, calibration) == nil)
        let expected = calibration.expected
        #expect(expected.map(\.sensitivity) == [.strict, .balanced, .eager])
        #expect(zip(expected, expected.dropFirst()).allSatisfy { $0.score > $1.score && $0.found < $1.found })
        #expect(expected.allSatisfy { $0.score < -0.5 && $0.found > 0.6 })
        let balanced = try #require(calibration.balanced)
        let aim = abs(balanced.falseAcceptsPerHour - 0.8) < 0.01
        // A long word is found often enough with fewer.
        let isEnough = balanced.score == -1.9 && balanced.falseAcceptsPerHour < 0.8
        #expect(balanced.found > 0.9 && (aim || isEnough), "\(name): \(balanced)")
        #expect(word.sensitivities[.balanced, .spot] == 0.5 && word.sensitivities[.balanced, .command] == 0.5)
        #expect(try #require(word.sensitivities[.strict, .spot]) > 0.5)
    }

    @Test(arguments: [
        ("up", "2 sounds"), ("hi", "2 sounds"), ("now", "2 sounds"), ("and the", "too often"), ("this is", "too often"),
    ]) func `a name that cannot work is refused with what would help`(name: String, says: String) throws {
        let (word, calibration) = try teacher.word(name)
        let refusal = try #require(teacher.refusal(word, calibration), "\(name): \(calibration.expected)")
        #expect(refusal == .name && refusal.description.hasPrefix(refusal.plain), "\(refusal)")
        #expect(refusal.plain.contains(says) && refusal.plain.hasSuffix("or teach it by voice"), "\(refusal.plain)")
        #expect(refusal.description.hasSuffix(": beckon enroll \(name.contains(" ") ? "'\(name)'" : name)"))
    }

    @Test func `a name that sounds like another word is told`() throws {
        let word = try teacher.word("commuter").word
        func others(_ names: String...) throws -> [(name: String, pronunciations: [Pronunciation])] {
            try names.map { ($0, try teacher.pronunciations(of: $0)) }
        }
        #expect(teacher.soundAlike(word, among: try others("house", "computer")) == "computer")
        #expect(teacher.soundAlike(word, among: try others("house", "mirror", "commuter")) == nil)
    }

    @Test func `a word of the model or of the store that sounds alike refuses it`() throws {
        let model = try Model(folder: Checkout.model, confirms: false)
        func refusal(_ name: String, _ store: WordStore? = nil) throws -> EnrollmentError? {
            let (word, calibration) = try teacher.word(name)
            return teacher.refusal(word, calibration, beside: store, model)
        }
        var store = WordStore()
        try store.put(WordStore.Word(try teacher.word("computer").word, teacher.pronouncer))
        #expect(try refusal("commuter") == nil && refusal("hey house", store) == nil)
        let alike = try #require(try refusal("commuter", store))
        #expect(alike == .alike && alike.plain.contains("sounds like 'computer'") && !alike.plain.contains("--force"))
        #expect(alike.description.hasSuffix("--force"))
        #expect(try refusal("hi") == .name)
    }

    @Test func `what is told of a word has its sounds, what it promises and what is nearest`() throws {
        let (word, calibration) = try teacher.word("athena")
        let report = TypedWordReport(word, calibration, teacher)
        #expect(report.pronunciations.first == "æ θ i n ə" && report.nearest.count == 3)
        #expect(report.respelled.count == 3 && report.respelled.allSatisfy { !$0.contains("<") && !$0.contains("ɹ") })
        #expect(report.lines.prefix(3).map { $0.contains("found") } == [true, true, true])
        #expect(report.lines.dropFirst(3) == report.remarks[...])
        let isPoor = try #require(calibration.balanced).found < TypedWordCalibration.poor
        #expect(report.remarks.contains { $0.contains("A longer name") } == isPoor)
    }

    @Test func `written sounds are taken in place of the spelling`() throws {
        let word = try teacher.word("Häuschen", sounds: ["HH OY1 S HH AH N", "hɔɪsçən"]).word
        #expect(word.pronunciations.map(teacher.pronouncer.text) == ["h ɔɪ s h ʌ n", "h ɔɪ s ʃ ə n"])
        #expect(throws: EnrollmentError.name) { try teacher.word("x", sounds: ["123"]) }
    }

    // MARK: - Store

    @Test func `a typed word is stored, and is no word of another model`() throws {
        let word = try teacher.word("hey house").word
        var store = WordStore()
        try store.put(WordStore.Word(word, teacher.pronouncer))
        let bytes = try store.encoded()
        #expect(bytes[7] == 9)
        let read = try WordStore(bytes: bytes, file: "words")
        #expect(read == store)
        let stored = try #require(read["hey house"])
        #expect(stored.isTyped && stored.typed(teacher.hearing.network.symbols) == word)
        let model = try Model(folder: Checkout.model, confirms: false)
        #expect(read.unusable(by: model).isEmpty && read.taught(for: model).isEmpty)
        #expect(read.incomplete(for: model).isEmpty && !read.lacksEstimates(for: model))
    }

    @Test func `a word with thresholds of another score gets them anew`() throws {
        let word = try teacher.word("hey house").word
        var old = WordStore.Word(word, teacher.pronouncer)
        old.sounds?.boundary = -4
        var bytes: [[UInt8]] = []
        for rule in [1, WordStore.Sounds.rule] {
            old.sounds?.rule = rule
            var store = WordStore()
            try store.put(old)
            bytes.append(try store.encoded())
        }
        let loader = VocabularyLoader(modelFolder: Checkout.model, confirms: false, words: TaughtWords("none"))
        let boundaries = try bytes.map { bytes in
            let stored = try WordStore(bytes: bytes, file: "words").typed
            return try loader.loadTyped(stored, beside: [], taught: []).words.map(\.boundary)
        }
        #expect(boundaries == [[word.boundary], [old.boundary]])
    }

    @Test func `new thresholds are stored once, and takes stay`() throws {
        let typed = try teacher.word("hey house").word
        var old = WordStore.Word(typed, teacher.pronouncer)
        old.sounds?.rule = 1
        old.sounds?.boundary = -4
        var taken = try RecordedTakes.word("front left", [try RecordedTakes.utterance("Front_Left")])
        taken.sounds = old.sounds
        taken.sounds?.ways = try teacher.word("front left").word.pronunciations.map(teacher.pronouncer.text)
        let folder = try TestFolder()
        let file = WordStoreFile(path: folder.file("words"))
        try file.update { store throws(EnrollmentError) in
            var new = WordStore()
            try new.put(old)
            try new.put(taken)
            store = new
        }
        let loader = VocabularyLoader(modelFolder: Checkout.model, confirms: false, words: TaughtWords(file.path))
        let before = try #require(try file.read())
        _ = try loader.load()
        #expect(try file.read() == before)
        _ = try loader.load(stores: true)
        let after = try #require(try file.read())
        let house = try #require(after["hey house"])
        #expect(house == WordStore.Word(typed, teacher.pronouncer))
        let left = try #require(after["front left"])
        #expect(left.takes == taken.takes && left.boundary == taken.boundary)
        #expect(left.sounds?.rule == WordStore.Sounds.rule && left.sounds?.ways == taken.sounds?.ways)
        #expect(left.sounds?.boundary == (try teacher.word("front left").word.boundary))
    }

    @Test func `a spelling's sounds that are written are calibrated as the spelling is`() throws {
        let spelled = try teacher.word("hey house").word
        let ways = spelled.pronunciations.map(teacher.pronouncer.text)
        #expect(try teacher.word("hey house", sounds: ways).word == spelled)
        // The lowest boundary of a spelled name does not hold for others.
        let written = try teacher.word("voyager two", sounds: ["v w a j a ʒ ɚ d ø"]).calibration.balanced
        #expect(try #require(written).score < -1.9)
    }

    @Test func `sounds that the network does not have are no word`() throws {
        var word = WordStore.Word(try teacher.word("hey house").word, teacher.pronouncer)
        word.sounds?.ways = ["h eɪ ☃", ""]
        #expect(word.typed(teacher.hearing.network.symbols) == nil)
    }

    @Test func `a word with takes and sounds is one in the store, found by both`() throws {
        let typed = try teacher.word("front left").word
        var store = WordStore()
        var taught = try RecordedTakes.word("front left", [try RecordedTakes.utterance("Front_Left")])
        taught.sensitivities[.balanced, .command] = 0.8
        taught.sensitivities[.strict, .command] = 0.9
        try store.put(taught)
        let word = try store.add(typed: WordStore.Word(typed, teacher.pronouncer))
        #expect(!word.isTyped && word.takes == taught.takes && word.sensitivities == taught.sensitivities)
        let bytes = try store.encoded()
        #expect(bytes[7] == 10)
        let read = try WordStore(bytes: bytes, file: "words")
        #expect(read == store && read.typed.map(\.name) == ["front left"])
        #expect(read.words[0].typed(teacher.hearing.network.symbols) == typed)
        // Both have one scale.
        let beside = typed.beside(try #require(word.taught))
        #expect(beside.probability(beside.score(0.8)) > 0.799 && beside.score(0.8) > typed.score(0.5))
        #expect(beside.score(0.9) > beside.score(0.8) && beside.slope > 0)
    }

    @Test func `a word with takes and sounds fires once, by what comes first`() throws {
        let model = try RecordedTakes.model()
        let voice = try RecordedTakes.voice("Front_Left")
        let typed = try teacher.word("front left").word
        var word = try RecordedTakes.word("front left", [try RecordedTakes.utterance("Front_Left")])
        _ = word.calibrate(among: [], try #require(try NegativeSet.beside(model, in: RecordedTakes.folder)))
        let taught = try #require(word.taught)
        let quiet = [Float](repeating: 0, count: 24_000)
        let audio = quiet + voice + quiet + voice + quiet
        for (taught, typed, count) in [([taught], [typed.beside(taught)], 2), ([], [typed], 2)] {
            let vocabulary = Vocabulary(model, taught: taught, typed: typed, hearing: teacher.hearing)
            #expect(vocabulary.labels.count { $0 == "front left" } == 1)
            let settings = DetectorSettings(vocabulary)
            let found = Self.detections(settings, audio).filter { settings.name(of: $0) == "front left" }
            #expect(found.count == count, "\(found.map { ($0.time, $0.confidence) })")
            #expect(found.allSatisfy { $0.confidence >= $0.threshold })
        }
    }

    // MARK: - Detection

    /// The words that a detector hears in one of Debian's recordings, between two seconds of silence.
    private func heard(_ names: [String], in voice: String, gain: Float = 1) throws -> [String] {
        let settings = try settings(names)
        let quiet = [Float](repeating: 0, count: 32_000)
        let audio = quiet + (try RecordedTakes.voice(voice)).map { $0 * gain } + quiet
        return Self.detections(settings, audio).map { settings.name(of: $0) }.filter(names.contains)
    }

    private func settings(_ names: [String]) throws -> DetectorSettings {
        let model = try Model(folder: Checkout.model, confirms: false)
        let words = try names.map { try teacher.word($0).word }
        return DetectorSettings(Vocabulary(model, typed: words, hearing: teacher.hearing))
    }

    private static func detections(_ settings: DetectorSettings, _ audio: [Float]) -> [Detection] {
        var detector = Detector(settings)
        let window = [Float](repeating: 0, count: 16_000) + audio
        var found: [Detection] = []
        for hop in 1...audio.count / 1600 {
            let end = hop * 1600
            detector.process(window: window.span.extracting(end..<end + 16_000)) { found.append($0) }
        }
        detector.finish { found.append($0) }
        return found
    }

    private static let names = [
        "front left", "front right", "front center", "rear left", "rear right", "rear center", "side left",
        "side right",
    ]

    @Test(arguments: [1, 0.05, 0.003] as [Float]) func `each of Debian's recordings is heard as what is said`(
        gain: Float
    )
        throws
    {
        var (right, wrong) = (0, 0)
        for name in Self.names {
            let voice = name.split(separator: " ").map(\.capitalized).joined(separator: "_")
            let heard = try heard(Self.names, in: voice, gain: gain)
            right += heard == [name] ? 1 : 0
            wrong += heard.count { $0 != name }
        }
        #expect(right >= 7 && wrong == 0, "\(right) of 8, \(wrong) others")
    }

    @Test func `two utterances are two words, and one is one`() throws {
        let settings = try settings(["front left"])
        let quiet = [Float](repeating: 0, count: 24_000)
        let voice = try RecordedTakes.voice("Front_Left")
        for count in 1...3 {
            let audio = (0..<count).flatMap { _ in quiet + voice } + quiet
            let found = Self.detections(settings, audio).filter { settings.name(of: $0) == "front left" }
            #expect(found.count == count, "\(found.map(\.time))")
            // The word ends at 1.2 s of the recording.
            for (index, word) in found.enumerated() {
                let end = Double(index + 1) * 1.5 + Double(index * voice.count) / 16_000 + 1.2
                #expect(abs(word.end - end) < 0.25 && word.time - word.end < 0.8, "\(word.end) for \(end)")
            }
        }
    }

    @Test func `scoring allocates nothing`() throws {
        let settings = try settings(["front left", "rear right"])
        let voice = try RecordedTakes.voice("Front_Left")
        final class Stream {
            var detector: Detector
            init(_ settings: DetectorSettings) { detector = Detector(settings) }
        }
        let stream = Stream(settings)
        let window = [Float](repeating: 0, count: 16_000) + voice
        let trial = HeapTrial {
            for hop in 1...voice.count / 1600 {
                stream.detector.process(window: window.span.extracting(hop * 1600..<hop * 1600 + 16_000)) { _ in }
            }
        }
        #expect(trial.isQuiet(seconds: 30))
    }

    @Test func `talk that is damaged is refused`() throws {
        let folder = try TestFolder()
        for name in ["phonemes.json", "network.safetensors", "spelling.safetensors"] {
            try FileManager.default.copyItem(
                atPath: "\(Checkout.path)/Models/phonemes/\(name)",
                toPath: folder.file(name)
            )
        }
        let network = try PhonemeNetwork(folder: folder.path)
        #expect(throws: ModelError.unreadable) { try PhonemeTalk(network) }
        func talk(_ counts: [UInt8], _ symbols: [UInt8], _ losses: [UInt8]) throws {
            var file = TensorFile()
            for (name, bytes) in [("counts", counts), ("symbols", symbols), ("losses", losses)] {
                file.add(name, [bytes.count], type: "U8", bytes)
            }
            try Data(file.bytes).write(to: URL(fileURLWithPath: folder.file("talk.safetensors")))
        }
        try talk([1, 2], [3, 250, 4], [0, 1, 255])
        #expect(try PhonemeTalk(network).peaks(of: [Pronunciation([3])], count: 5).count == 1)
        for (counts, symbols, losses) in [([1, 1], [3], [0]), ([1], [3], [0, 1]), ([], [], [])]
            as [([UInt8], [UInt8], [UInt8])]
        {
            try talk(counts, symbols, losses)
            #expect(throws: ModelError.tensor) { try PhonemeTalk(network) }
        }
    }
}

/// A take beside its name. The voice says "front", as its first utterance.
struct SpokenNameTests {
    @Test(
        arguments: [
            ("front", -1.0 ... -0.5, false), ("brunt", -0.8 ... -0.3, false), ("grand", -1.8 ... -1.2, true),
            ("fond", -2.8 ... -2.2, true), ("computer", -9 ... -5, false), ("rear left", -6 ... -4, false),
        ] as [(String, ClosedRange<Float>, Bool)]
    )
    func `a take that sounds a little like its name is doubtful`(
        name: String,
        scores: ClosedRange<Float>,
        isDoubtful: Bool
    ) throws {
        let said = try RecordedTakes.utterance("Front_Center")
        let spoken = SpokenName(name)
        let score = try #require(spoken.score(said))
        #expect(scores.contains(score), "\(score)")
        #expect(spoken.isDoubtful(said) == isDoubtful)
        var session = try Teaching(name, existing: nil, model: try RecordedTakes.model(), keepsAudio: false)
        #expect(session.add(said) == nil)
        #expect(session.doubtOfSounds == (isDoubtful ? .untypical(name) : nil))
    }

    @Test func `nothing can be said of a name without a pronunciation`() throws {
        let spoken = SpokenName("你好")
        let said = try RecordedTakes.utterance("Front_Center")
        #expect(spoken.score(said) == nil && !spoken.isDoubtful(said))
    }
}
