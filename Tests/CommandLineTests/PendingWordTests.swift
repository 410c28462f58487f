import CSndFile
import Foundation
import TestSupport
import Testing

/// With `--trigger end` and a low threshold, a word's score may stay above the threshold up to the end of the audio: the word is found
/// all the same, wherever the audio comes from.
struct PendingWordTests {
    private static let options = ["--trigger", "end", "--threshold", "0.0001", "--words", "none", "--mode", "spot"]
    private static let left = Voices.path("Front_Left")

    @Test(arguments: ["Front_Left", "Front_Right", "Rear_Left", "Rear_Right", "Side_Left", "Side_Right"])
    func `files`(_ voice: String) throws {
        let program = try Program.beckon(["classify", "--json"] + Self.options + [Voices.path(voice)])
        #expect(program.status == 0 && program.lines.count == 1, "\(program.output)")
        #expect(program.output.contains("\"word\": \"\(voice.split(separator: "_")[1].lowercased())\""))
    }

    @Test func `records, the report of inspect, a worker`() throws {
        let records = try Program.beckon(["classify", "--format", "records"] + Self.options + [Self.left])
        #expect(records.output.contains("\"left\""), "\(records.output)")
        let inspected = try Program.beckon(["inspect", "--json"] + Self.options + [Self.left])
        #expect(inspected.output.contains("\"left\""), "\(inspected.output.prefix(300))")
        let worker = try Program.beckon(
            ["classify", "--worker"] + Self.options,
            input: "{\"file\": \"\(Self.left)\"}\n"
        )
        #expect(worker.output.contains("\"left\""), "\(worker.output)")
    }

    @Test func `evaluations of recordings`() throws {
        let folder = try TestFolder()
        try FileManager.default.copyItem(atPath: Self.left, toPath: folder.file("a.wav"))
        try folder.write("a.txt", bytes: Array("0.6\t1.4\tleft\n".utf8))
        let program = try Program.beckon(["evaluate", "--stream", "--json"] + Self.options + [folder.file("a.wav")])
        #expect(program.status == 0 && program.output.contains("\"hits\": 1"), "\(program.output.prefix(600))")
    }

    @Test func `a stream, whose last word also completes a phrase and starts its program`() throws {
        let folder = try TestFolder()
        let configuration = """
            {
                trigger: 'end', mode: 'spot', threshold: 0.0001, phrases: [{ phrase: 'right left', maximumGap: 5 }],
                words: {
                    left: { actions: [{ run: ['/usr/bin/tee', '\(folder.file("event"))'] }] },
                },
            }
            """
        let config = try folder.write("config.json5", bytes: Array(configuration.utf8))
        let said = try folder.write(
            "said.wav",
            format: Int(SF_FORMAT_WAV | SF_FORMAT_PCM_16),
            rate: Voices.rate,
            try Voices.samples("Front_Right") + Voices.samples("Front_Left")
        )
        let program = try Program.run(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", #""$0" listen --config "$1" --words none --json - < "$2""#, Program.beckonFile.path, config, said]
        )
        #expect(program.status == 0, "\(program.error)")
        let names = program.lines.compactMap {
            $0.firstMatch(of: /"(?:word|phrase)": "([a-z ]+)"/).map { String($0.1) }
        }
        #expect(names.suffix(2) == ["left", "right left"], "\(program.output)")
        let event = String(decoding: (try? folder.bytes("event")) ?? [], as: UTF8.self)
        #expect(event.contains("\"word\": \"left\""), "\(program.error)")
        let played = try Program.beckon(["listen", "--config", config, "--words", "none", "--json", "--file", said])
        #expect(played.output.contains("\"phrase\": \"right left\""), "\(played.output)\(played.error)")
    }
}
