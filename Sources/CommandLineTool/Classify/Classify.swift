private import Core
import Spotting
private import Synchronization

/// `beckon classify`: finds the words in audio files, several files in parallel, and prints them in order.
struct Classify {
    private let options: ClassifyOptions
    private let vocabulary: Vocabulary
    private let thresholds: Thresholds
    private let phrases: [Phrase]
    private let files: [String]
    /// The audio on standard input; nil if it is not read.
    private let spool: SpooledAudio?
    private let problems: [String]
    private let notes: [String]

    /// Loads the vocabulary and the thresholds, which all files share, and finds the files.
    init(_ options: ClassifyOptions) throws {
        self.options = options
        vocabulary = try options.listening.loadVocabulary()
        thresholds = try options.listening.thresholds(for: vocabulary, mode: options.listening.gate.mode)
        let labels = vocabulary.labels
        phrases = try options.phrases.map { try Phrase($0, words: labels) }

        var paths = options.paths
        if let list = options.list {
            paths += try FileList.names(listedIn: list, nulSeparated: options.listIsNulSeparated)
        }
        spool = options.readsAudio ? try SpooledAudio(raw: options.raw) : nil
        let list = FileList(paths: paths)
        files = list.files
        problems = list.problems
        notes = list.notes
    }

    /// Runs the command. Returns the exit status.
    func run() -> Int32 {
        guard let destination = Destination(options: options, files: files, labels: vocabulary.labels) else { return 2 }
        for note in notes { Output.tell(.notice, note) }
        Interrupt.watch()
        let batch = Batch(files: files, problems: problems, jobs: options.listening.jobs)
        destination.begin(batch.output)
        let detector = FileDetector(
            vocabulary,
            settings: options.listening.gate,
            thresholds: thresholds,
            phrases: phrases
        )
        let workers = max(1, options.listening.jobs / max(1, files.count))
        let begun = ContinuousClock.now
        let heardMilliseconds = Atomic<Int>(0)
        batch.run { number in
            let job = FileJob(
                file: files[number],
                path: files[number] == ClassifyOptions.standardInput ? spool?.path : nil,
                number: number,
                options: options,
                vocabulary: vocabulary,
                phrases: phrases,
                destination: destination,
                batch: batch,
                detector: detector,
                workers: workers
            )
            var seconds = 0.0
            defer { heardMilliseconds.add(Int(seconds * 1000), ordering: .relaxed) }
            try job.run(&seconds)
        }
        let elapsed = begun.duration(to: .now)
        if options.stats {
            let seconds = Double(heardMilliseconds.load(ordering: .relaxed)) / 1000
            Output.writeError(statistics(seconds: seconds, elapsed: elapsed / .seconds(1)))
        }
        return batch.finish()
    }

    private func statistics(seconds: Double, elapsed: Double) -> String {
        let speed = elapsed > 0 ? seconds / elapsed : 0
        return
            "\(files.count) \(files.count == 1 ? "file" : "files"), \(decimal(seconds, 1)) s of audio in \(decimal(elapsed, 2)) s: "
            + "\(decimal(speed, 0)) times real time\n"
    }
}
