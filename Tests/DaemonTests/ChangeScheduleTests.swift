import Audio
import Configuration
import Control
import Core
import Testing

@testable import Daemon

/// Which change of settings is made next, and when; the clock is given.
struct ChangeScheduleTests {
    /// A schedule and a report in a class, because `#expect` calls no mutating method.
    private final class Box {
        private var schedule = ChangeSchedule<Int>()
        private var report = LossReport()
        private let lost = LostAudio()

        var deadline: Instant? { schedule.deadline }
        func add(_ change: SettingsChange, _ request: Int) -> Bool { schedule.add(change, request) }
        func next(at now: Instant) -> ChangeSchedule<Int>.Turn? { schedule.next(at: now) }
        func removeAll() -> [Int] { schedule.removeAll() }

        func noteReload(hasRebuilt: Bool, at now: Instant) {
            schedule.noteReload(hasRebuilt: hasRebuilt, at: now)
        }

        func messages(hopsMissed: UInt64, samplesLost: Int, at now: Instant) -> [String] {
            lost.note(.settings, blocks: hopsMissed - lost.blocks(.settings))
            lost.note(.recording, .seconds(Double(samplesLost) / 16_000) - lost[.recording])
            return report.messages(lost, at: now)
        }
    }

    private static let start = Instant(nanoseconds: 1_000_000_000)

    private func at(_ milliseconds: Int) -> Instant { Self.start + .milliseconds(milliseconds) }

    @Test func `reloads that wait together are one, at most one a second`() throws {
        let schedule = Box()
        #expect(schedule.next(at: at(0)) == nil && schedule.deadline == nil)
        for number in 0..<3 { #expect(schedule.add(.configuration, number)) }
        let first = try #require(schedule.next(at: at(0)))
        #expect(first.change == .configuration && first.requests == [0, 1, 2])
        schedule.noteReload(hasRebuilt: true, at: at(50))
        for number in 3..<26 { #expect(schedule.add(.configuration, number)) }
        #expect(schedule.next(at: at(1049)) == nil)
        #expect(schedule.deadline == at(1050))
        #expect(schedule.next(at: at(1050))?.requests == Array(3..<26), "the last one wins, and all are answered")
        // One that rebuilt nothing holds up the next only for a moment.
        schedule.noteReload(hasRebuilt: false, at: at(1100))
        #expect(schedule.add(.configuration, 30))
        #expect(schedule.next(at: at(1199)) == nil)
        #expect(schedule.next(at: at(1200))?.requests == [30])
    }

    @Test func `other changes wait for no reload, and keep their order`() throws {
        let schedule = Box()
        schedule.noteReload(hasRebuilt: true, at: at(0))
        let low = SettingsChange.thresholds(ThresholdChange(all: .strict))
        let high = SettingsChange.thresholds(ThresholdChange(all: .eager))
        for (number, change) in [.configuration, low, .words, high, .mute(true)].enumerated() {
            #expect(schedule.add(change, number))
        }
        #expect((0..<3).map { _ in schedule.next(at: at(0))?.change } == [low, high, .mute(true)])
        #expect(schedule.next(at: at(0)) == nil)
        #expect(schedule.next(at: at(1000))?.change == .configuration)
        schedule.noteReload(hasRebuilt: false, at: at(1000))
        #expect(schedule.next(at: at(1100))?.change == .words)
    }

    @Test func `too many changes are refused`() {
        let schedule = Box()
        for number in 0..<ChangeSchedule<Int>.capacity { #expect(schedule.add(.mute(true), number)) }
        #expect(!schedule.add(.mute(false), 99))
        #expect(schedule.removeAll().count == ChangeSchedule<Int>.capacity)
        #expect(schedule.add(.mute(false), 99))
    }

    @Test func `what new settings cost is reported, but not at every hop`() {
        let report = Box()
        #expect(report.messages(hopsMissed: 0, samplesLost: 0, at: at(0)) == [])
        #expect(
            report.messages(hopsMissed: 3, samplesLost: 0, at: at(250))
                == ["new settings cost 3 hops (0.3 s of audio), in which no word was found"]
        )
        #expect(report.messages(hopsMissed: 9, samplesLost: 0, at: at(500)) == [])
        #expect(
            report.messages(hopsMissed: 13, samplesLost: 24_000, at: at(10_250))
                == [
                    "new settings cost 10 hops (1.0 s of audio), in which no word was found",
                    "the recording lacks 1.5 s of audio, as the disk was too slow",
                ]
        )
    }
}
