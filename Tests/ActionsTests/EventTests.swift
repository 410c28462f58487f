import Configuration
import Core
import Events
import Foundation
import Spotting
import System
import TestSupport
import Testing

@testable import Actions

/// What an event says of itself, and the way it takes from the detector.
struct EventTests {
    @Test func `an event as JSON`() throws {
        let json = DetectionEvent.sample.json
        #expect(
            json == """
                {"event": "word", "word": "left", "confidence": 0.9512, "start": 12.400, "end": 12.900, "time": 13.000, \
                "sequence": 7, "device": "hw:CARD=Mic", "date": "2026-03-01T12:30:05.250Z", \
                "startDate": "2026-03-01T12:30:04.650Z", "endDate": "2026-03-01T12:30:05.150Z"}
                """
        )
        #expect(try JSONSerialization.jsonObject(with: Data(json.utf8)) is [String: Any])
    }

    @Test(arguments: [
        0, 1, 999_999_999, 951_782_400_000_000_000, 1_772_368_205_250_000_000, 4_102_444_799_999_999_999,
        -1_500_000_000,
    ])
    func `dates are Foundation's`(_ nanoseconds: Int64) throws {
        let text = Timestamp(nanoseconds: nanoseconds).text
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        let date = try #require(formatter.date(from: text))
        #expect(abs(date.timeIntervalSince1970 - Double(nanoseconds) / 1e9) < 0.00101, "\(text)")
        #expect(
            Timestamp(nanoseconds: nanoseconds).compactText == text.replacing("-", with: "").replacing(":", with: "")
        )
    }

    @Test func `a template is filled in`() throws {
        let template = try Template(
            "{date} {word}: {percent} ({confidence}) at {start}-{end}/{time} on {device} #{sequence}"
        )
        #expect(
            template.filled(with: .sample)
                == "2026-03-01T12:30:05.250Z left: 95 % (0.9512) at 12.400-12.900/13.000 on hw:CARD=Mic #7"
        )
        #expect(try Template("{json}").filled(with: .sample) == DetectionEvent.sample.json)
        for text in ["{", "}", "{word", "a } b", "{}", "{Word}"] {
            #expect(throws: InvalidValue.self) { try Template(text) }
        }
    }

    private static func heard(_ index: Int, time: Double = 1, generation: UInt32 = 1) -> HeardEvent {
        let detection = Detection(kind: .word, index: index, confidence: 0.9, start: time - 0.5, end: time, time: time)
        return HeardEvent(detection, decided: Clock.now, generation: generation)
    }

    @Test func `the inbox keeps order, and counts what it loses`() throws {
        let inbox = try EventInbox()
        for index in 0..<300 { #expect(inbox.offer(Self.heard(index)) == (index < EventInbox.capacity)) }
        #expect(inbox.lostEvents == 300 - UInt64(EventInbox.capacity))
        for index in 0..<EventInbox.capacity {
            let event = try #require(inbox.take())
            #expect(event.detection.index == index && event.sequence == UInt64(index) + 1)
        }
        #expect(inbox.take() == nil)
        inbox.offer(Self.heard(5))
        #expect(inbox.take()?.sequence == 301, "the gap tells of the lost ones")
    }

    @Test func `two threads and many events`() throws {
        let inbox = try EventInbox()
        let count = 200_000
        Thread {
            for index in 0..<count {
                while !inbox.offer(Self.heard(index)) { sched_yield() }
            }
        }.start()
        var expected = 0
        var before: UInt64 = 0
        while expected < count {
            guard let event = inbox.take() else {
                inbox.wait()
                continue
            }
            guard event.detection.index == expected, event.sequence > before else {
                Issue.record("\(event) in place of \(expected)")
                return
            }
            before = event.sequence
            expected += 1
        }
        #expect(inbox.take() == nil)
    }

    @Test func `offering takes no memory`() throws {
        let inbox = try EventInbox()
        let event = Self.heard(1)
        let trial = HeapTrial {
            for _ in 0..<400 { inbox.offer(event) }
            while inbox.take() != nil {}
        }
        #expect(trial.isQuiet(seconds: 5))
    }

    @Test func `cool-downs, each word for itself`() {
        var cooldown = Cooldown()
        let table: [(String, Detection.Kind, Double, Bool)] = [
            ("left", .word, 10, true), ("left", .word, 11.9, false), ("right", .word, 11.9, true),
            ("left", .word, 12, true),
            ("left", .phrase, 12, true), ("left", .word, 13, false), ("left", .word, 14, true),
            // A stream that began anew.
            ("left", .word, 1, true), ("left", .word, 2, false),
            ("go left", .phrasePartial, 1, true), ("go left", .phrasePartial, 1, true),
        ]
        for (name, kind, time, admitted) in table {
            #expect(cooldown.admits(name, kind: kind, cooldown: 2, time: time) == admitted, "\(name) at \(time)")
        }
        #expect(
            cooldown.admits("no", kind: .word, cooldown: 0, time: 1)
                && cooldown.admits("no", kind: .word, cooldown: 0, time: 1)
        )
    }

    @Test func `complaints of a kind come once in a while`() {
        var limit = RateLimit(interval: 60)
        func at(_ second: Int64) -> Instant { Instant(nanoseconds: second * 1_000_000_000) }
        #expect(limit.admit("a", now: at(0)) == 0)
        #expect(limit.admit("a", now: at(1)) == nil && limit.admit("a", now: at(59)) == nil)
        #expect(limit.admit("b", now: at(1)) == 0)
        #expect(limit.admit("a", now: at(60)) == 2)
        #expect(limit.admit("a", now: at(61)) == nil)
    }
}
