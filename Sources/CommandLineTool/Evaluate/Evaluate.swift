import Core

/// `beckon evaluate`: measures the accuracy of a model on labelled recordings, or compares two such measurements.
struct Evaluate {
    private enum Task {
        case measure(EvaluateRun)
        case compare(EvaluateCompare)
    }

    private let task: Task

    init(_ arguments: Arguments) throws {
        if arguments.has("--compare") {
            task = .compare(try EvaluateCompare(arguments))
        } else {
            task = .measure(try EvaluateRun(EvaluateOptions(arguments)))
        }
    }

    /// Runs the command. Returns the exit status.
    func run() throws -> Int32 {
        switch task {
        case .measure(let run): try run.run()
        case .compare(let comparison): try comparison.run()
        }
    }
}
