import Audio
import Capture
private import Control
private import Core
import Enrollment
import Inference
private import Network
private import System

/// `beckon enroll WORD`: teaches a word, from a microphone or from recordings.
struct Enroll {
    private let options: EnrollOptions
    private let model: Model
    private let taught: TaughtWords
    /// The model's negative set, for the calibration; nil if the model has none.
    private let negatives: NegativeSet?
    /// Words that may sound like it; nil if the model has none.
    private let near: NearWords?

    init(_ arguments: Arguments) throws {
        options = try EnrollOptions(arguments)
        model = try options.listening.loadModel(detects: false)
        let folder = ModelFolder.find(options.listening.modelFolder)
        // The file of --words need not exist yet.
        taught = TaughtWords(options.words)
        guard model.embeddingCount > 0 else {
            throw Failure("\(model.name): this model has no embedding to learn words by; use the commands model")
        }
        let loaded = model
        negatives = try folder.flatMap { folder throws(ModelError) in try NegativeSet.beside(loaded, in: folder) }
        near = try folder.flatMap { folder throws(ModelError) in try NearWords.beside(loaded, in: folder) }
        if negatives == nil {
            Output.report(.warning, "the model has no \(NegativeSet.fileName), so error rates cannot be estimated")
        }
    }

    /// Runs the command. Returns the exit status.
    func run() throws -> Int32 {
        let file = try taught.file()
        // Checked first, so that the user does not record takes that cannot be stored.
        try file.checkChangeable()
        guard options.negatives.isEmpty else {
            return try EnrollNegatives(options: options, model: model, negatives: negatives).run(file)
        }
        var store = try file.read()
        var existing = store?[options.word]
        if existing == nil { try checkSpelling(store) }
        if existing?.isTyped == false, options.hasTakes, !options.more {
            throw Failure(
                "'\(printable(options.word))' is taught already; --more adds takes to it, beckon forget takes it away"
            )
        }
        if existing == nil, options.more {
            throw Failure("'\(printable(options.word))' is not taught yet; leave --more out")
        }
        if let word = existing, !word.isTyped {
            store?.renew([word.name], for: model, negatives, .partial)
            existing = store?[word.name]
            guard store?.unusable(by: model).contains(word.name) == false else {
                throw EnrollmentError.otherModel(word.name)
            }
        }
        let typing = options.typed ? try TypedEnrollment(options: options, model: model, store) : nil
        if let typing, !options.hasTakes {
            return try typing.store(in: file) { word, file in
                self.report(word, word.calibrated(among: store?.words ?? [], negatives), in: file)
            }
        }
        if isMissedByService {
            Output.report(.notice, Self.serviceNote(file.path))
        } else {
            SystemWords.announce(options.words)
        }
        Interrupt.watch()
        var teaching = try Teaching(
            options.word,
            existing: existing,
            model: model,
            keepsAudio: options.keepsAudio,
            negatives: options.force ? nil : negatives,
            sounds: typing?.word.sounds
        )
        let before = teaching.takes.count
        let unread: Int
        if let files = options.files {
            unread = addTakes(fromFiles: files, &teaching)
        } else {
            unread = 0
            try addTakesFromMicrophone(&teaching)
        }
        if Interrupt.isRequested {
            Output.report(.error, "\(EnrollmentError.cancelled)")
            return 130
        }
        guard teaching.takes.count > before else {
            throw Failure("'\(printable(options.word))' was not taught: none of its takes can be used")
        }
        if !options.force { try teaching.checkCommands() }
        var report: EnrollReport
        do throws(EnrollmentError) {
            report = try save(teaching, in: file)
        } catch {
            guard error == .cancelled else { throw error }
            Output.report(.error, error.description)
            return 130
        }
        report.typing = typing?.said
        report.similar = similarTexts(report.word)
        Output.write(options.json ? report.json + "\n" : report.text())
        return unread > 0 ? 1 : 0
    }

    /// What sounds like the word, tried with synthetic voices where the system has them.
    private func similarTexts(_ word: WordStore.Word) -> [SimilarText] {
        guard let negatives else { return [] }
        let synthesizer = Synthesizer()
        return word.similarTexts(near, negatives).map { text in
            SimilarText(text, for: word, model: model, by: synthesizer)
        }
    }

    /// Refuses a new name that differs only in its spelling from one that is there: to the ear the two are one word.
    private func checkSpelling(_ store: WordStore?) throws(Failure) {
        guard let twin = WordTwin(of: options.word, store, model) else { return }
        let (name, other) = (printable(options.word), printable(twin.name))
        let quoted = ShellWord.quoted(other)
        throw Failure(
            twin.isTaught
                ? "'\(name)' is spelled almost like '\(other)', which is taught already; did you mean beckon enroll \(quoted) --more?"
                : "'\(name)' is spelled almost like '\(other)', which the model knows; did you mean beckon enroll \(quoted), which "
                    + "adapts it to your voice?"
        )
    }

    // MARK: - From recordings

    /// Adds all utterances of the files as takes. Returns the number of files that could not be read.
    private func addTakes(fromFiles paths: [String], _ teaching: inout Teaching) -> Int {
        let list = FileList(paths: paths)
        for problem in list.problems { Output.report(.error, problem) }
        var unread = list.problems.count
        var names: [String] = teaching.takes.indices.map { "take \($0 + 1)" }
        for path in list.files where !Interrupt.isRequested {
            do {
                let samples = try FileBlocks.readClip(path: path, atMost: 600, mix: options.listening.mix)
                addTakes(UtteranceSegmenter.takes(in: samples, model), of: path, &names, &teaching)
            } catch {
                Output.report(.error, "\(error)")
                unread += 1
            }
        }
        for outlier in teaching.removeOutliers() {
            let name = names.indices.contains(outlier.index) ? names[outlier.index] : "a take"
            reportUnused(name, .outlier(similarity: outlier.similarity))
        }
        return unread
    }

    /// Adds the utterances of one file as takes.
    ///
    /// - Parameter names: of all takes; those of the added ones are appended.
    private func addTakes(
        _ takes: [Utterance],
        of path: String,
        _ names: inout [String],
        _ teaching: inout Teaching
    ) {
        if takes.isEmpty { reportUnused(path, .noSpeech) }
        for utterance in takes {
            let seconds = Double(utterance.start + utterance.speech.lowerBound) / Double(Utterance.sampleRate)
            let name = takes.count == 1 ? path : "\(path), at \(positionText(seconds))"
            switch teaching.add(utterance, mostClipped: TakeCheck.mostClippedInFile) {
            case .copy(let take) where names.indices.contains(take - 1):
                Output.report(
                    .warning,
                    "\(printable(name)): left out: the same recording as \(printable(names[take - 1])), which counts once"
                )
            case let fault?: reportUnused(name, fault)
            case nil:
                names.append(name)
                show(utterance, name)
                let check = TakeCheck(utterance)
                if let doubt = check.doubt ?? teaching.doubtOfSounds {
                    Output.report(.warning, "\(printable(name)): used, but \(doubt)")
                }
                let clipped = check.clipped
                if clipped > TakeCheck.mostClipped {
                    Output.report(.warning, "\(printable(name)): \(TakeFault.clipped(clipped)); it is still used")
                }
            }
        }
    }

    private func reportUnused(_ name: String, _ fault: TakeFault) {
        Output.report(.warning, "\(printable(name)): left out: \(fault)")
    }

    /// - Parameter name: shown above the picture; empty for none.
    private func show(_ utterance: Utterance, _ name: String) {
        guard !options.json else { return }
        if !name.isEmpty { Output.write(printable(name) + "\n") }
        Output.write(TakePicture(utterance).text + "\n")
    }

    // MARK: - From a microphone

    /// Without a terminal, the time for each take, and for all of them at least.
    private static let (timeForTake, leastTime) = (Duration.seconds(15), Duration.seconds(60))

    private func addTakesFromMicrophone(_ teaching: inout Teaching) throws {
        let microphone = ChosenMicrophone(
            configuration: options.configuration,
            device: options.device,
            channels: options.listening.channels
        )
        let keys = TakeKeys()
        // A script would wait for ever, and a room is never quiet for ever.
        let time = keys == nil ? max(Self.leastTime, Self.timeForTake * options.takes) : nil
        var takes = try SpokenTakes(try microphone.open(), model: model, until: time.map { Clock.now + $0 })
        defer { takes.stop() }
        let player = TakePlayer()
        let wanted = options.takes
        let before = teaching.takes.count
        let request = "Say “\(printable(options.word))” once at each prompt, as you will to the device. Ctrl-C ends."
        Output.writeError((Terminal.errorIsTerminal ? wrapped(request, columns: Terminal.width) : request) + "\n")
        func endOfTime(_ count: Int) -> Failure {
            Failure(
                "'\(printable(options.word))' was not taught: \(count) of \(counted(wanted, "take was", "takes were")) recorded within "
                    + "\(durationText((time ?? .zero).seconds)), the limit without a terminal; run it on one, or give recordings "
                    + "with --from"
            )
        }
        guard takes.waitForAudio() else {
            if takes.isLate, !Interrupt.isRequested { throw endOfTime(0) }
            return
        }
        var (refused, doubts) = (0, 1)
        var last: Utterance?
        func hint(_ rest: String) -> String {
            "\(last != nil && player != nil ? "p plays the last take, " : "")r takes it again\(rest)"
        }
        while !Interrupt.isRequested {
            let count = teaching.takes.count - before
            let heard: SpokenTakes.Heard
            if count < wanted {
                Output.writeError("take \(count + 1) of \(wanted): speak now\n")
                heard = takes.next(keys)
            } else if let keys, last != nil {
                Output.writeError("Enter stores the word; \(hint("")).\n")
                heard = takes.key(keys).map { .key($0) } ?? .end
            } else {
                return
            }
            switch heard {
            case .end:
                if takes.isLate, !Interrupt.isRequested { throw endOfTime(count) }
                return
            case .key(.done):
                if count >= wanted { return }
            case .key(.play):
                guard let last else { continue }
                do throws(Failure) {
                    guard let player else { throw Failure("aplay was not found; it is in the package alsa-utils") }
                    try player.play(last)
                } catch {
                    Output.report(.warning, error.description)
                }
            case .key(.redo):
                guard last != nil, teaching.removeLast() else { continue }
                last = nil
            case .utterance(let utterance):
                guard let fault = add(utterance, &teaching, &doubts) else {
                    last = utterance
                    if keys != nil, teaching.takes.count - before < wanted { Output.writeError(hint("\n")) }
                    continue
                }
                Output.report(.warning, "left out: \(fault)")
                refused += 1
                guard refused < 12 else {
                    throw Failure("too many takes were left out; beckon doctor checks the microphone")
                }
            }
        }
    }

    /// Adds a spoken utterance, and removes takes that are unlike the others. Returns why the utterance was not used.
    ///
    /// - Parameter doubts: how often another take may still be asked for although this one can be used.
    private func add(_ utterance: Utterance, _ teaching: inout Teaching, _ doubts: inout Int) -> TakeFault? {
        let result = teaching.addSpoken(utterance)
        if result.fault == nil, doubts > 0, let doubt = TakeCheck(utterance).doubt ?? teaching.doubt {
            doubts -= 1
            _ = teaching.removeLast()
            return doubt
        }
        if result.fault == nil || result.isOutlier { show(utterance, "") }
        for outlier in result.others {
            reportUnused("take \(outlier.index + 1)", .outlier(similarity: outlier.similarity))
        }
        return result.fault
    }

    // MARK: - Storing

    /// Adds the new takes to the word as it is stored now, calibrates it and stores it.
    private func save(_ teaching: borrowing Teaching, in file: WordStoreFile) throws(EnrollmentError) -> EnrollReport {
        let (word, calibration) = try file.store(
            teaching,
            acceptsAlike: options.force,
            negatives,
            .announced(file.path)
        )
        return report(word, calibration, in: file)
    }

    private func report(
        _ word: WordStore.Word,
        _ calibration: WordCalibration?,
        in file: WordStoreFile
    ) -> EnrollReport {
        let next = "\(whoFindsIt(file.path)) \(runExample)"
        return EnrollReport(word: word, calibration: calibration, path: file.path, next: next)
    }

    /// Whether root teaches a word before the system's service has its folder of words.
    private var isMissedByService: Bool {
        options.words == nil && TaughtWords.isBeforeService(OwnEnvironment.variables)
    }

    private static func serviceNote(_ path: String) -> String {
        "the word goes to \(printable(path)), which is root's own: the system's service keeps its words in "
            + "\(StateFolder.ofService), which its first start makes; to teach the service, run systemctl start beckon first"
    }

    /// How the word runs a program.
    private var runExample: String {
        let file = options.words.map { " --words \(ShellWord.quoted(printable($0)))" } ?? ""
        return "It runs a program with beckon listen\(file) --run \(WordProgram.example(for: options.word))"
    }

    /// How to try the word, and who else finds it.
    private func whoFindsIt(_ path: String) -> String {
        if isMissedByService {
            return
                "Try it: beckon listen. The system's service does not find it; after systemctl start beckon, teach it again."
        }
        if let file = options.words { return "Try it: beckon listen --words \(ShellWord.quoted(printable(file)))." }
        let environment = OwnEnvironment.variables
        let socket = ControlClient.findPath(environment: environment)
        let isRunning = UnixSocket.connect(socket) != nil
        let isForSystem = [StateFolder.ofWords, StateFolder.ofService].contains { path.hasPrefix($0 + "/") }
        // The system's service has words of its own.
        if isRunning,
            isForSystem == (socket == ControlServer.systemPath(environment: environment))
                || environment["BECKON_SOCKET"] != nil
        {
            return
                "The service that runs loads it within a second. Try it: say it, and beckon events shows what is found."
        }
        if isForSystem { return "The system's service finds it from its next start on: systemctl start beckon." }
        let other = isRunning ? " The system's service does not find it; sudo beckon enroll teaches it a word." : ""
        return "Try it: beckon listen.\(other)"
    }
}

extension WordStoreFile.Wait {
    /// Waits while another program changes the words, and says so. Ctrl-C ends it.
    static func announced(_ path: String) -> WordStoreFile.Wait {
        WordStoreFile.Wait(
            onWait: {
                Output.report(
                    .notice,
                    "\(printable(path)): waiting for another program that changes these words; Ctrl-C ends"
                )
            },
            isCancelled: { Interrupt.isRequested }
        )
    }
}
