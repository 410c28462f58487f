private import Synchronization

/// Prints the output of files in the order of the command line, although they are processed in parallel.
///
/// The first unfinished file prints immediately; the output of the others waits in memory. Both output and error lines
/// pass through here, so that they do not mix within a line. Any thread.
final class OrderedOutput: Sendable {
    struct Piece {
        let text: String
        let isError: Bool
    }

    private struct State {
        var head = 0
        var waiting: [Int: [Piece]] = [:]
        var finished: Set<Int> = []
        /// Printed before the first output that is no error.
        var header = ""
    }

    private let state = Mutex(State())
    private let sink: @Sendable (Piece) -> Void

    /// - Parameter sink: prints a piece; called under a lock, so never by two threads at once.
    init(sink: @escaping @Sendable (Piece) -> Void) { self.sink = sink }

    /// Prints a header before the first output; not at all if there is nothing but errors.
    func begin(header: String) { state.withLock { $0.header = header } }

    private func print(_ piece: Piece, _ state: inout State) {
        if !piece.isError, !state.header.isEmpty {
            sink(Piece(text: state.header, isError: false))
            state.header = ""
        }
        sink(piece)
    }

    /// Prints `text` for the file with this number, now or when its turn comes.
    func put(_ text: String, isError: Bool = false, file: Int) {
        guard !text.isEmpty else { return }
        let piece = Piece(text: text, isError: isError)
        state.withLock { state in
            if file == state.head {
                print(piece, &state)
            } else {
                state.waiting[file, default: []].append(piece)
            }
        }
    }

    /// Marks a file as done, and prints the waiting output of the files after it.
    func finish(file: Int) {
        state.withLock { state in
            state.finished.insert(file)
            while state.finished.remove(state.head) != nil {
                state.head += 1
                for piece in state.waiting.removeValue(forKey: state.head) ?? [] { print(piece, &state) }
            }
        }
    }

    /// Prints all waiting output in order; used after Ctrl-C.
    func flush() {
        state.withLock { state in
            for file in state.waiting.keys.sorted() {
                for piece in state.waiting.removeValue(forKey: file) ?? [] { print(piece, &state) }
            }
        }
    }
}
