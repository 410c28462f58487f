import Core
import Foundation
import TestSupport
import Testing

struct BenchTests {
    @Test func `a word on the fake card is timed from its end to its action`() throws {
        let folder = try TestFolder()
        let products = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path
        try folder.write("track.txt", bytes: Array("0.8\t1.28\tleft\n".utf8))
        let card = "pcm.mic { type fake file \"\(Voices.path("Rear_Left"))\" }"
        let program = try Program.beckon(
            [
                "bench", "--end-to-end", "--json", "--mode", "spot", "--device", "mic", "--track",
                folder.file("track.txt"),
                "--stamp", products + "/write-start-time",
            ],
            environment: DevicesTests.environment(card, in: folder)
        )
        #expect(program.error == "" && program.status == 0)
        struct Result: Decodable {
            struct Stage: Decodable { var p50, max: Double }
            var words, heard, others: Int
            var milliseconds: [String: Stage]
        }
        let result = try JSONDecoder().decode(Result.self, from: Data(program.output.utf8))
        #expect(result.words == 1 && result.heard == 1 && result.others == 0)
        let stage = result.milliseconds.mapValues(\.p50)
        let sum = ["gate", "capture", "detector", "action"].reduce(0) { $0 + (stage[$1] ?? .nan) }
        #expect(abs(sum - (stage["total"] ?? .nan)) < 0.01)
        // The word ends at 1280 ms, and the decision falls on the end of a hop.
        let gate = stage["gate"] ?? .nan
        #expect((gate + 1280).truncatingRemainder(dividingBy: 100) < 1e-4)
        for key in ["capture", "detector", "action"] { #expect((stage[key] ?? .nan) >= 0, "\(key)") }
    }

    @Test(arguments: [
        (["bench", "--end-to-end"], 2, "needs --device"),
        (["bench", "--end-to-end", "--device", "a", "--track", "b", "--stamp", "c"], 2, "full path"),
        (["bench", "--end-to-end", "--device", "a", "--track", "/nowhere", "--stamp", "/bin/true"], 1, "/nowhere"),
        (["bench", "words"], 2, "not 'words'"), (["doctor", "mic"], 2, "not 'mic'"),
    ])
    func `errors are one line`(_ arguments: [String], status: Int32, part: String) throws {
        let program = try Program.beckon(arguments)
        #expect(program.status == status && program.output == "")
        #expect(program.error.contains(part) && program.error.filter { $0 == "\n" }.count == 1, "\(program.error)")
    }
}
