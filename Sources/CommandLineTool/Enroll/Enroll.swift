import Audio
import Capture
private import Core
import Daemon
import Enrollment
private import FoundationEssentials
import Inference

/// `beckon enroll WORD`: teaches a word of the user's own, from a microphone or from recordings.
struct Enroll {
    private let options: EnrollOptions
    private let model: Model
    private let taught: TaughtWords
    /// Nil where nothing lies beside the model to compare words with.
    private let background: NegativeSet?

    init(_ options: EnrollOptions) throws {
        self.options = options
        model = try options.listening.loadModel()
        let folder = ModelFolder.find(options.listening.modelFolder)
        // A place that is named need not be there yet.
        taught = TaughtWords(options.words)
        guard model.embeddingCount > 0 else {
            throw Failure("\(model.name): this model has no embedding to learn words by; use the commands model")
        }
        let loaded = model
        background = try folder.flatMap { folder throws(ModelError) in try NegativeSet.beside(loaded, in: folder) }
        if background == nil {
            Terminal.tell(.warning, "nothing lies beside the model to compare words with: no rates can be estimated")
        }
    }

    /// Does the work. Returns the exit status.
    func run() throws -> Int32 {
        let file = try taught.file()
        // Before anybody speaks: what cannot be kept need not be said.
        try file.checkChangeable()
        var store = try file.read()
        var known = store?[options.word]
        if known != nil, !options.more {
            throw Failure(
                "'\(printable(options.word))' is taught already; --more adds takes to it, beckon forget takes it away"
            )
        }
        if known == nil, options.more {
            throw Failure("'\(printable(options.word))' is not taught yet; leave --more out")
        }
        if known != nil {
            _ = store?.renew(for: model, background)
            known = store?[options.word]
        }
        Interrupt.watch()
        var lesson = try EnrollmentSession(options.word, known: known, model: model, keepsAudio: options.keepsAudio)
        let before = lesson.takes.count
        let unread: Int
        if let files = options.files {
            unread = learn(from: files, &lesson)
        } else {
            unread = 0
            try learnFromMicrophone(&lesson)
        }
        if Interrupt.isRequested {
            Terminal.tell(.error, "interrupted; nothing was changed")
            return 130
        }
        guard lesson.takes.count > before else {
            throw Failure("'\(printable(options.word))' was not taught: no take of it can be used")
        }
        let report = try keep(lesson.word, in: file)
        Terminal.output(options.json ? report.json + "\n" : report.text)
        return unread > 0 ? 1 : 0
    }

    // MARK: - From recordings

    /// Learns from every utterance of the files. Returns how many files could not be read.
    private func learn(from paths: [String], _ lesson: inout EnrollmentSession) -> Int {
        let list = FileList(paths: paths)
        for problem in list.problems { Terminal.tell(.error, problem) }
        var unread = list.problems.count
        var names: [String] = lesson.takes.indices.map { "take \($0 + 1)" }
        for path in list.files where !Interrupt.isRequested {
            do {
                let samples = try FileBlocks.readClip(path: path, atMost: 600, mix: options.listening.mix)
                names += learn(UtteranceCutter.utterances(of: samples, model), of: path, &lesson)
            } catch {
                Terminal.tell(.error, "\(error)")
                unread += 1
            }
        }
        for stranger in lesson.dropStrangers() {
            let name = names.indices.contains(stranger.place) ? names[stranger.place] : "a take"
            leaveOut(name, .unlike(stranger.likeness))
        }
        return unread
    }

    /// Returns what the takes that were used are called.
    private func learn(_ utterances: [Utterance], of path: String, _ lesson: inout EnrollmentSession) -> [String] {
        // A click or a breath beside the word is none.
        let whole = utterances.filter { $0.seconds >= TakeCheck.shortest }
        let takes = whole.isEmpty ? utterances : whole
        if takes.isEmpty { leaveOut(path, .nothing) }
        var names: [String] = []
        for utterance in takes {
            let seconds = Double(utterance.start + utterance.speech.lowerBound) / Double(Utterance.sampleRate)
            let name = takes.count == 1 ? path : "\(path), at \(clockText(seconds))"
            if let fault = lesson.add(utterance) {
                leaveOut(name, fault)
            } else {
                names.append(name)
                show(utterance, name)
            }
        }
        return names
    }

    private func leaveOut(_ name: String, _ fault: TakeFault) {
        Terminal.tell(.warning, "\(printable(name)): left out: \(fault)")
    }

    private func show(_ utterance: Utterance, _ name: String) {
        guard !options.json else { return }
        Terminal.output(TakePicture(utterance).line + "  \(printable(name))\n")
    }

    // MARK: - From a microphone

    private func learnFromMicrophone(_ lesson: inout EnrollmentSession) throws {
        let microphone = ChosenMicrophone(
            configuration: options.configuration,
            device: options.device,
            channels: options.listening.channels
        )
        var takes = try SpokenTakes(try microphone.open(), model: model)
        defer { takes.stop() }
        let goal = lesson.takes.count + options.takes
        Terminal.error("Say “\(printable(options.word))” once when asked, as you would to the machine. Ctrl-C ends.\n")
        var refused = 0
        while lesson.takes.count < goal, !Interrupt.isRequested {
            Terminal.error("take \(options.takes - (goal - lesson.takes.count) + 1) of \(options.takes): speak now\n")
            guard let utterance = takes.next() else { return }
            var fault = lesson.add(utterance)
            if fault == nil {
                show(utterance, "")
                let newest = lesson.takes.count - 1
                for stranger in lesson.dropStrangers() {
                    if stranger.place == newest {
                        fault = .unlike(stranger.likeness)
                    } else {
                        leaveOut("take \(stranger.place + 1)", .unlike(stranger.likeness))
                    }
                }
            }
            guard let fault else { continue }
            Terminal.tell(.warning, "left out: \(fault)")
            refused += 1
            guard refused < 12 else { throw Failure("too many takes were left out; beckon doctor tells how it sounds") }
        }
    }

    // MARK: - Keeping

    /// Settles where the word fires, and puts it into the store.
    private func keep(_ word: WordStore.Word, in file: WordStoreFile) throws -> EnrollReport {
        var word = word
        var standing: WordCalibration?
        try file.update { store throws(EnrollmentError) in
            var new = store ?? WordStore(embedding: model.embeddingIdentity)
            let lost = new.renew(for: model, background)
            guard lost.isEmpty else { throw .otherModel(file: file.path, words: lost) }
            if let background { standing = word.settle(among: new.words, background) }
            try new.put(word)
            store = new
        }
        return EnrollReport(word: word, standing: standing, path: file.path)
    }
}
