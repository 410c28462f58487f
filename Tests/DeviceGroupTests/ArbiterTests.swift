import Core
import TestSupport
import Testing

@testable import DeviceGroup

/// Several devices that share a group, each with a clock of its own, on a bus that delays and loses messages.
private struct Simulation {
    struct Device {
        let name: String
        /// How far its clock is ahead, in seconds.
        var clock = 0.0
        /// When it hears the word, in seconds; nil: never.
        var hears: Double?
        var signalToNoise: Double? = 0

        var bid: Bid { Bid(signalToNoise: signalToNoise, level: -30, confidence: 0.9, device: name) }
    }

    /// Seconds from one device to another; nil: lost.
    typealias Delay = (_ from: Int, _ to: Int, GroupMessage.Kind) -> Double?

    private enum Event {
        case word
        case message(GroupMessage)
        case timer
    }

    let devices: [Device]
    let window: Double
    let delay: Delay
    private var arbiters: [Arbiter]
    /// Time in milliseconds of the world, device, what happens; handled in order.
    private var events: [(time: Int, device: Int, event: Event)] = []
    /// What each device decided, and when, in milliseconds of the world.
    private(set) var outcomes: [(outcome: Arbiter.Outcome, time: Int)?]

    init(_ devices: [Device], window: Double = 0.3, delay: @escaping Delay) {
        (self.devices, self.window, self.delay) = (devices, window, delay)
        arbiters = devices.map { _ in Arbiter(group: "home", window: .seconds(window)) }
        outcomes = devices.map { _ in nil }
        for (index, device) in devices.enumerated() {
            if let time = device.hears { events.append((Self.milliseconds(time), index, .word)) }
        }
        run()
    }

    private static func milliseconds(_ seconds: Double) -> Int { Int((seconds * 1000).rounded()) }

    private mutating func run() {
        while let next = events.indices.min(by: { events[$0].time < events[$1].time }) {
            let (time, index, event) = events.remove(at: next)
            let ahead = Self.milliseconds(devices[index].clock)
            let now = Instant(nanoseconds: Int64(time + ahead + 5_000) * 1_000_000)
            let effects =
                switch event {
                case .word: arbiters[index].begin(1, word: "left", bid: devices[index].bid, at: now)
                case .message(let message): arbiters[index].receive(message, at: now)
                case .timer: arbiters[index].advance(to: now)
                }
            for message in effects.messages {
                for other in devices.indices where other != index {
                    guard let seconds = delay(index, other, message.kind) else { continue }
                    events.append((time + Self.milliseconds(seconds), other, .message(message)))
                }
            }
            for decision in effects.decisions { outcomes[index] = (decision.outcome, time) }
            if let deadline = arbiters[index].deadline {
                events.append((Int(deadline.nanoseconds / 1_000_000) - ahead - 5_000, index, .timer))
            }
        }
    }

    /// The names of the devices that acted.
    var actors: [String] {
        zip(devices, outcomes).filter { $1?.outcome == .act }.map(\.0.name)
    }
}

struct ArbiterTests {
    fileprivate typealias Device = Simulation.Device

    /// A row: when three devices hear the word (s), their signal-to-noise ratios (dB), the delays of all messages (s); who acts.
    fileprivate struct Row: CustomTestStringConvertible {
        let hears: [Double?]
        let ratios: [Double?]
        var delay = 0.005
        var lost: @Sendable (_ from: Int, _ to: Int, GroupMessage.Kind) -> Bool = { _, _, _ in false }
        var lostOnce: @Sendable (_ from: Int, _ to: Int, GroupMessage.Kind) -> Bool = { _, _, _ in false }
        let acts: [String]
        let testDescription: String

        init(
            _ what: String,
            _ hears: [Double?],
            _ ratios: [Double?],
            delay: Double = 0.005,
            lost: @escaping @Sendable (Int, Int, GroupMessage.Kind) -> Bool = { _, _, _ in false },
            lostOnce: @escaping @Sendable (Int, Int, GroupMessage.Kind) -> Bool = { _, _, _ in false },
            acts: [String]
        ) {
            (testDescription, self.hears, self.ratios, self.delay, self.lost) = (what, hears, ratios, delay, lost)
            (self.lostOnce, self.acts) = (lostOnce, acts)
        }
    }

    private static let rows = [
        Row("the nearest acts", [0, 0, 0], [10, 20, 15], acts: ["b"]),
        Row("also where it hears the word last", [0, 0.2, 0.1], [10, 20, 15], acts: ["b"]),
        Row("and first", [0.1, 0, 0.2], [10, 20, 15], acts: ["b"]),
        Row("also with a slow broker", [0, 0.1, 0.05], [10, 20, 15], delay: 0.15, acts: ["b"]),
        Row("one that did not hear it does not count", [0, nil, 0.1], [10, 30, 15], acts: ["c"]),
        Row("one alone acts", [nil, 0, nil], [10, 20, 15], acts: ["b"]),
        Row("one without a ratio is the farthest", [0, 0, 0], [nil, -5, nil], acts: ["b"]),
        Row("of equals the name decides", [0, 0, 0], [12, 12, 12], acts: ["a"]),
        Row("a fraction of a decibel is no difference", [0, 0, 0], [11.6, 12.4, 12], acts: ["a"]),
        Row("who hears it after another has acted yields", [0, 0.5, nil], [10, 30, 15], acts: ["a"]),
        Row("the window is over before the nearest hears it", [0, 0.35, 0], [10, 30, 15], acts: ["c"]),
        Row(
            "a lost claim does not matter where the act is heard",
            [0, 0.05, 0.1],
            [30, 20, 15],
            lost: { from, _, kind in from == 0 && kind == .claim },
            acts: ["a"]
        ),
        Row(
            "nor an act that one does not hear: it claims again, and the act is told again",
            [0.05, 0, 0.1],
            [10, 20, 15],
            lostOnce: { from, to, kind in from == 1 && to == 0 && kind == .act },
            acts: ["b"]
        ),
        Row(
            "where the nearest dies after its claim, the next one acts",
            [0, 0.05, 0.1],
            [10, 20, 15],
            lost: { from, to, kind in to == 1 || from == 1 && kind == .act },
            acts: ["b", "c"]
        ),
        Row(
            "a claim after the act was lost is answered",
            [0, 0.25, nil],
            [20, 10, 15],
            lost: { from, _, kind in from == 0 && kind == .claim },
            acts: ["a"]
        ),
        Row(
            "who is heard by nobody, and hears nobody, acts beside the others",
            [0, 0, 0],
            [10, 20, 15],
            lost: { from, to, _ in from == 1 || to == 1 },
            acts: ["b", "c"]
        ),
        Row(
            "without a broker all act",
            [0, 0.1, 0.2],
            [10, 20, 15],
            lost: { _, _, _ in true },
            acts: ["a", "b", "c"]
        ),
    ]

    @Test(arguments: rows)
    fileprivate func `three devices and one word`(row: Row) {
        // Clocks that differ by a second, and by an hour, change nothing.
        for clocks in [[0.0, 0, 0], [-1, 0, 1], [0.5, -0.7, 0.1], [3600, 0, -4]] {
            let devices = ["a", "b", "c"].enumerated().map { index, name in
                Device(name: name, clock: clocks[index], hears: row.hears[index], signalToNoise: row.ratios[index])
            }
            var once = Set<[Int]>()
            let simulation = Simulation(devices) { from, to, kind in
                let isFirst = row.lostOnce(from, to, kind) && once.insert([from, to]).inserted
                return isFirst || row.lost(from, to, kind) ? nil : row.delay
            }
            #expect(simulation.actors == row.acts, "clocks \(clocks)")
            #expect(zip(devices, simulation.outcomes).allSatisfy { ($0.hears == nil) == ($1 == nil) })
            for (device, outcome) in zip(devices, simulation.outcomes) {
                guard let hears = device.hears, let outcome else { continue }
                // The nearest waits for no more than the window; others may wait for what it says.
                let isNearest = device.name == row.acts.first && row.acts.count == 1
                #expect(outcome.time <= Int((hears * 1000).rounded()) + (isNearest ? 300 : 600))
            }
        }
    }

    /// Whatever the delays and losses are, somebody acts; without losses, and with delays that fit into the window, the nearest alone.
    @Test func `somebody always acts`() {
        var numbers = SplitMix(seed: 7)
        var alone = 0
        let runs = 3000
        for run in 0..<runs {
            let lossy = run % 2 == 1
            let devices = ["a", "b", "c"].map { name in
                Device(
                    name: name,
                    clock: .random(in: -1...1, using: &numbers),
                    hears: .random(in: 0...0.2, using: &numbers),
                    signalToNoise: .random(in: 0...30, using: &numbers)
                )
            }
            // Each message has its own; a group that is cut in two is among the rows above.
            let simulation = Simulation(devices) { _, _, _ in
                let isLost = lossy && Double.random(in: 0..<1, using: &numbers) < 0.2
                return isLost ? nil : .random(in: 0.001...0.08, using: &numbers)
            }
            #expect(!simulation.actors.isEmpty, "run \(run)")
            if lossy {
                alone += simulation.actors.count == 1 ? 1 : 0
            } else {
                #expect(simulation.actors == [devices.map(\.bid).max()?.device], "run \(run)")
            }
        }
        // A fifth of all messages are lost: two act now and then, in one of five runs if nothing were said twice.
        #expect(alone > runs / 2 * 95 / 100, "\(alone)")
    }

    @Test func `a word said again is a new contest`() {
        var arbiter = Arbiter(group: "home", window: .seconds(0.3))
        func bid(_ ratio: Double, _ device: String) -> Bid {
            Bid(signalToNoise: ratio, level: nil, confidence: 0.9, device: device)
        }
        func instant(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }
        let near = GroupMessage(.claim, group: "home", word: "left", bid: bid(30, "near"))
        _ = arbiter.begin(1, word: "left", bid: bid(10, "own"), at: instant(1))
        _ = arbiter.receive(near, at: instant(1.1))
        #expect(arbiter.advance(to: instant(1.29)).decisions.isEmpty)
        let acts = GroupMessage(.act, group: "home", word: "left", bid: near.bid)
        #expect(
            arbiter.receive(acts, at: instant(1.3)).decisions == [.init(number: 1, outcome: .yield(to: near.bid))]
        )
        // The nearest device is off now; what it has said once more is about the first time.
        _ = arbiter.begin(2, word: "left", bid: bid(10, "own"), at: instant(1.35))
        #expect(arbiter.receive(acts, at: instant(1.375)) == .init())
        let own = GroupMessage(.claim, group: "home", word: "left", bid: bid(10, "own"))
        #expect(arbiter.advance(to: instant(1.5)) == .init(messages: [own]))
        let act = GroupMessage(.act, group: "home", word: "left", bid: own.bid)
        #expect(
            arbiter.advance(to: instant(1.65)) == .init(messages: [act], decisions: [.init(number: 2, outcome: .act)])
        )
        #expect(arbiter.advance(to: instant(1.725)) == .init(messages: [act]))
        #expect(arbiter.deadline == nil)
    }

    @Test func `a device that dies between its claim and its act does not cost the word`() {
        var arbiter = Arbiter(group: "home", window: .seconds(0.3))
        func instant(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }
        func claim(_ ratio: Double, _ device: String) -> GroupMessage {
            let bid = Bid(signalToNoise: ratio, level: nil, confidence: 0.9, device: device)
            return GroupMessage(.claim, group: "home", word: "left", bid: bid)
        }
        let own = claim(20, "own")
        _ = arbiter.begin(1, word: "left", bid: own.bid, at: instant(1))
        for other in [claim(30, "dead"), claim(10, "far"), claim(5, "farther")] {
            _ = arbiter.receive(other, at: instant(1.1))
        }
        #expect(arbiter.advance(to: instant(1.15)) == .init(messages: [own]))
        #expect(arbiter.advance(to: instant(1.3)) == .init())
        #expect(arbiter.advance(to: instant(1.45)) == .init(messages: [own]))
        #expect(arbiter.advance(to: instant(1.59)) == .init())
        #expect(arbiter.advance(to: instant(1.6)).decisions == [.init(number: 1, outcome: .act)])
        // The one after the next yields, even if nobody says anything: its wait has an end.
        _ = arbiter.begin(2, word: "left", bid: claim(7, "own").bid, at: instant(3))
        for other in [claim(30, "dead"), claim(10, "far"), claim(5, "farther")] {
            _ = arbiter.receive(other, at: instant(3.1))
        }
        for time in [3.15, 3.3, 3.45] { #expect(arbiter.advance(to: instant(time)).decisions.isEmpty) }
        #expect(
            arbiter.advance(to: instant(3.6)).decisions == [.init(number: 2, outcome: .yield(to: claim(10, "far").bid))]
        )
        #expect(arbiter.deadline == nil)
    }

    @Test func `other words are other contests`() {
        var arbiter = Arbiter(group: "home", window: .seconds(0.3))
        let now = Instant(nanoseconds: 1_000_000_000)
        let own = Bid(signalToNoise: 10, level: nil, confidence: 0.9, device: "own")
        let near = Bid(signalToNoise: 30, level: nil, confidence: 0.9, device: "near")
        _ = arbiter.begin(1, word: "left", bid: own, at: now)
        _ = arbiter.begin(2, word: "right", bid: own, at: now)
        let effects = arbiter.receive(GroupMessage(.act, group: "home", word: "right", bid: near), at: now)
        #expect(effects.decisions == [.init(number: 2, outcome: .yield(to: near))])
        #expect(arbiter.release(at: now).decisions == [.init(number: 1, outcome: .act)])
    }
}
