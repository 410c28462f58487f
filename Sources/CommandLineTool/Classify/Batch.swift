import Core
import Corpus
import Spotting
private import Synchronization
private import System

/// Processes files in parallel: prints output in order, shows progress, reports and counts failures, stops at Ctrl-C.
final class Batch: Sendable {
    let output: OrderedOutput
    let progress: Progress
    /// Threads without a file, which help with the long files of others.
    let spare: SpareWorkers
    private let files: FileQueue
    private let jobs: Int
    private let failed: Atomic<Int>

    /// - Parameters:
    ///   - problems: earlier failures, one line each; printed now and counted.
    ///   - jobs: the number of files at a time.
    convenience init(files: [String], problems: [String], jobs: Int) {
        for problem in problems { Output.report(.error, problem) }
        let progress = Progress(files: files.count, isShown: Terminal.errorIsTerminal)
        self.init(FileQueue(files), jobs: jobs, progress: progress, sink: .standardOutput, failures: problems.count)
    }

    /// - Parameters:
    ///   - sink: gets output and the ends of files; error lines go to standard error.
    ///   - failures: earlier ones.
    init(_ files: FileQueue, jobs: Int, progress: Progress, sink: OrderedOutput.Sink, failures: Int = 0) {
        self.files = files
        self.jobs = jobs
        self.progress = progress
        failed = Atomic(failures)
        let spare = SpareWorkers()
        self.spare = spare
        let ordered = OrderedOutput.Sink(
            put: { piece in
                // Results that go elsewhere leave the bar as it is.
                if piece.isError || sink.isOnErrorTerminal { progress.clear() }
                if piece.isError { Output.writeError(piece.text) } else { sink.put(piece) }
            },
            end: sink.end
        )
        output = OrderedOutput(ordered, spare: spare)
    }

    /// Calls `work` with the number and the name of each file until all are done or the user asks to stop.
    ///
    /// An error of `work` is counted, and printed in the order of the files. `work` runs on several threads at a time.
    func run(_ work: @escaping @Sendable (Int, String) throws -> Void) {
        var threads: [JoinableThread] = []
        for _ in 1..<max(1, jobs) {
            // Where the system gives no more threads, those that are there do the work.
            guard let thread = JoinableThread(name: "beckon-file", { [self] in takeFiles(work) }) else { break }
            threads.append(thread)
        }
        takeFiles(work)
        for thread in threads { thread.join() }
        output.flush()
        progress.clear()
    }

    private func takeFiles(_ work: @Sendable (Int, String) throws -> Void) {
        while !Interrupt.isRequested, let (number, item) = files.next() {
            output.begin(file: number)
            switch item {
            case .file(let name): process(number, name, work)
            case .note(let line):
                output.put(Output.marked(.notice, line), isError: true, file: number)
                output.finish(file: number)
            case .problem(let line):
                failed.wrappingAdd(1, ordering: .relaxed)
                output.put(Output.marked(.error, line), isError: true, file: number)
                output.finish(file: number)
            }
        }
        if Interrupt.isRequested { output.release() }
        spare.give()
    }

    private func process(_ number: Int, _ name: String, _ work: @Sendable (Int, String) throws -> Void) {
        progress.report(file: name, seconds: 0, of: 1)
        var hasFailed = false
        do {
            try work(number, name)
        } catch {
            hasFailed = true
            failed.wrappingAdd(1, ordering: .relaxed)
            output.put(Output.marked(.error, "\(error)"), isError: true, file: number)
        }
        // After Ctrl-C the file is incomplete and does not count as done, nor do those after it.
        guard !Interrupt.isRequested else { return }
        progress.finish(file: name)
        output.finish(file: number, OrderedOutput.Ended(name: name, hasFailed: hasFailed))
    }

    /// Like ``run(_:)``; returns the values of `work` in the order of the files, without those that failed.
    func collect<Value: Sendable>(_ work: @escaping @Sendable (Int, String) throws -> Value) -> [Value] {
        let collected = Mutex<[Int: Value]>([:])
        run { number, name in
            let value = try work(number, name)
            collected.withLock { $0[number] = value }
        }
        return collected.withLock { values in values.sorted { $0.key < $1.key }.map(\.value) }
    }

    /// The exit status; reports an interruption.
    func finish() -> Int32 {
        if Interrupt.isRequested {
            let done =
                progress.files.map { "\(progress.done) of \(counted($0, "file"))" } ?? counted(progress.done, "file")
            Output.report(.error, "interrupted after \(done)")
            return 130
        }
        return failed.load(ordering: .relaxed) == 0 ? 0 : 1
    }
}

extension OrderedOutput.Sink {
    static let standardOutput = OrderedOutput.Sink(
        put: { piece in Output.write(piece.text) },
        isOnErrorTerminal: Terminal.errorIsOutput
    )
}
