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
        let event = DetectionEvent(detection, sequence: 1, name: "left", date: Timestamp(nanoseconds: 0), device: "mic")
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
        #expect(try Template("{json}").filled(with: .sample) == DetectionEvent.sample.json.description)
        for text in ["{", "}", "{word", "a } b", "{}", "{Word}"] {
            #expect(throws: InvalidValue.self) { try Template(text) }
        }
    }
}
