import Configuration
import Core
import IntegrationInterface
import Synchronization
import System

/// The last words and near misses of each client, with their sound, in memory only and within a quota.
///
/// The newest seconds of clients whose audio runs count to the quota, too, and may have half of it. Any thread; the workers call it once a
/// word, and nobody holds its lock for longer than a list needs.
final class ClientWords: Sendable {
    private struct State {
        var entries: [ClientWord] = []
        var newest = 0
        /// Bytes of the entries' sound, and of the clients' newest seconds.
        var kept = 0
        var reserved = 0
    }

    /// What an entry takes beside its sound: names, and its place.
    private static let entryBytes = 512

    private let settings: Configuration.Wyoming.Recent
    private let quota: Int
    private let state = Mutex(State())

    init(_ settings: Configuration.Wyoming.Recent) {
        self.settings = settings
        quota = settings.quota * 1_000_000
    }

    /// Makes room for a client's newest seconds; false if there is none.
    func reserve(_ bytes: Int) -> Bool {
        state.withLock { state in
            guard state.reserved + bytes <= quota / 2 else { return false }
            state.reserved += bytes
            makeRoom(&state)
            return true
        }
    }

    func giveBack(_ bytes: Int) { state.withLock { $0.reserved -= bytes } }

    /// Keeps a word.
    ///
    /// - Parameter make: makes its entry from its number.
    func add(_ make: (Int) -> ClientWord) {
        state.withLock { state in
            state.newest += 1
            let entry = make(state.newest)
            state.entries.append(entry)
            state.kept += Self.bytes(entry)
            if state.entries.count(where: { $0.client == entry.client }) > settings.keep {
                remove(oldestOf: entry.client, &state)
            }
            makeRoom(&state)
        }
    }

    /// The entries, the oldest first.
    var list: [ClientWord] { state.withLock { $0.entries } }

    private static func bytes(_ entry: ClientWord) -> Int { entry.samples.count * 2 + entryBytes }

    /// Forgets the oldest words of those clients that have most, so that one that talks all the time leaves the others theirs.
    private func makeRoom(_ state: inout State) {
        while state.kept + state.reserved > quota {
            let held = state.entries.reduce(into: [String: Int]()) { $0[$1.client, default: 0] += Self.bytes($1) }
            guard let most = held.max(by: { ($0.value, $0.key) < ($1.value, $1.key) }) else { return }
            remove(oldestOf: most.key, &state)
        }
    }

    private func remove(oldestOf client: String, _ state: inout State) {
        guard let index = state.entries.firstIndex(where: { $0.client == client }) else { return }
        state.kept -= Self.bytes(state.entries.remove(at: index))
    }
}
