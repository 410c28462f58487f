private import Audio
private import Core
import Corpus
private import Echo
private import Inference
private import Spotting
private import Synchronization
private import System

/// `beckon classify`: finds the words in audio files, several files in parallel, and prints them in order.
struct Classify {
    private let options: ClassifyOptions
    private let classifier: FileClassifier

    /// Names that are looked at before the first file is processed: for the width of a table's first column.
    private static let firstNames = 1000

    /// Loads the vocabulary and the thresholds, which all files share.
    init(_ arguments: Arguments) throws {
        options = try ClassifyOptions(arguments)
        classifier = try FileClassifier(options)
    }

    /// Runs the command. Returns the exit status.
    func run() throws -> Int32 {
        guard !options.isWorker else {
            return try Worker(classifier: classifier, spare: SpareWorkers(options.listening.jobs - 1)).run()
        }
        let spool = options.readsAudio ? try SpooledAudio(raw: options.raw) : nil
        let walk = FileWalk(paths: options.paths, list: try list())
        let results =
            options.format == .audacity
            ? nil
            : try options.output.map {
                try ResultsFile(path: $0, heading: heading, resumes: options.resumes)
            }
        let files = FileQueue(walk) { [shard = options.shard] name in
            shard?.contains(name) == false || results?.isDone(name) == true
        }
        // Each label track needs a name that no other has.
        let isTracks = options.format == .audacity
        let (names, areAll) = files.first(isTracks ? .max : options.format == .table ? Self.firstNames : 1)
        guard !isTracks || names.count <= 1 || options.output != nil else {
            Output.report(.error, "a label track belongs to one file; for several, name a folder with --output DIR")
            return 2
        }
        if !files.hasFound, results == nil, options.shard == nil {
            Output.report(.notice, "the list names no file, so there is nothing to classify")
        }
        let progress = Progress(files: areAll ? names.count : nil, isShown: Terminal.errorIsTerminal)
        if !areAll { countFiles(for: progress, resumed: results?.resumed ?? 0) }
        let destination = Destination(options: options, files: names, labels: classifier.settings.vocabulary.labels)
        let batch = Batch(
            files,
            jobs: options.listening.jobs,
            progress: progress,
            sink: Self.sink(results),
            failures: results?.resumedFailures ?? 0
        )
        Interrupt.watch()
        if let results {
            if results.isNew { results.write(destination.header) }
        } else if options.format == .table {
            // For people, and not if no file can be read; programs get theirs even if no result follows.
            batch.output.begin(header: destination.header)
        } else {
            Output.write(destination.header)
        }
        let jobs = FileJobs(
            classifier: classifier,
            options: options,
            destination: destination,
            batch: batch,
            spool: spool
        )
        let begun = ContinuousClock.now
        let heard = Mutex((files: 0, seconds: 0.0))
        batch.run { number, file in
            var seconds = 0.0
            defer { heard.withLock { $0 = ($0.files + 1, $0.seconds + seconds) } }
            try jobs.run(number, file, &seconds)
        }
        let elapsed = begun.duration(to: .now)
        try results?.finish()
        if options.stats {
            let (files, seconds) = heard.withLock { $0 }
            Output.writeError(Self.statistics(files, seconds: seconds, elapsed: elapsed / .seconds(1)))
        }
        let status = batch.finish()
        if status == 130, results != nil { Output.report(.notice, "the same command with --resume goes on from here") }
        return status
    }

    private func list() throws -> NameList {
        guard let list = options.list else { return NameList() }
        let name = list == "-" ? "standard input" : printable(list)
        do throws(SystemError) {
            let names = try NameList(path: list, nulSeparated: options.listIsNulSeparated)
            if !names.isBinary { return names }
        } catch {
            let advice = error.call == "open" ? "; check the name" : ""
            throw Failure("\(name): cannot read this list of files: \(SystemError.text(error.number))\(advice)")
        }
        let meant = list == "-" ? "beckon classify -" : "beckon classify \(ShellWord.quoted(name))"
        throw Failure("\(name): not a list of names by lines, as it has NUL bytes; did you mean \(meant), or -0?")
    }

    /// All that results depend on. Runs with another heading do not go on with each other's results.
    private var heading: String {
        let vocabulary = classifier.settings.vocabulary
        let (gate, mix) = (options.listening.gate, options.listening.mix)
        let channels = (0..<64).filter(mix.contains).map(String.init).joined(separator: ",")
        let settings =
            "mode \(gate.mode.rawValue) trigger \(gate.trigger.rawValue) channels \(channels) echo \(mix.echo?.channel ?? -1)"
        let thresholds = classifier.settings.thresholds.values.map { $0.map { shortest(Double($0)) } ?? "-" }.joined(
            separator: ","
        )
        let shard = options.shard.map { " shard \($0)" } ?? ""
        return "beckon \(version) format \(options.format.rawValue) clips \(options.clips)\(shard) "
            + "model \(vocabulary.model.identity) words \(vocabulary.labels) thresholds \(thresholds) "
            + "phrases \(options.phrases) confirm \(options.listening.confirms) \(settings)"
    }

    private static func sink(_ results: ResultsFile?) -> OrderedOutput.Sink {
        guard let results else { return .standardOutput }
        let put: @Sendable (OrderedOutput.Piece) -> Void = { piece in
            results.write(piece.text)
            if results.failure != nil { Interrupt.request() }
        }
        return OrderedOutput.Sink(put: put, end: { results.end($0.name, hasFailed: $0.hasFailed) })
    }

    /// Counts all files on a thread of its own, for a bar that shows the time left.
    private func countFiles(for progress: Progress, resumed: Int) {
        progress.skip(resumed)
        // A list may be a pipe, which can be read only once.
        guard Terminal.errorIsTerminal, options.list == nil else { return }
        let (paths, shard) = (options.paths, options.shard)
        let body: @Sendable () -> Void = {
            var walk = FileWalk(paths: paths)
            var count = 0
            while let item = walk.next(), !Interrupt.isRequested {
                if case .file(let name) = item, shard?.contains(name) != false { count += 1 }
            }
            progress.expect(files: count)
        }
        // Without the thread, the bar goes without the time left.
        _ = try? SystemThread(name: "beckon-count", stackSize: 512 << 10, or: { $0 }, body)
    }

    private static func statistics(_ files: Int, seconds: Double, elapsed: Double) -> String {
        let speed = elapsed > 0 ? seconds / elapsed : 0
        return
            "\(files) \(files == 1 ? "file" : "files"), \(decimal(seconds, 1)) s of audio in \(decimal(elapsed, 2)) s: "
            + "\(decimal(speed, 0)) times real time\n"
    }
}
