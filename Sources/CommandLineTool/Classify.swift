private import Audio
private import Dispatch
private import Glibc
import Inference
import Spotting
private import Synchronization

/// `beckon classify`: the words of audio files, files side by side, results in order.
struct Classify {
    private let options: ClassifyOptions
    private let model: Model
    private let thresholds: Thresholds
    private let phrases: [Phrase]
    private let files: [String]
    private let problems: [String]

    /// Loads what all files share and finds the files.
    init(_ options: ClassifyOptions) throws {
        self.options = options
        guard let folder = ModelFolder.find(options.modelFolder) else {
            throw Failure("no model found; name its folder with --model DIR or in BECKON_MODEL")
        }
        model = try Model(folder: folder)
        guard model.sampleRate == FileBlocks.sampleRate, model.windowSamples == BlockRing.windowLength,
            model.hopSamples == BlockRing.blockLength
        else {
            throw Failure("\(folder): this model's window or rate is not one second at 16 kHz in hops of 100 ms")
        }
        var thresholds = Thresholds(labels: model.labels, defaults: model.thresholds)
        if let all = options.threshold { thresholds.setAll(all) }
        for (word, threshold) in options.wordThresholds { try thresholds.set(word, to: threshold) }
        self.thresholds = thresholds
        let labels = model.labels
        phrases = try options.phrases.map { try Phrase($0, words: labels) }

        var paths = options.paths
        if options.readsList {
            paths += FileList.names(in: FileList.standardInput(), nulSeparated: options.listIsNulSeparated)
        }
        let list = FileList(paths: paths)
        files = list.files
        problems = list.problems
    }

    /// Does the work. Returns the exit status.
    func run() -> Int32 {
        for problem in problems { Terminal.error("beckon: \(problem)\n") }
        guard let destination = Destination(options: options, files: files, labels: model.labels) else { return 2 }
        Interrupt.watch()
        let progress = Progress(files: files.count, isShown: Terminal.errorIsTerminal)
        let output = OrderedOutput { piece in
            progress.clear()
            if piece.isError { Terminal.error(piece.text) } else { Terminal.output(piece.text) }
        }
        destination.begin()
        let begun = ContinuousClock.now
        let next = Atomic<Int>(0)
        let failed = Atomic<Int>(problems.count)
        let heardMilliseconds = Atomic<Int>(0)
        DispatchQueue.concurrentPerform(iterations: max(1, min(options.jobs, files.count))) { _ in
            while !Interrupt.isRequested {
                let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
                guard number < files.count else { break }
                let job = FileJob(
                    file: files[number],
                    number: number,
                    options: options,
                    model: model,
                    thresholds: thresholds,
                    phrases: phrases,
                    destination: destination,
                    output: output,
                    progress: progress
                )
                let result = job.run()
                if !result.succeeded { failed.add(1, ordering: .relaxed) }
                heardMilliseconds.add(Int(result.seconds * 1000), ordering: .relaxed)
                output.finish(file: number)
            }
        }
        output.flush()
        progress.clear()
        let elapsed = begun.duration(to: .now)
        if options.stats {
            let seconds = Double(heardMilliseconds.load(ordering: .relaxed)) / 1000
            Terminal.error(statistics(seconds: seconds, elapsed: elapsed / .seconds(1)))
        }
        if Interrupt.isRequested {
            Terminal.error("beckon: interrupted after \(progress.done) of \(files.count) files\n")
            return 130
        }
        return failed.load(ordering: .relaxed) == 0 ? 0 : 1
    }

    private func statistics(seconds: Double, elapsed: Double) -> String {
        let speed = elapsed > 0 ? seconds / elapsed : 0
        return
            "\(files.count) \(files.count == 1 ? "file" : "files"), \(decimal(seconds, 1)) s of audio in \(decimal(elapsed, 2)) s: "
            + "\(decimal(speed, 0)) times real time\n"
    }
}

/// Something that ends the whole command: exit status 1.
struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
