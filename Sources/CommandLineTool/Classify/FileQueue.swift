import Corpus
private import Synchronization
private import System

/// The files of a command, one after another and with numbers from 0 on, for several threads.
///
/// Names are found while files are processed, so that a million of them take no memory.
final class FileQueue: Sendable {
    /// Leaves out a file; called for each one once, in order.
    typealias Filter = @Sendable (String) -> Bool

    private struct State: ~Copyable {
        /// Items found before they are asked for.
        var found: ArraySlice<FileWalk.Item> = []
        var walk: FileWalk
        var number = 0

        init(_ walk: consuming FileWalk) { self.walk = walk }
    }

    private let state: Mutex<State>
    private let leavesOut: Filter

    init(_ walk: consuming FileWalk, leavingOut leavesOut: @escaping Filter = { _ in false }) {
        state = Mutex(State(walk))
        self.leavesOut = leavesOut
    }

    /// Exactly these files.
    init(_ files: [String]) {
        var state = State(FileWalk(paths: []))
        state.found = files.map(FileWalk.Item.file)[...]
        self.state = Mutex(state)
        leavesOut = { _ in false }
    }

    /// The next file or message, and its number; nil at the end.
    func next() -> (number: Int, item: FileWalk.Item)? {
        state.withLock { state in
            guard let item = state.found.popFirst() ?? find(&state.walk) else { return nil }
            defer { state.number += 1 }
            return (state.number, item)
        }
    }

    /// The names of the first files, at most `count`, and whether there are no others.
    func first(_ count: Int) -> (names: [String], areAll: Bool) {
        state.withLock { state in
            var areAll = false
            while state.found.count < count, !areAll {
                if let item = find(&state.walk) { state.found.append(item) } else { areAll = true }
            }
            let names = state.found.compactMap { if case .file(let name) = $0 { name } else { nil } }
            return (names, areAll)
        }
    }

    /// Whether ``first(_:)`` has found a file or a name that is none.
    var hasFound: Bool { state.withLock { !$0.found.isEmpty } }

    private func find(_ walk: inout FileWalk) -> FileWalk.Item? {
        while let item = walk.next() {
            if case .file(let name) = item, leavesOut(name) { continue }
            return item
        }
        return nil
    }
}
