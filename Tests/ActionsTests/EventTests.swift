import Configuration
import Core
import Events
import Foundation
import JSON
import System
import TestSupport
import Testing

@testable import Actions
@testable import Spotting

/// An event as JSON and in templates.
struct EventTests {
    @Test func `an event as JSON`() throws {
        let json = DetectionEvent.sample.json.description
        #expect(
            json == """
                {"event": "word", "word": "left", "confidence": 0.9512, "start": 12.400, "end": 12.900, "time": 13.000, \
                "sequence": 7, "device": "hw:CARD=Mic", "date": "2026-03-01T12:30:05.250Z", \
                "startDate": "2026-03-01T12:30:04.650Z", "endDate": "2026-03-01T12:30:05.150Z"}
                """
        )
        #expect(try JSONSerialization.jsonObject(with: Data(json.utf8)) is [String: Any])
    }

    @Test func `a word that networks confirmed has both parts of its confidence`() throws {
        var detection = Detection(kind: .word, index: 0, confidence: 0.97, start: 1, end: 2, time: 2)
        (detection.proposed, detection.confirmed) = (0.4625, 0.9912)
        let event = DetectionEvent(
            detection,
            sequence: 1,
            name: "left",
            date: Timestamp(microseconds: 0),
            device: "mic"
        )
        #expect(event.json.description.hasSuffix("Z\", \"proposed\": 0.4625, \"confirmed\": 0.9912}"), "\(event.json)")
        #expect(
            event.fields.suffix(2).map { "\($0.name)=\($0.value)" } == [
                "BECKON_PROPOSED=0.4625", "BECKON_CONFIRMED=0.9912",
            ]
        )
        let names = DetectionEvent.sample.fields.map(\.name)
        #expect(!names.contains("BECKON_PROPOSED") && !names.contains("BECKON_CONFIRMED"))
    }

    @Test(arguments: [
        0, 1, 999_999, 951_782_400_000_000, 1_772_368_205_250_000, 4_102_444_799_999_999, -1_500_000,
        // The last microsecond before nanoseconds no longer fit into 64 bits, the first after it, and the last of all.
        9_223_372_036_854_775, 9_223_372_036_854_776, 253_402_300_799_999_999, -9_223_372_036_854_776,
    ])
    func `dates are Foundation's`(_ microseconds: Int64) throws {
        let text = Timestamp(microseconds: microseconds).text
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        let date = try #require(formatter.date(from: text))
        #expect(abs(date.timeIntervalSince1970 - Double(microseconds) / 1e6) < 0.00101, "\(text)")
        #expect(
            Timestamp(microseconds: microseconds).compactText == text.replacing("-", with: "").replacing(":", with: "")
        )
        let read = try #require(Timestamp(text))
        #expect(read.text == text && (0..<1000).contains(microseconds - read.microseconds))
    }

    @Test(arguments: [
        (Int64.max, "9999-12-31T23:59:59.999Z"), (.min, "0000-01-01T00:00:00.000Z"),
        (253_402_300_800_000_000, "9999-12-31T23:59:59.999Z"), (-62_167_219_200_000_001, "0000-01-01T00:00:00.000Z"),
        (-31_556_908_800_000_000, "0970-01-01T00:00:00.000Z"),
    ])
    func `dates of any clock have four digits for the year`(_ microseconds: Int64, _ text: String) throws {
        let time = Timestamp(microseconds: microseconds)
        #expect(time.text == text && Timestamp(text) == Timestamp(microseconds: time.microseconds / 1000 * 1000))
        for seconds in [-1e30, 1e30, .infinity, .nan] { #expect(time.adding(seconds: seconds) == time) }
        #expect(time.dayText.utf8.count == 10 && time.timeOfDayText.utf8.count == 8)
    }

    @Test func `a template is filled in`() throws {
        let template = try Template(
            "{date} {word}: {percent} ({confidence}) at {start}-{end}/{time} on {device} #{sequence}"
        )
        #expect(
            template.filled(with: .sample)
                == "2026-03-01T12:30:05.250Z left: 95 % (0.9512) at 12.400-12.900/13.000 on hw:CARD=Mic #7"
        )
        #expect(try Template("{json}").filled(with: .sample) == DetectionEvent.sample.json.description)
        for text in ["{", "}", "{word", "a } b", "{}", "{Word}"] {
            #expect(throws: InvalidValue.self) { try Template(text) }
        }
    }
}
