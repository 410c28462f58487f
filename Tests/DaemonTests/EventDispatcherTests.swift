import Actions
import Configuration
import Events
import Foundation
import Glibc
import System
import TestSupport
import Testing

@testable import Daemon
@testable import Spotting

/// The dispatcher: from the detector's queue to the sinks.
struct EventDispatcherTests {
    private static let labels = ["yes", "left", "_silence_"]

    /// A sink that keeps each event as a line.
    private struct Collector: EventSink {
        let lines = Lines()
        var line: @Sendable (DetectionEvent) -> String = { "\($0.name) \($0.time)" }

        func receive(_ event: DetectionEvent) { lines.add(line(event)) }

        func withheld(_ event: DetectionEvent, _ reason: WithheldReason) { lines.add("\(line(event)) \(reason)") }
    }

    private static func queued(
        _ index: Int,
        kind: Detection.Kind = .word,
        time: Double = 1,
        generation: UInt32 = 1,
        sequence: UInt64 = 1,
        isOwnSpeech: Bool = false
    ) -> QueuedDetection {
        var detection = Detection(
            kind: kind,
            index: index,
            confidence: 0.9,
            start: time - 0.5,
            end: time - 0.1,
            time: time
        )
        detection.isOwnSpeech = isOwnSpeech
        return QueuedDetection(detection: detection, decided: Clock.now, generation: generation, sequence: sequence)
    }

    private func configuration(_ text: String) throws -> Configuration {
        try ParsedConfiguration(text: text, file: "f").validated(by: KnownWords(["yes", "left"])).configuration
    }

    private func dispatcher(_ text: String, _ sinks: any EventSink...) throws -> EventDispatcher {
        let dispatcher = try EventDispatcher(
            try configuration(text),
            labels: Self.labels,
            device: "mic",
            sinks: sinks
        )
        try dispatcher.start()
        return dispatcher
    }

    @Test func `what a loudspeaker said is withheld, counted apart, and begins no cool-down`() throws {
        let sink = Collector()
        let dispatcher = try dispatcher("{ cooldown: 5, phrases: [{ phrase: 'yes  left' }] }", sink)
        for (kind, time, isOwn) in [
            (Detection.Kind.word, 1.0, true), (.phrasePartial, 1, true), (.phrase, 2, true), (.word, 3, false),
            (.word, 4, true), (.word, 5, false),
        ] {
            dispatcher.queue.push(Self.queued(0, kind: kind, time: time, isOwnSpeech: isOwn))
        }
        dispatcher.stop()
        #expect(
            sink.lines.all == [
                "yes 1.0 ownSpeech", "yes left 1.0 ownSpeech", "yes left 2.0 ownSpeech", "yes 3.0", "yes 4.0 ownSpeech",
            ]
        )
        let counts = EventDispatcher.Counts(
            events: 2,
            suppressed: 1,
            byName: ["yes": 2],
            suppressedByName: ["yes": 1],
            ownSpeech: 3
        )
        #expect(dispatcher.counts == counts && dispatcher.newestEvent?.time == 3)
    }

    @Test func `one event for each detection, to every sink in turn`() throws {
        let first = Collector { "\($0.sequence) \($0.kind.key) \($0.name) \($0.device)" }
        let second = Collector { "\($0.name) \($0.confidence) \($0.start) \($0.end)" }
        let dispatcher = try dispatcher("{ phrases: [{ phrase: 'yes  left' }] }", first, second)
        let before = Timestamp.now
        dispatcher.queue.push(Self.queued(0))
        dispatcher.queue.push(Self.queued(0, kind: .phrasePartial, sequence: 2))
        dispatcher.queue.push(Self.queued(1, time: 2, sequence: 3))
        dispatcher.queue.push(Self.queued(0, kind: .phrase, time: 2, sequence: 4))
        // A detection whose label has no name makes no event.
        dispatcher.queue.push(Self.queued(17, sequence: 5))
        dispatcher.queue.push(Self.queued(-1, sequence: 6))
        dispatcher.stop()
        #expect(
            first.lines.all == [
                "1 word yes mic", "2 phrase-partial yes left mic", "3 word left mic", "4 phrase yes left mic",
            ]
        )
        #expect(second.lines.all.count == 4 && second.lines.all[2] == "left 0.9 1.5 1.9")
        #expect(
            dispatcher.counts
                == EventDispatcher.Counts(events: 4, unnamed: 2, byName: ["yes": 1, "left": 1, "yes left": 1])
        )
        #expect(before <= Timestamp.now)
        dispatcher.stop()
    }

    @Test func `after the last event there are no more, and a wake word is not the last`() throws {
        let text = "{ phrases: [{ phrase: 'yes left' }], sessions: [{ wake: 'yes', words: ['left'] }] }"
        for (last, count) in [(ListeningLimit.Event.word, 3), (.phrase, 4), (nil, 5)] {
            let seen = Collector { "\($0.kind.key) \($0.name)" }
            let dispatcher = try EventDispatcher(
                try configuration(text),
                labels: Self.labels,
                device: "mic",
                last: last,
                sinks: [seen]
            )
            try dispatcher.start()
            dispatcher.queue.push(Self.queued(0))
            dispatcher.queue.push(Self.queued(0, kind: .phrasePartial))
            #expect(comesTrue { seen.lines.all.count == 2 } && !dispatcher.isOver)
            dispatcher.queue.push(Self.queued(1, time: 2))
            dispatcher.queue.push(Self.queued(0, kind: .phrase, time: 2))
            dispatcher.queue.push(Self.queued(1, time: 3))
            dispatcher.stop()
            let all = ["word yes", "phrase-partial yes left", "word left", "phrase yes left", "word left"]
            #expect(seen.lines.all == Array(all.prefix(count)) && dispatcher.isOver == (last != nil))
        }
    }

    @Test func `time is over by the audio of a file, of other sources also by the clock`() {
        let limit = ListeningLimit(seconds: 2)
        for (elapsed, played, isFile, isOver) in [
            (1.9, nil, false, false), (2, nil, false, true), (9, 1.9, true, false), (1, 2, true, true),
            (1, 2, false, true),
            (2, 0.1, false, true),
        ] as [(Double, Double?, Bool, Bool)] {
            #expect(limit.isOver(elapsed: elapsed, played: played, isFile: isFile) == isOver)
        }
        #expect(!ListeningLimit(first: .word).isOver(elapsed: 1e9, played: nil, isFile: false))
        #expect(limit.isSet && ListeningLimit(first: .word).isSet && !ListeningLimit().isSet)
    }

    @Test func `a session gives events with its name, and its words say that they belong to it`() throws {
        let seen = Collector { "\($0.kind.key) \($0.name) \($0.session ?? "-") \($0.json)" }
        let text = "{ cooldown: 9, sessions: [{ wake: 'yes', words: ['left'], onStart: [{ journal: 'info' }] }] }"
        let dispatcher = try dispatcher(text, seen)
        func push(_ index: Int, _ kind: Detection.Kind, session: Int? = nil) {
            let detection = Detection(
                kind: kind,
                index: index,
                confidence: 0.5,
                start: 1,
                end: 2,
                time: 2,
                session: session
            )
            dispatcher.queue.push(QueuedDetection(detection: detection, decided: Clock.now, generation: 1, sequence: 1))
        }
        push(0, .word)
        push(0, .sessionStart)
        #expect(comesTrue { dispatcher.session == "yes" })
        push(1, .word, session: 0)
        push(0, .sessionEnd)
        #expect(comesTrue { dispatcher.session == nil })
        // Sessions have no cool-down.
        push(0, .sessionStart)
        push(0, .sessionTimeout)
        // A session that these settings do not have.
        push(3, .sessionStart)
        dispatcher.stop()
        let lines = seen.lines.all
        let expected = [
            "word yes -", "session-start yes -", "word left yes", "session-end yes -", "session-start yes -",
            "session-timeout yes -",
        ]
        let begins = lines.map { line in line.split(separator: " ").prefix(3).joined(separator: " ") }
        #expect(begins == expected)
        #expect(lines[1].contains("{\"event\": \"session-start\", \"session\": \"yes\", \"confidence\": 0.5"))
        #expect(lines[2].contains("\"word\": \"left\"") && lines[2].hasSuffix(", \"session\": \"yes\"}"))
        #expect(dispatcher.counts.unnamed == 1)
    }

    @Test func `cool-down, and settings that change while words are heard`() throws {
        let seen = Collector()
        let dispatcher = try dispatcher("{ cooldown: 2, words: { yes: { cooldown: 0 } } }", seen)
        defer { dispatcher.stop() }
        for (index, time) in [(1, 1.0), (1, 2.5), (0, 2.6), (0, 2.7), (1, 3.1)] {
            dispatcher.queue.push(Self.queued(index, time: time))
        }
        #expect(comesTrue { seen.lines.all == ["left 1.0", "yes 2.6", "yes 2.7", "left 3.1"] })
        #expect(comesTrue { dispatcher.counts.suppressed == 1 })

        let generation = dispatcher.update(try configuration("{}"), labels: ["left", "yes"])
        #expect(generation == 2 && dispatcher.generation == 2)
        // A detection of the old generation keeps its old name.
        dispatcher.queue.push(Self.queued(0, time: 4, generation: 1))
        dispatcher.queue.push(Self.queued(0, time: 6, generation: 2))
        #expect(comesTrue { seen.lines.all.suffix(2) == ["yes 4.0", "left 6.0"] })
        // Settings with the same names are the same generation, however often they come.
        for _ in 0..<20 {
            #expect(dispatcher.update(try configuration("{ threshold: 0.3 }"), labels: ["left", "yes"]) == 2)
        }
        dispatcher.queue.push(Self.queued(0, time: 8, generation: 2))
        #expect(comesTrue { seen.lines.all.last == "left 8.0" })
        // Names of two changes ago are gone: such a detection is counted.
        let counted = dispatcher.counts.unnamed
        dispatcher.update(try configuration("{}"), labels: ["yes", "left"])
        dispatcher.update(try configuration("{}"), labels: ["left", "yes"])
        dispatcher.queue.push(Self.queued(0, time: 10, generation: 2))
        #expect(comesTrue { dispatcher.counts.unnamed == counted + 1 })
    }

    @Test func `slow programs delay neither the dispatcher nor another sink`() throws {
        let seen = Collector()
        let configuration = try configuration(
            "{ limits: { atOnce: 2, queue: 3, timeout: 0.1 }, words: { left: { actions: [{ run: ['/bin/sleep', '100'] }] } } }"
        )
        let actions = try ActionRunner(configuration, environment: [:], log: ServiceLog { _, _ in })
        let dispatcher = try EventDispatcher(
            configuration,
            labels: Self.labels,
            device: "auto",
            deviceInUse: { "mic" },
            sinks: [actions, seen]
        )
        try dispatcher.start()
        let begun = ContinuousClock.now
        for number in 0..<20 { #expect(dispatcher.queue.push(Self.queued(1, time: Double(number)))) }
        #expect(comesTrue { seen.lines.all.count == 20 })
        #expect(begun.duration(to: .now) < .seconds(1))
        #expect(dispatcher.counts.events == 20 && actions.counts.dropped == 15)
        dispatcher.stop()
        actions.stop()
    }

    @Test func `the queue keeps order, and counts what it loses`() throws {
        let queue = try DetectionQueue()
        for index in 0..<300 {
            let isKept = queue.push(Self.queued(index, sequence: UInt64(index) + 1))
            #expect(isKept == (index < DetectionQueue.capacity))
        }
        #expect(queue.droppedCount == 300 - UInt64(DetectionQueue.capacity))
        for index in 0..<DetectionQueue.capacity {
            let detection = try #require(queue.pop())
            #expect(detection.detection.index == index && detection.sequence == UInt64(index) + 1)
        }
        #expect(queue.pop() == nil)
        queue.push(Self.queued(5, sequence: 301))
        #expect(queue.pop()?.sequence == 301, "the gap tells of the lost ones")
    }

    @Test func `two threads and many detections`() throws {
        let queue = try DetectionQueue()
        let count = 200_000
        Thread {
            for index in 0..<count {
                while !queue.push(Self.queued(index, sequence: UInt64(index) + 1)) { sched_yield() }
            }
        }.start()
        var expected = 0
        while expected < count {
            guard let queued = queue.pop() else {
                queue.wait()
                continue
            }
            guard queued.detection.index == expected, queued.sequence == UInt64(expected) + 1 else {
                Issue.record("\(queued) in place of \(expected)")
                return
            }
            expected += 1
        }
        #expect(queue.pop() == nil)
    }

    @Test func `queueing takes no memory`() throws {
        let queue = try DetectionQueue()
        let detection = Self.queued(1)
        let trial = HeapTrial {
            for _ in 0..<400 { queue.push(detection) }
            while queue.pop() != nil {}
        }
        #expect(trial.isQuiet(seconds: 5))
    }

    @Test func `each word has its own cool-down`() {
        var cooldown = Cooldown()
        let table: [(String, Detection.Kind, Double, Bool)] = [
            ("left", .word, 10, true), ("left", .word, 11.9, false), ("right", .word, 11.9, true),
            ("left", .word, 12, true),
            ("left", .phrase, 12, true), ("left", .word, 13, false), ("left", .word, 14, true),
            // The stream has started again.
            ("left", .word, 1, true), ("left", .word, 2, false),
            ("go left", .phrasePartial, 1, true), ("go left", .phrasePartial, 1, true),
        ]
        for (name, kind, time, admitted) in table {
            let subject = EventNames.Subject(name: name, cooldown: 2)
            #expect(cooldown.admits(subject, kind: kind, time: time) == admitted, "\(name) at \(time)")
        }
        let always = EventNames.Subject(name: "no", cooldown: 0)
        #expect(cooldown.admits(always, kind: .word, time: 1) && cooldown.admits(always, kind: .word, time: 1))
    }
}
