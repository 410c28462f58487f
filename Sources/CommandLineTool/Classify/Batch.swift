import Core
private import Dispatch
private import Synchronization

/// Processes files in parallel: prints output in order, shows progress, reports and counts failures, stops at Ctrl-C.
final class Batch: Sendable {
    let files: [String]
    let output: OrderedOutput
    let progress: Progress
    private let jobs: Int
    private let failed: Atomic<Int>

    /// - Parameters:
    ///   - problems: earlier failures, one line each; printed now and counted.
    ///   - jobs: the number of files at a time.
    init(files: [String], problems: [String], jobs: Int) {
        self.files = files
        self.jobs = jobs
        for problem in problems { Output.tell(.error, problem) }
        failed = Atomic(problems.count)
        let progress = Progress(files: files.count, isShown: Terminal.errorIsTerminal)
        self.progress = progress
        output = OrderedOutput { piece in
            progress.clear()
            if piece.isError { Output.writeError(piece.text) } else { Output.write(piece.text) }
        }
    }

    /// Calls `work` with the number of each file until all are done or the user asks to stop.
    ///
    /// An error of `work` is counted, and printed in the order of the files. `work` runs on several threads at a time.
    func run(_ work: @Sendable (Int) throws -> Void) {
        let next = Atomic<Int>(0)
        DispatchQueue.concurrentPerform(iterations: max(1, min(jobs, files.count))) { _ in
            while !Interrupt.isRequested {
                let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
                guard number < files.count else { break }
                progress.report(file: files[number], seconds: 0, of: 1)
                do {
                    try work(number)
                    // After Ctrl-C the file is incomplete and does not count as done.
                    if !Interrupt.isRequested { progress.finish() }
                } catch {
                    output.put("beckon: \(error)\n", isError: true, file: number)
                    failed.wrappingAdd(1, ordering: .relaxed)
                    progress.finish()
                }
                output.finish(file: number)
            }
        }
        output.flush()
        progress.clear()
    }

    /// Like ``run(_:)``; returns the values of `work` in the order of the files, without those that failed.
    func collect<Value: Sendable>(_ work: @Sendable (Int) throws -> Value) -> [Value] {
        let values = Mutex<[Int: Value]>([:])
        run { number in
            let value = try work(number)
            values.withLock { $0[number] = value }
        }
        return values.withLock { values in values.sorted { $0.key < $1.key }.map(\.value) }
    }

    /// The exit status; reports an interruption.
    func finish() -> Int32 {
        if Interrupt.isRequested {
            Output.tell(.error, "interrupted after \(progress.done) of \(files.count) files")
            return 130
        }
        return failed.load(ordering: .relaxed) == 0 ? 0 : 1
    }
}
