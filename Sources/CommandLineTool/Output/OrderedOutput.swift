import Spotting
private import System

/// Prints the output of files in the order of the command line, although they are processed in parallel.
///
/// The first unfinished file prints immediately; the output of the others waits in memory, which is limited: a file that is
/// too far ahead of the first unfinished one, or whose output finds no room, waits. Both output and error lines pass
/// through here, so that they do not mix within a line. Any thread.
final class OrderedOutput: Sendable {
    struct Piece {
        let text: String
        let isError: Bool
    }

    /// A file that is complete.
    struct Ended {
        let name: String
        let hasFailed: Bool
    }

    struct Limits {
        /// Files between the first unfinished one and the last one begun.
        var files = 1 << 16
        /// Bytes of output that wait.
        var bytes = 32 << 20
    }

    /// Gets what is printed; called under a lock, so never by two threads at once.
    struct Sink: Sendable {
        let put: @Sendable (Piece) -> Void
        /// Whether what is put goes to the terminal that error lines go to.
        var isOnErrorTerminal = false
        /// Called after all pieces of a file.
        var end: @Sendable (Ended) -> Void = { _ in }
    }

    private struct State {
        var head = 0
        var waiting: [Int: [Piece]] = [:]
        var waitingBytes = 0
        /// Files that are done but for those before them; nil for what is not a file.
        var finished: [Int: Ended?] = [:]
        var isReleased = false
        /// Printed before the first output that is not an error.
        var header = ""
    }

    private let limits: Limits
    private let spare: SpareWorkers
    private let sink: Sink
    private let condition = Condition()
    // The condition guards it.
    private nonisolated(unsafe) var state = State()

    /// - Parameter spare: gets the threads that wait here.
    init(_ sink: Sink, limits: Limits = Limits(), spare: SpareWorkers = SpareWorkers()) {
        self.sink = sink
        self.limits = limits
        self.spare = spare
    }

    /// Prints a header before the first output; not at all if there is nothing but errors.
    func begin(header: String) { condition.withLock { state.header = header } }

    /// Waits until the file with this number is not too far ahead. Call it for the numbers from 0 on, each once.
    func begin(file: Int) {
        condition.withLock { wait { file >= state.head + limits.files } }
    }

    /// Prints `text` for the file with this number, now or when its turn comes.
    func put(_ text: String, isError: Bool = false, file: Int) {
        guard !text.isEmpty else { return }
        let piece = Piece(text: text, isError: isError)
        condition.withLock {
            wait { file != state.head && state.waitingBytes >= limits.bytes }
            if file == state.head {
                print(piece)
            } else {
                state.waiting[file, default: []].append(piece)
                state.waitingBytes += text.utf8.count
            }
        }
    }

    /// Marks a file as done, and prints the waiting output of the files after it.
    ///
    /// - Parameter ended: nil for what is not a file, such as a message.
    func finish(file: Int, _ ended: Ended? = nil) {
        condition.withLock {
            state.finished[file] = .some(ended)
            guard file == state.head else { return }
            while let ended = state.finished.removeValue(forKey: state.head) {
                if let ended { sink.end(ended) }
                state.head += 1
                printWaiting(state.head)
            }
            condition.broadcast()
        }
    }

    /// From now on nobody waits, because the first unfinished file will not be finished: after Ctrl-C.
    func release() {
        condition.withLock {
            state.isReleased = true
            condition.broadcast()
        }
    }

    /// Prints all waiting output in order; used after Ctrl-C.
    func flush() {
        condition.withLock {
            for file in state.waiting.keys.sorted() { printWaiting(file) }
        }
    }

    private func printWaiting(_ file: Int) {
        for piece in state.waiting.removeValue(forKey: file) ?? [] {
            state.waitingBytes -= piece.text.utf8.count
            print(piece)
        }
    }

    private func print(_ piece: Piece) {
        if !piece.isError, !state.header.isEmpty {
            sink.put(Piece(text: state.header, isError: false))
            state.header = ""
        }
        sink.put(piece)
    }

    /// Waits with the lock, and lends this thread to long files meanwhile. The first unfinished file never waits.
    private func wait(while isFull: () -> Bool) {
        guard isFull(), !state.isReleased else { return }
        spare.give()
        while isFull(), !state.isReleased { condition.wait() }
        spare.reclaim()
    }
}
