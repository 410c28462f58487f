public import Audio
public import Control
public import Core
public import Enrollment
public import Inference
import Spotting
import Synchronization
import System

/// Teaches one word at a time with the audio that the detector gets.
///
/// Steps come one after the other, on the thread of changes. A take is recorded on a thread of its own, which reads the ``AudioHistory``
/// like all its readers: the capture and detector threads do nothing for it.
public final class TeachingDesk: Sendable {
    /// What a step needs of the service.
    public struct Settings: Sendable {
        public let model: Model
        /// The model's folder, for its ``NegativeSet``; nil for none.
        public let modelFolder: String?
        public let words: TaughtWords
        /// The recording of a recent word, `[samples]` at 16 kHz; nil if it is gone.
        public let recording: @Sendable (RecordedWord) -> [Float]?
        /// What the audio of a client is, kept from now on for this time, and what the client is called; nil if there is no such client.
        public let client: @Sendable (Int, Duration) -> (name: String, history: AudioHistory)?
        /// What there is to say where a word has got another name: what still has the old one.
        public let renamed: @Sendable (_ name: String, _ new: String) -> String?

        public init(
            model: Model,
            modelFolder: String?,
            words: TaughtWords,
            recording: @escaping @Sendable (RecordedWord) -> [Float]?,
            client: @escaping @Sendable (Int, Duration) -> (name: String, history: AudioHistory)? = { _, _ in nil },
            renamed: @escaping @Sendable (_ name: String, _ new: String) -> String? = { _, _ in nil }
        ) {
            (self.model, self.modelFolder, self.words) = (model, modelFolder, words)
            (self.recording, self.client, self.renamed) = (recording, client, renamed)
        }
    }

    /// What all threads may look at, for a moment.
    private struct Shown {
        var state = TeachingState()
        var sounds: [[Float]] = []
        var lastStep = Clock.now
        var recorder: TakeRecorder?
    }

    /// Time without a step after which a teaching that nobody ends is dropped.
    private static let idleTime = Duration.seconds(600)
    /// Takes from which on there is an estimate: it comes from the similarities between takes.
    private static let leastEstimated = 2

    private let history: AudioHistory?
    /// Held while a take is added or stored.
    private let lesson = Mutex<Lesson?>(nil)
    /// The word that is being typed. Thread of changes only.
    private let typed = Mutex<TypedLesson?>(nil)
    private let shown = Mutex(Shown())

    /// - Parameter history: the detector's audio; nil where there is only that of clients.
    public init(history: AudioHistory?) { self.history = history }

    /// How far it is. Any thread; never waits.
    public var state: TeachingState { shown.withLock { $0.state } }

    /// The sound of a take, or of a pronunciation of the word that is being typed, `[samples]` at 16 kHz; nil if there is none of this number,
    /// from 0 on. Any thread; never waits.
    public func take(_ number: Int) -> [Float]? {
        shown.withLock { shown in
            guard shown.sounds.indices.contains(number), !shown.sounds[number].isEmpty else { return nil }
            return shown.sounds[number]
        }
    }

    /// Carries out a step. Thread of changes only.
    ///
    /// - Returns: what was done, for the user and the log; nil if there is nothing to say.
    /// - Throws: why it was not; nothing has changed then.
    public func execute(_ step: TeachingStep, _ settings: Settings) throws -> String? {
        shown.withLock { $0.lastStep = Clock.now }
        do {
            return try carryOut(step, settings)
        } catch let error as EnrollmentError {
            throw TeachingError(error.plain)
        }
    }

    private func carryOut(_ step: TeachingStep, _ settings: Settings) throws -> String? {
        switch step {
        case .begin(let word, let more): try begin(word, more: more, settings)
        case .type(let word, let sounds): try type(word, sounds: sounds, settings)
        case .record: try record(nil, settings)
        case .recordClient(let client): try record(client, settings)
        case .take(let recorded): try change { try $0?.add(recording: recorded, settings) }
        case .redo:
            try change { lesson in
                guard lesson?.removeLast() == true else { throw TeachingError("there is no take to repeat") }
            }
        case .save: return try typed.withLock { $0 }.map { try save($0, settings) } ?? save()
        case .cancel: end()
        case .add(let word, let recorded):
            var lesson = try Lesson(word, more: true, settings)
            try lesson.add(recording: recorded, settings)
            guard lesson.isUsed else { throw TeachingError("not used: \(lesson.message ?? "it cannot be a take")") }
            let (note, text) = (lesson.message, try lesson.save())
            return note.map { "\(text); \($0)" } ?? text
        case .not(let word, let recorded): return try addNegative(recorded, to: word, settings)
        case .rename(let word, let name): return try rename(word, to: name, settings)
        case .forget(let word):
            try settings.words.file().update(WordStoreFile.Wait()) { store throws(EnrollmentError) in
                var new = store ?? WordStore()
                try new.forget(word)
                store = new
            }
            return "'\(printable(word))' was forgotten"
        case .name: break
        }
        return nil
    }

    /// Ends a teaching that nobody has continued for long. Thread of changes only.
    public func endIfIdle() {
        let isIdle = shown.withLock { shown in
            (shown.state.word ?? shown.state.typing?.word) != nil && Clock.now - shown.lastStep > Self.idleTime
        }
        if isIdle { end() }
    }

    /// Ends the recording, if there is one.
    ///
    /// - Parameter time: when to give up, on ``Clock``.
    /// - Returns: whether its thread has ended.
    public func stop(until time: Instant) -> Bool {
        shown.withLock { $0.recorder }?.stop(until: time) ?? true
    }

    // MARK: - Steps

    /// Refuses a second teaching.
    private func checkFree(_ state: TeachingState) throws(TeachingError) {
        guard let word = state.word ?? state.typing?.word else { return }
        throw TeachingError("'\(printable(word))' is being taught; save or cancel it first")
    }

    private func type(_ word: String, sounds: [String], _ settings: Settings) throws {
        var others = state
        if others.typing?.word == word { others.typing = nil }
        try checkFree(others)
        let lesson = try TypedLesson(word, sounds: sounds, settings)
        FreeMemory.giveBack()
        typed.withLock { $0 = lesson }
        shown.withLock { shown in
            shown = Shown()
            (shown.state.typing, shown.sounds) = (lesson.state, lesson.sounds)
        }
    }

    private func save(_ lesson: TypedLesson, _ settings: Settings) throws -> String {
        let text = try lesson.save(settings)
        end()
        return text
    }

    private func begin(_ word: String, more: Bool, _ settings: Settings) throws {
        try checkFree(state)
        try lesson.withLock { lesson in
            lesson = try Lesson(word, more: more, settings)
            show(&lesson)
        }
    }

    /// Time in which the word must be said: at the microphone one stands there already.
    private static let (longest, longestOfClient) = (Duration.seconds(15), Duration.seconds(45))

    private func record(_ client: Int?, _ settings: Settings) throws {
        guard let word = state.word else { throw TeachingError("no word is being taught; begin with its name") }
        guard !state.isRecording else { return }
        let model = try lesson.withLock { lesson in
            try lesson?.checkRoom()
            return lesson?.model
        }
        guard let model else { throw TeachingError("'\(printable(word))' is not being taught any more") }
        let longest = client == nil ? Self.longest : Self.longestOfClient
        let source = client.map { settings.client($0, longest + .seconds(5)) }
        if case .some(.none) = source { throw TeachingError("there is no such client any more; choose another") }
        guard let history = source??.history ?? history else {
            throw TeachingError("this service has no microphone; choose the client that the word is said to")
        }
        let recorder = try TakeRecorder(history, model, longest: longest)
        shown.withLock { shown in
            shown.recorder = recorder
            shown.state.client = source??.name
            (shown.state.isRecording, shown.state.hasSpeech, shown.state.message) = (true, false, nil)
        }
        do {
            try recorder.start { [self] hasSpeech in
                shown.withLock { $0.state.hasSpeech = hasSpeech }
            } end: { [self] result in
                end(result, of: recorder)
            }
        } catch {
            shown.withLock { ($0.recorder, $0.state.isRecording) = (nil, false) }
            throw error
        }
    }

    /// On the recorder's thread: its end.
    private func end(_ result: TakeRecorder.Result, of recorder: TakeRecorder) {
        lesson.withLock { lesson in
            guard lesson != nil, shown.withLock({ $0.recorder === recorder }) else { return }
            switch result {
            case .utterance(let utterance): lesson?.add(utterance)
            case .silence: lesson?.message = "no speech was heard; come nearer, and say the word after “Speak now”"
            case .noAudio:
                let client = shown.withLock { $0.state.client }
                lesson?.message =
                    client.map { "\($0) sent no audio; wake it, or look whether it is on" }
                    ?? "the microphone gave no audio"
            case .stopped: break
            }
            show(&lesson, endsRecording: true)
        }
    }

    private func change<Result: Sendable>(_ body: @Sendable (inout Lesson?) throws -> Result) throws -> Result {
        guard !state.isRecording else { throw TeachingError("a take is being recorded") }
        return try lesson.withLock { lesson in
            guard lesson != nil else { throw TeachingError("no word is being taught; begin with its name") }
            defer { show(&lesson) }
            return try body(&lesson)
        }
    }

    private func save() throws -> String {
        let (text, name, estimate) = try change { lesson in
            let text = try lesson?.save() ?? ""
            // Also from a single take, of which there is none before: what is stored has one.
            let caution =
                lesson?.takes == 1
                ? ["Caution: it has one take, which shows little of how it is said; More takes adds others."] : []
            return (text, lesson?.name, caution + (lesson?.estimate ?? []))
        }
        end()
        shown.withLock { ($0.state.saved, $0.state.estimate) = (name, estimate) }
        return text
    }

    private func addNegative(_ recorded: RecordedWord, to word: String, _ settings: Settings) throws -> String {
        guard !Labels(settings.model.labels).words.contains(word) else {
            throw TeachingError("the model knows '\(printable(word))' by itself; raise its threshold instead")
        }
        guard let samples = settings.recording(recorded) else { throw TeachingError.noRecording }
        let effect = try settings.words.file().addNegative(
            samples,
            to: word,
            keepsAudio: true,
            for: settings.model,
            try Lesson.negatives(settings),
            WordStoreFile.Wait()
        )
        return
            "this is no longer '\(printable(word))' (score \(percent(effect.before)), now \(percent(effect.after))); all takes "
            + "still are"
    }

    private func rename(_ word: String, to name: String, _ settings: Settings) throws -> String {
        guard state.word != word else {
            throw TeachingError("'\(printable(word))' is being taught; save or cancel it first")
        }
        let negatives = try Lesson.negatives(settings)
        try settings.words.file().rename(word, to: name, for: settings.model, negatives, WordStoreFile.Wait())
        let text = "'\(printable(word))' is called '\(printable(name))' now"
        return settings.renamed(word, name).map { "\(text); \($0)" } ?? text
    }

    private func end() {
        let recorder = shown.withLock { shown in
            defer { shown = Shown() }
            return shown.recorder
        }
        recorder?.stop(until: Clock.now + .milliseconds(500))
        lesson.withLock { $0 = nil }
        typed.withLock { $0 = nil }
    }

    /// Publishes the lesson, and together with it the end of a recording: nobody sees one without the other.
    private func show(_ lesson: inout Lesson?, endsRecording: Bool = false) {
        guard let (state, sounds) = lesson?.shown(leastEstimated: Self.leastEstimated) else { return }
        shown.withLock { shown in
            var new = state
            (new.isRecording, new.hasSpeech) = (shown.state.isRecording, shown.state.hasSpeech)
            new.client = shown.state.client
            new.recordings = shown.state.recordings
            if endsRecording {
                (new.isRecording, new.hasSpeech, shown.recorder) = (false, false, nil)
                new.recordings += 1
            }
            (shown.state, shown.sounds) = (new, sounds)
        }
    }
}

/// Why a step of teaching was not made.
struct TeachingError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }

    static let noRecording = TeachingError("its recording is gone; newer ones took its place")
}
