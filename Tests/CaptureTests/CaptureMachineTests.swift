import Core
import Glibc
import Testing

@testable import Capture

/// The machine's reaction to device events; one case for each known behaviour of ALSA.
struct CaptureMachineTests {
    typealias Machine = CaptureMachine

    /// One event, its time in ms, and the expected reaction.
    struct Turn {
        var event: Machine.Event
        var time: Int64
        var action: Machine.Action
        var state: Machine.State
        var flush = false
        var told: Machine.Change.Kind?
    }

    struct Case: CustomTestStringConvertible {
        var testDescription: String
        var turns: [Turn]
        var counts: Machine.Counts

        init(_ name: String, _ counts: Machine.Counts, _ turns: [Turn]) {
            (testDescription, self.turns, self.counts) = (name, turns, counts)
        }
    }

    /// A time in ms, as the tables give it.
    static func moment(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }
    static func wait(_ milliseconds: Int64) -> Machine.Action { .wait(until: moment(milliseconds)) }
    static func sleep(_ milliseconds: Int64) -> Machine.Action { .sleep(until: moment(milliseconds)) }

    /// From the start to the first frame, in 20 ms.
    static let begin = [
        Turn(event: .target(.capture), time: 0, action: .open, state: .waiting),
        Turn(event: .opened, time: 0, action: wait(3_000), state: .waiting),
        Turn(event: .ready, time: 20, action: .read, state: .waiting),
        Turn(event: .frames, time: 20, action: wait(1_020), state: .running, told: .running),
    ]

    /// The device is closed at `time`; the first attempt to reopen it fails with `number`, the second succeeds.
    static func comeBack(from time: Int64, _ number: Int32) -> [Turn] {
        [
            Turn(event: .closed, time: time, action: sleep(time + 50), state: .lost),
            Turn(event: .slept, time: time + 50, action: .open, state: .lost),
            Turn(event: .openFailed(number), time: time + 50, action: sleep(time + 150), state: .lost),
            Turn(event: .slept, time: time + 150, action: .open, state: .lost),
            Turn(event: .opened, time: time + 150, action: wait(time + 3_150), state: .lost),
            Turn(event: .ready, time: time + 170, action: .read, state: .lost),
            Turn(event: .frames, time: time + 170, action: wait(time + 1_170), state: .running, told: .running),
        ]
    }

    static func lost(_ name: String, _ call: Machine.Call, _ number: Int32, reopen: Int32) -> Case {
        Case(
            name,
            .init(gaps: 1, losses: 1, reconnects: 1),
            begin + [
                Turn(event: .failed(call, number), time: 40, action: .close, state: .lost, flush: true, told: .lost)
            ]
                + comeBack(from: 40, reopen)
        )
    }

    static let cases: [Case] = [
        Case(
            "reader late: overrun",
            .init(gaps: 1, overruns: 1),
            begin + [
                Turn(
                    event: .failed(.read, EPIPE),
                    time: 700,
                    action: .prepare,
                    state: .recovering,
                    flush: true,
                    told: .overrun
                ),
                Turn(event: .restarted, time: 700, action: wait(1_700), state: .recovering),
                Turn(event: .ready, time: 720, action: .read, state: .recovering),
                Turn(event: .frames, time: 720, action: wait(1_720), state: .running, told: .running),
            ]
        ),
        Case(
            "suspend: resumed when it answers",
            .init(gaps: 1, suspensions: 1),
            begin + [
                Turn(
                    event: .failed(.read, ESTRPIPE),
                    time: 40,
                    action: .resume,
                    state: .recovering,
                    flush: true,
                    told: .suspended
                ),
                Turn(event: .failed(.resume, EAGAIN), time: 40, action: sleep(90), state: .recovering),
                Turn(event: .slept, time: 90, action: .resume, state: .recovering),
                Turn(event: .restarted, time: 90, action: wait(1_090), state: .recovering),
                Turn(event: .frames, time: 110, action: wait(1_110), state: .running, told: .running),
            ]
        ),
        Case(
            "suspend: a driver that cannot resume is prepared",
            .init(gaps: 1, suspensions: 1),
            begin + [
                Turn(
                    event: .failed(.read, ESTRPIPE),
                    time: 40,
                    action: .resume,
                    state: .recovering,
                    flush: true,
                    told: .suspended
                ),
                Turn(event: .failed(.resume, ENOSYS), time: 40, action: .prepare, state: .recovering),
                Turn(event: .restarted, time: 40, action: wait(1_040), state: .recovering),
                Turn(event: .frames, time: 60, action: wait(1_060), state: .running, told: .running),
            ]
        ),
        lost("unplugged: ENODEV", .read, ENODEV, reopen: ENOENT),
        lost("PCI card removed, PulseAudio gone: EIO while running", .read, EIO, reopen: ECONNREFUSED),
        lost("gone while waiting", .wait, ENODEV, reopen: ENODEV),
        Case(
            "gone while being prepared",
            .init(gaps: 1, overruns: 1, losses: 1, reconnects: 1),
            begin + [
                Turn(
                    event: .failed(.read, EPIPE),
                    time: 40,
                    action: .prepare,
                    state: .recovering,
                    flush: true,
                    told: .overrun
                ),
                Turn(event: .failed(.prepare, ENODEV), time: 40, action: .close, state: .lost, told: .lost),
            ] + comeBack(from: 40, ENODEV)
        ),
        Case(
            "driver stalls: closed at the progress deadline",
            .init(gaps: 1, stalls: 1, losses: 1, reconnects: 1),
            begin + [
                Turn(event: .nothing, time: 500, action: wait(1_020), state: .running),
                Turn(event: .nothing, time: 1_020, action: .close, state: .lost, flush: true, told: .stalled),
            ]
                + comeBack(from: 1_020, EBUSY).map {
                    // The stalled device is now busy: a new reason, which is reported.
                    var turn = $0
                    if case .openFailed = turn.event { turn.told = .unavailable }
                    return turn
                }
        ),
        Case(
            "a storm of overruns without a frame: bounded",
            .init(gaps: 1, overruns: 1, losses: 1, reconnects: 1),
            begin + [
                Turn(
                    event: .failed(.read, EPIPE),
                    time: 40,
                    action: .prepare,
                    state: .recovering,
                    flush: true,
                    told: .overrun
                )
            ]
                + (0..<4).flatMap { _ in
                    [
                        Turn(event: .restarted, time: 40, action: wait(1_040), state: .recovering),
                        Turn(event: .failed(.read, EPIPE), time: 40, action: .prepare, state: .recovering),
                    ]
                } + [Turn(event: .failed(.read, EPIPE), time: 40, action: .close, state: .lost, told: .lost)]
                + comeBack(from: 40, EHOSTDOWN)
        ),
        Case(
            "frames missing without an error",
            .init(gaps: 1, missing: 1),
            begin + [
                Turn(
                    event: .missing(.milliseconds(300)),
                    time: 400,
                    action: wait(1_400),
                    state: .running,
                    flush: true,
                    told: .framesMissing
                ),
                Turn(event: .frames, time: 420, action: wait(1_420), state: .running),
            ]
        ),
        Case(
            "busy when opened: said once, and it is not a gap",
            .init(),
            [
                Turn(event: .target(.capture), time: 0, action: .open, state: .waiting),
                Turn(event: .openFailed(EBUSY), time: 0, action: sleep(50), state: .waiting, told: .unavailable),
                Turn(event: .slept, time: 50, action: .open, state: .waiting),
                Turn(event: .openFailed(EBUSY), time: 50, action: sleep(150), state: .waiting),
                Turn(event: .slept, time: 150, action: .open, state: .waiting),
                Turn(event: .opened, time: 150, action: wait(3_150), state: .waiting),
                Turn(event: .frames, time: 170, action: wait(1_170), state: .running, told: .running),
            ]
        ),
        Case(
            "opens and never gives a frame",
            .init(),
            [
                Turn(event: .target(.capture), time: 0, action: .open, state: .waiting),
                Turn(event: .opened, time: 0, action: wait(3_000), state: .waiting),
                Turn(event: .nothing, time: 3_000, action: .close, state: .waiting, told: .stalled),
                Turn(event: .closed, time: 3_000, action: sleep(3_050), state: .waiting),
            ]
        ),
        Case(
            "muted is closed, and neither gap nor loss",
            .init(),
            begin + [
                Turn(event: .target(.mute), time: 40, action: .close, state: .muted, flush: true, told: .muted),
                Turn(event: .closed, time: 40, action: .sleep(until: .distantFuture), state: .muted),
                Turn(event: .slept, time: 60, action: .sleep(until: .distantFuture), state: .muted),
                Turn(event: .target(.capture), time: 90, action: .open, state: .waiting, told: .unmuted),
                Turn(event: .opened, time: 90, action: wait(3_090), state: .waiting),
                Turn(event: .frames, time: 110, action: wait(1_110), state: .running, told: .running),
            ]
        ),
        Case(
            "muted while lost: nothing to close, and no reconnect afterwards",
            .init(gaps: 1, losses: 1),
            begin + [
                Turn(
                    event: .failed(.read, ENODEV),
                    time: 40,
                    action: .close,
                    state: .lost,
                    flush: true,
                    told: .lost
                ),
                Turn(event: .closed, time: 40, action: sleep(90), state: .lost),
                Turn(
                    event: .target(.mute),
                    time: 60,
                    action: .sleep(until: .distantFuture),
                    state: .muted,
                    flush: true,
                    told: .muted
                ),
                Turn(event: .target(.capture), time: 90, action: .open, state: .waiting, told: .unmuted),
                Turn(event: .opened, time: 90, action: wait(3_090), state: .waiting),
                Turn(event: .frames, time: 110, action: wait(1_110), state: .running, told: .running),
            ]
        ),
        Case(
            "stopped",
            .init(),
            begin + [
                Turn(event: .target(.stop), time: 40, action: .close, state: .stopped),
                Turn(event: .closed, time: 40, action: .end, state: .stopped),
            ]
        ),
        Case(
            "no clock: given up, reported once, and tried again after half a minute without seeming to run",
            .init(gaps: 1, losses: 1, reconnects: 1),
            begin + [
                Turn(event: .ready, time: 21, action: .read, state: .running),
                Turn(event: .tooFast, time: 21, action: .close, state: .lost, flush: true, told: .tooFast),
                Turn(event: .closed, time: 21, action: sleep(30_021), state: .lost),
                Turn(event: .slept, time: 30_021, action: .open, state: .lost),
                Turn(event: .opened, time: 30_021, action: wait(33_021), state: .lost),
                Turn(event: .frames, time: 30_021, action: wait(31_021), state: .lost),
                Turn(event: .tooFast, time: 30_022, action: .close, state: .lost, flush: true),
                Turn(event: .closed, time: 30_022, action: sleep(60_022), state: .lost),
                Turn(event: .slept, time: 60_022, action: .open, state: .lost),
                // Now it is a real one.
                Turn(event: .opened, time: 60_022, action: wait(63_022), state: .lost),
                Turn(event: .frames, time: 60_042, action: wait(61_042), state: .lost),
                Turn(event: .frames, time: 61_022, action: wait(62_022), state: .running, told: .running),
            ]
        ),
        Case(
            "no clock: another device is opened at once",
            .init(gaps: 1, losses: 1),
            begin + [
                Turn(event: .tooFast, time: 21, action: .close, state: .lost, flush: true, told: .tooFast),
                Turn(event: .closed, time: 21, action: sleep(30_021), state: .lost),
                Turn(event: .selectionChanged, time: 60, action: .open, state: .waiting, told: .selectionChanged),
                Turn(event: .opened, time: 60, action: wait(3_060), state: .waiting),
                Turn(event: .frames, time: 80, action: wait(1_080), state: .running, told: .running),
            ]
        ),
        Case(
            "another device is chosen while one runs: one gap, though it is not there at first",
            .init(gaps: 1),
            begin + [
                Turn(
                    event: .selectionChanged,
                    time: 40,
                    action: .close,
                    state: .waiting,
                    flush: true,
                    told: .selectionChanged
                ),
                Turn(event: .closed, time: 40, action: sleep(90), state: .waiting),
                Turn(event: .slept, time: 90, action: .open, state: .waiting),
                Turn(event: .openFailed(ENOENT), time: 90, action: sleep(190), state: .waiting, told: .unavailable),
                Turn(event: .selectionChanged, time: 120, action: .open, state: .waiting, told: .selectionChanged),
                Turn(event: .opened, time: 120, action: wait(3_120), state: .waiting),
                Turn(event: .frames, time: 140, action: wait(1_140), state: .running, told: .running),
            ]
        ),
        Case(
            "another device is chosen while one is lost: asked for at once",
            .init(gaps: 1, losses: 1),
            begin + [
                Turn(event: .failed(.read, ENODEV), time: 40, action: .close, state: .lost, flush: true, told: .lost),
                Turn(event: .closed, time: 40, action: sleep(90), state: .lost),
                Turn(event: .selectionChanged, time: 60, action: .open, state: .waiting, told: .selectionChanged),
                Turn(event: .opened, time: 60, action: wait(3_060), state: .waiting),
                Turn(event: .frames, time: 80, action: wait(1_080), state: .running, told: .running),
            ]
        ),
        Case(
            "another device is chosen while muted: it stays so",
            .init(),
            begin + [
                Turn(event: .target(.mute), time: 40, action: .close, state: .muted, flush: true, told: .muted),
                Turn(event: .closed, time: 40, action: .sleep(until: .distantFuture), state: .muted),
                Turn(event: .selectionChanged, time: 60, action: .sleep(until: .distantFuture), state: .muted),
                Turn(event: .target(.capture), time: 80, action: .open, state: .waiting, told: .unmuted),
            ]
        ),
    ]

    @Test(arguments: cases) func `every fault has its recovery`(_ one: Case) {
        var machine = Machine()
        for (number, turn) in one.turns.enumerated() {
            let decision = machine.take(turn.event, at: Self.moment(turn.time))
            let place = "turn \(number), \(turn.event)"
            #expect(decision.action == turn.action, "\(place)")
            #expect(machine.state == turn.state, "\(place)")
            #expect(decision.flush == turn.flush, "\(place)")
            #expect(decision.change?.kind == turn.told, "\(place)")
        }
        #expect(machine.counts == one.counts)
    }

    @Test func `a gap lasts from the last frames before it, however late it is noticed`() {
        var machine = Machine()
        for turn in Self.begin { _ = machine.take(turn.event, at: Self.moment(turn.time)) }
        // The process was stopped (SIGSTOP) for 20 s.
        let overrun = machine.take(.failed(.read, EPIPE), at: Self.moment(20_020)).change
        #expect(overrun?.kind == .overrun && overrun?.duration == .seconds(20))
        _ = machine.take(.restarted, at: Self.moment(20_020))
        let running = machine.take(.frames, at: Self.moment(20_050)).change
        #expect(running?.kind == .running && running?.duration == .milliseconds(20_030))
    }

    @Test func `a device that is absent for a day is tried every half second and reported seven times`() {
        var machine = Machine()
        for turn in Self.begin { _ = machine.take(turn.event, at: Self.moment(turn.time)) }
        var now = Self.moment(40)
        var told: [(Machine.Change.Kind, seconds: Int64)] = []
        var longest = Duration.zero
        var decision = machine.take(.failed(.read, ENODEV), at: now)
        if let change = decision.change { told.append((change.kind, now.nanoseconds / 1_000_000_000)) }
        decision = machine.take(.closed, at: now)
        while now < Self.moment(86_400_000) {
            guard case .sleep(let until) = decision.action else {
                Issue.record("\(decision.action)")
                return
            }
            longest = max(longest, until - now)
            now = until
            _ = machine.take(.slept, at: now)
            decision = machine.take(.openFailed(now.nanoseconds % 2 == 0 ? ENOENT : ENODEV), at: now)
            if let change = decision.change { told.append((change.kind, now.nanoseconds / 1_000_000_000)) }
        }
        #expect(longest == .milliseconds(500))
        #expect(told.map(\.0) == [.lost] + [Machine.Change.Kind](repeating: .stillUnavailable, count: 6))
        #expect(told.map(\.seconds) == [0, 60, 660, 4_260, 25_860, 47_460, 69_060])
        #expect(machine.counts == .init(gaps: 1, losses: 1))
    }

    @Test func `the wait for a device grows until it has been sound for a second`() {
        func losses(soundFor milliseconds: Int64) -> [Double] {
            var machine = Machine()
            var waits: [Double] = []
            var now = Self.moment(0)
            _ = machine.take(.target(.capture), at: now)
            for _ in 0..<7 {
                _ = machine.take(.opened, at: now)
                _ = machine.take(.frames, at: now)
                now += .milliseconds(milliseconds)
                _ = machine.take(.frames, at: now)
                _ = machine.take(.failed(.read, ENODEV), at: now)
                if case .sleep(let until) = machine.take(.closed, at: now).action {
                    waits.append((until - now).milliseconds)
                    now = until
                }
                _ = machine.take(.slept, at: now)
            }
            return waits
        }
        #expect(losses(soundFor: 999) == [50, 100, 200, 400, 500, 500, 500])
        #expect(losses(soundFor: 1_000) == [50, 50, 50, 50, 50, 50, 50])
    }

    @Test func `a device that stays suspended is prepared after one second`() {
        var machine = Machine()
        for turn in Self.begin { _ = machine.take(turn.event, at: Self.moment(turn.time)) }
        var now = Self.moment(40)
        var decision = machine.take(.failed(.read, ESTRPIPE), at: now)
        while decision.action == .resume {
            decision = machine.take(.failed(.resume, EAGAIN), at: now)
            guard case .sleep(let until) = decision.action else { break }
            now = until
            decision = machine.take(.slept, at: now)
        }
        #expect(decision.action == .prepare)
        #expect(now == Self.moment(1_040))
    }
}
