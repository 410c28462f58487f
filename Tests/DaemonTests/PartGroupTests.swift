import Core
import Synchronization
import System
import Testing

@testable import Daemon

/// The parts of a service: their order, one that cannot start, one that does not end.
struct PartGroupTests {
    private struct Refusal: Error {}

    /// Adds a part that records what happens to it.
    private static func add(_ name: String, to group: PartGroup, _ lines: Lines, fails: Bool = false, ends: Bool = true)
    {
        group.add(timeout: .milliseconds(200)) {
            if fails { throw Refusal() }
            lines.add("\(name) starts")
        } stop: { _ in
            lines.add("\(name) stops")
            return ends
        }
    }

    private final class Lines: Sendable {
        private let state = Mutex<[String]>([])
        var all: [String] { state.withLock { $0 } }
        func add(_ line: String) { state.withLock { $0.append(line) } }
    }

    @Test func `parts stop in the opposite order of their start, once`() throws {
        let (group, lines) = (PartGroup(), Lines())
        for name in ["a", "b", "c"] { Self.add(name, to: group, lines) }
        try group.start(timeout: .seconds(1))
        #expect(group.stop(timeout: .seconds(1)) && group.stop(timeout: .seconds(1)))
        #expect(lines.all == ["a starts", "b starts", "c starts", "c stops", "b stops", "a stops"])
    }

    @Test func `where a part cannot start, those before it stop`() {
        let (group, lines) = (PartGroup(), Lines())
        Self.add("a", to: group, lines)
        Self.add("b", to: group, lines, fails: true)
        Self.add("c", to: group, lines)
        #expect(throws: Refusal.self) { try group.start(timeout: .seconds(1)) }
        #expect(lines.all == ["a starts", "a stops"])
    }

    @Test func `a part that does not end is told of, and the others stop all the same`() throws {
        let (group, lines) = (PartGroup(), Lines())
        Self.add("a", to: group, lines)
        Self.add("b", to: group, lines, ends: false)
        try group.start(timeout: .seconds(1))
        #expect(!group.stop(timeout: .seconds(1)))
        #expect(lines.all.suffix(2) == ["b stops", "a stops"])
    }

    @Test func `each part gets its own time, and no more than is left of all`() throws {
        let group = PartGroup()
        let times = Mutex<[Duration]>([])
        let begun = Clock.now
        for timeout in [Duration.seconds(1), .seconds(1000)] {
            group.add(timeout: timeout) { end in
                times.withLock { $0.append(end - begun) }
                return true
            }
        }
        try group.start(timeout: .zero)
        group.stop(timeout: .seconds(500))
        let all = times.withLock { $0 }
        #expect(all.count == 2 && all[0] >= .seconds(500) && all[0] < .seconds(600))
        #expect(all[1] >= .seconds(1) && all[1] < .seconds(100))
    }
}
