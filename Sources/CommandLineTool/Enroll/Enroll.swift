import Audio
import Capture
private import Core
import Daemon
import Enrollment
private import FoundationEssentials
import Inference

/// `beckon enroll WORD`: teaches a word, from a microphone or from recordings.
struct Enroll {
    private let options: EnrollOptions
    private let model: Model
    private let taught: TaughtWords
    /// The model's negative set, for the calibration; nil if the model has none.
    private let negatives: NegativeSet?

    init(_ options: EnrollOptions) throws {
        self.options = options
        model = try options.listening.loadModel()
        let folder = ModelFolder.find(options.listening.modelFolder)
        // The file of --words need not exist yet.
        taught = TaughtWords(options.words)
        guard model.embeddingCount > 0 else {
            throw Failure("\(model.name): this model has no embedding to learn words by; use the commands model")
        }
        let loaded = model
        negatives = try folder.flatMap { folder throws(ModelError) in try NegativeSet.beside(loaded, in: folder) }
        if negatives == nil {
            Output.tell(.warning, "the model has no \(NegativeSet.fileName), so error rates cannot be estimated")
        }
    }

    /// Runs the command. Returns the exit status.
    func run() throws -> Int32 {
        let file = try taught.file()
        // Checked first, so that the user does not record takes that cannot be stored.
        try file.checkChangeable()
        var store = try file.read()
        var existing = store?[options.word]
        if existing != nil, !options.more {
            throw Failure(
                "'\(printable(options.word))' is taught already; --more adds takes to it, beckon forget takes it away"
            )
        }
        if existing == nil, options.more {
            throw Failure("'\(printable(options.word))' is not taught yet; leave --more out")
        }
        if let word = existing {
            store?.renew([word.name], for: model, negatives, .partial)
            existing = store?[word.name]
            guard store?.unusable(by: model).contains(word.name) == false else {
                throw EnrollmentError.otherModel(word.name)
            }
        }
        Interrupt.watch()
        var session = try EnrollmentSession(
            options.word,
            existing: existing,
            model: model,
            keepsAudio: options.keepsAudio
        )
        let before = session.takes.count
        let unread: Int
        if let files = options.files {
            unread = addTakes(fromFiles: files, &session)
        } else {
            unread = 0
            try addTakesFromMicrophone(&session)
        }
        if Interrupt.isRequested {
            Output.tell(.error, "\(EnrollmentError.cancelled)")
            return 130
        }
        guard session.takes.count > before else {
            throw Failure("'\(printable(options.word))' was not taught: none of its takes can be used")
        }
        let report: EnrollReport
        do throws(EnrollmentError) {
            report = try save(session.changes, of: session.word, in: file)
        } catch {
            guard error == .cancelled else { throw error }
            Output.tell(.error, error.description)
            return 130
        }
        Output.write(options.json ? report.json + "\n" : report.text)
        return unread > 0 ? 1 : 0
    }

    // MARK: - From recordings

    /// Adds all utterances of the files as takes. Returns the number of files that could not be read.
    private func addTakes(fromFiles paths: [String], _ session: inout EnrollmentSession) -> Int {
        let list = FileList(paths: paths)
        for problem in list.problems { Output.tell(.error, problem) }
        var unread = list.problems.count
        var names: [String] = session.takes.indices.map { "take \($0 + 1)" }
        for path in list.files where !Interrupt.isRequested {
            do {
                let samples = try FileBlocks.readClip(path: path, atMost: 600, mix: options.listening.mix)
                names += addTakes(UtteranceSegmenter.utterances(of: samples, model), of: path, &session)
            } catch {
                Output.tell(.error, "\(error)")
                unread += 1
            }
        }
        for outlier in session.removeOutliers() {
            let name = names.indices.contains(outlier.index) ? names[outlier.index] : "a take"
            reportUnused(name, .outlier(similarity: outlier.similarity))
        }
        return unread
    }

    /// Adds the utterances of one file. Returns the names of the added takes.
    private func addTakes(_ utterances: [Utterance], of path: String, _ session: inout EnrollmentSession) -> [String] {
        // Utterances shorter than a word, such as a click or a breath, are not takes.
        let words = utterances.filter { $0.seconds >= TakeCheck.shortest }
        let takes = words.isEmpty ? utterances : words
        if takes.isEmpty { reportUnused(path, .noSpeech) }
        var names: [String] = []
        for utterance in takes {
            let seconds = Double(utterance.start + utterance.speech.lowerBound) / Double(Utterance.sampleRate)
            let name = takes.count == 1 ? path : "\(path), at \(clockText(seconds))"
            if let fault = session.add(utterance) {
                reportUnused(name, fault)
            } else {
                names.append(name)
                show(utterance, name)
            }
        }
        return names
    }

    private func reportUnused(_ name: String, _ fault: TakeFault) {
        Output.tell(.warning, "\(printable(name)): left out: \(fault)")
    }

    private func show(_ utterance: Utterance, _ name: String) {
        guard !options.json else { return }
        Output.write(TakePicture(utterance).line + "  \(printable(name))\n")
    }

    // MARK: - From a microphone

    private func addTakesFromMicrophone(_ session: inout EnrollmentSession) throws {
        let microphone = ChosenMicrophone(
            configuration: options.configuration,
            device: options.device,
            channels: options.listening.channels
        )
        var takes = try SpokenTakes(try microphone.open(), model: model)
        defer { takes.stop() }
        let goal = session.takes.count + options.takes
        Output.writeError(
            "Say “\(printable(options.word))” once at each prompt, as you will to the device. Ctrl-C ends.\n"
        )
        var refused = 0
        while session.takes.count < goal, !Interrupt.isRequested {
            Output.writeError(
                "take \(options.takes - (goal - session.takes.count) + 1) of \(options.takes): speak now\n"
            )
            guard let utterance = takes.next() else { return }
            var fault = session.add(utterance)
            if fault == nil {
                show(utterance, "")
                let newest = session.takes.count - 1
                for outlier in session.removeOutliers() {
                    let reason = TakeFault.outlier(similarity: outlier.similarity)
                    if outlier.index == newest {
                        fault = reason
                    } else {
                        reportUnused("take \(outlier.index + 1)", reason)
                    }
                }
            }
            guard let fault else { continue }
            Output.tell(.warning, "left out: \(fault)")
            refused += 1
            guard refused < 12 else {
                throw Failure("too many takes were left out; beckon doctor checks the microphone")
            }
        }
    }

    // MARK: - Storing

    /// Adds the new takes to the word as it is stored now, calibrates it and stores it.
    private func save(
        _ changes: EnrollmentSession.Changes,
        of session: WordStore.Word,
        in file: WordStoreFile
    ) throws(EnrollmentError) -> EnrollReport {
        var word = session
        var calibration: WordCalibration?
        try file.update(.announced(file.path)) { store throws(EnrollmentError) in
            var new = store ?? WordStore()
            new.renew(for: model, negatives, .complete)
            new.renew([word.name], for: model, negatives, .partial)
            let stored = new[word.name]
            // Another program may have changed the words while takes were recorded.
            if let stored {
                guard options.more else { throw .changedMeanwhile(word.name, "taught") }
                guard stored.embedding == word.embedding,
                    stored.takes.first?.templateSpacing == word.takes.first?.templateSpacing
                else { throw .changedMeanwhile(word.name, "taught anew") }
            } else if options.more {
                throw .changedMeanwhile(word.name, "forgotten")
            }
            word.takes = changes.applied(to: stored?.takes ?? [])
            if let negatives { calibration = word.calibrate(among: new.words, negatives) }
            try new.put(word)
            store = new
        }
        return EnrollReport(word: word, calibration: calibration, path: file.path)
    }
}

extension WordStoreFile.Wait {
    /// Waits while another program changes the words, and says so. Ctrl-C ends it.
    static func announced(_ path: String) -> WordStoreFile.Wait {
        WordStoreFile.Wait(
            onWait: {
                Output.tell(
                    .notice,
                    "\(printable(path)): waiting for another program that changes these words; Ctrl-C ends"
                )
            },
            isCancelled: { Interrupt.isRequested }
        )
    }
}
