import Control
import Core

/// Decides which of the waiting changes is made next, and when. A pure value; `Request` is what each change carries.
///
/// A reload waits until the one before is a second old if that one rebuilt something, else 100 ms; all reloads that wait
/// then are one. Other changes wait for no reload.
struct ChangeSchedule<Request: Sendable>: Sendable {
    /// The shortest times between two reloads.
    static var rebuildInterval: Duration { .seconds(1) }
    static var checkInterval: Duration { .milliseconds(100) }
    /// Most changes that wait.
    static var capacity: Int { 64 }

    /// A change to make now, for all of these requests.
    struct Turn: Sendable {
        let change: SettingsChange
        let requests: [Request]
    }

    private var waiting: [(change: SettingsChange, request: Request)] = []
    private var nextReload = Instant(nanoseconds: 0)

    /// Adds a change; false if too many wait already.
    mutating func add(_ change: SettingsChange, _ request: Request) -> Bool {
        guard waiting.count < Self.capacity else { return false }
        waiting.append((change, request))
        return true
    }

    /// The change to make now; nil if none is due.
    mutating func next(at now: Instant) -> Turn? {
        if let index = waiting.firstIndex(where: { !$0.change.isReload }) {
            let first = waiting.remove(at: index)
            return Turn(change: first.change, requests: [first.request])
        }
        guard now >= nextReload, let change = waiting.first?.change else { return nil }
        let requests = waiting.filter { $0.change == change }.map(\.request)
        waiting.removeAll { $0.change == change }
        return Turn(change: change, requests: requests)
    }

    /// Notes the end of a reload.
    ///
    /// - Parameter hasRebuilt: whether the detector got something new.
    mutating func noteReload(hasRebuilt: Bool, at now: Instant) {
        nextReload = now + (hasRebuilt ? Self.rebuildInterval : Self.checkInterval)
    }

    /// When ``next(at:)`` gives the next change; nil if none waits.
    var deadline: Instant? { waiting.isEmpty ? nil : nextReload }

    /// Takes the requests of all waiting changes.
    mutating func removeAll() -> [Request] {
        defer { waiting = [] }
        return waiting.map(\.request)
    }
}

extension SettingsChange {
    /// Whether files are read again.
    var isReload: Bool { self == .configuration || self == .words }
}
