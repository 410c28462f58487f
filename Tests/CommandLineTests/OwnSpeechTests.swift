import CSndFile
import Foundation
import TestSupport
import Testing

/// Words that a loudspeaker says, by recordings with the microphone and with what is played.
struct OwnSpeechTests {
    /// A recording of four seconds: in channel 0 a word after a second; in channel 1 another one so many seconds before it, or nothing.
    private static func recording(_ word: String, _ played: String?, earlier: Double, in folder: TestFolder) throws
        -> String
    {
        let rate = Double(Voices.rate)
        func track(_ name: String, at seconds: Double) throws -> [Float] {
            let voice = try Voices.samples(name)
            let start = Int(seconds * rate)
            return [Float](repeating: 0, count: start) + voice
                + [Float](repeating: 0, count: Int(rate) * 4 - start - voice.count)
        }
        let heard = try track(word, at: 1)
        let silence = [Float](repeating: 0, count: heard.count)
        let reference = try played.map { try track($0, at: 1 - earlier) } ?? silence
        let format = SF_FORMAT_WAV | SF_FORMAT_FLOAT
        return try folder.write(
            "two.wav",
            format: format,
            rate: Voices.rate,
            channels: 2,
            zip(heard, reference).flatMap { [$0, $1] }
        )
    }

    /// The report of `evaluate --stream`.
    private struct Measured: Decodable {
        struct Setting: Decodable { let all: Figures }
        struct Figures: Decodable { let falseAccepts: Int }
        let settings: [Setting]
    }

    private static let settings = """
        { mode: "spot", channel: 0, echo: { reference: 1 }, actions: [{ print: "acted" }] }
        """

    @Test(
        arguments: [
            ("Front_Left", "Rear_Left", 0.08, true), ("Front_Left", "Rear_Left", 0.4, true),
            ("Front_Left", nil, 0, false),
            ("Front_Left", "Rear_Right", 0.08, false), ("Front_Left", "Rear_Left", -1.2, false),
        ] as [(String, String?, Double, Bool)]
    )
    func `a word acts unless the loudspeaker says it at the same time`(
        _ word: String,
        played: String?,
        earlier: Double,
        isOwn: Bool
    ) throws {
        let folder = try TestFolder()
        let file = try Self.recording(word, played, earlier: earlier, in: folder)
        let configuration = try folder.write("config.json5", bytes: Array(Self.settings.utf8))
        let program = try Program.beckon(["listen", "--config", configuration, "--file", file, "--json"])
        let events = program.lines.filter { $0.contains(#""left""#) }
        #expect(events.count == 1, "\(program.lines) \(program.error)")
        let isMarked = events.first?.contains(#""event": "own-speech", "word": "left""#) == true
        #expect(isMarked == isOwn && (events.first?.contains(#""ownSpeech": true"#) == true) == isOwn)
        #expect(program.lines.contains { $0.contains("acted") } == !isOwn, "\(program.lines)")
        #expect(program.error.contains("left: said by the loudspeaker itself") == isOwn, "\(program.error)")

        let options = ["--mode", "spot", "--channel", "0", "--echo-reference", "1", file]
        let lines = try Program.beckon(["classify", "--json"] + options).lines.filter { $0.contains(#""left""#) }
        #expect(lines.count == 1 && lines[0].contains(#""ownSpeech": true"#) == isOwn, "\(lines)")
        #expect(try Program.beckon(["classify"] + options).output.contains("said by the loudspeaker") == isOwn)

        // Where no person says a word, what acts is false, and the rest is not.
        try folder.write("two.txt", bytes: [])
        let report = try Program.beckon(["evaluate", "--stream", "--json"] + options)
        let measured = try JSONDecoder().decode(Measured.self, from: Data(report.output.utf8))
        #expect(measured.settings.map(\.all.falseAccepts) == [isOwn ? 0 : 1], "\(report.output.prefix(900))")
    }
}
