import Synchronization

/// Warnings on audio that is read all the same, such as a wrong header: one line each, and each line once.
///
/// A file may be opened several times, and deep in a pipeline; so the lines go to one place that the program names. A program that
/// names none gets none.
public enum AudioWarnings {
    private struct State {
        var receiver: (@Sendable (String) -> Void)?
        var told: Set<String> = []
    }

    /// An engine that runs for months has many files: then a line may come again.
    private static let mostReported = 4096
    private static let state = Mutex(State())

    /// - Parameter receiver: gets each line, on any thread.
    public static func send(to receiver: @escaping @Sendable (String) -> Void) {
        state.withLock { $0.receiver = receiver }
    }

    package static func report(_ line: String) {
        let receiver = state.withLock { state -> (@Sendable (String) -> Void)? in
            guard state.receiver != nil else { return nil }
            if state.told.count >= mostReported { state.told = [] }
            return state.told.insert(line).inserted ? state.receiver : nil
        }
        receiver?(line)
    }
}
