import CSndFile
import Foundation
import TestSupport
import Testing

/// Tests on recordings that may not be distributed with the program; they are skipped where the recordings are absent.
///
/// The folder is `../shared/data` beside the checkout, or the one that `BECKON_TEST_DATA` names.
struct SharedDataTests {
    private static let folder: String = {
        if let named = ProcessInfo.processInfo.environment["BECKON_TEST_DATA"] { return named }
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        return root.appendingPathComponent("shared/data").path
    }()

    private static var isThere: Bool {
        FileManager.default.fileExists(atPath: folder + "/speech_commands-stop.tar")
    }

    /// Clips of a word, spread over its speakers, at 16 kHz.
    private func clips(of word: String, count: Int, in work: TestFolder) throws -> [[Float]] {
        let archive = "\(Self.folder)/speech_commands-\(word).tar"
        let tar = try Program.run(URL(fileURLWithPath: "/bin/tar"), ["-xf", archive, "-C", work.path])
        try #require(tar.status == 0, "\(tar.error)")
        let names = try FileManager.default.contentsOfDirectory(atPath: work.file(word)).sorted()
        return try stride(from: 0, to: names.count, by: max(1, names.count / count)).prefix(count).map { index in
            try Voices.samples(at: "\(work.file(word))/\(names[index])")
        }
    }

    /// One recording of all clips with quiet noise between them, because no microphone gives digital silence.
    private func stream(_ clips: [[Float]], pause: Double, in work: TestFolder) throws -> String {
        var noise = SplitMix(seed: 1)
        var audio: [Float] = []
        for clip in clips {
            audio += clip
            audio += noise.floats(Int(pause * 16_000), -0.0005...0.0005)
        }
        return try work.write("stream.wav", format: SF_FORMAT_WAV | SF_FORMAT_PCM_16, audio)
    }

    @Test(.enabled(if: isThere, "no recordings in ../shared/data"))
    func `stop, spoken 500 times, is never taken for up`() throws {
        let work = try TestFolder()
        let path = try stream(clips(of: "stop", count: 500, in: work), pause: 0.6, in: work)
        let program = try Program.beckon(["classify", "--json", path])
        let words = try Result.all(in: program).compactMap(\.word)
        let counts = Dictionary(words.map { ($0, 1) }, uniquingKeysWith: +)
        print("500 times stop, heard: \(counts.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" })")
        #expect(counts["up", default: 0] == 0)
        #expect(counts["stop", default: 0] > 450 && counts["stop", default: 0] <= 500)
    }

    @Test(.enabled(if: isThere, "no recordings in ../shared/data"), arguments: ["yes", "left", "go"])
    func `a word spoken 200 times is detected, and hardly any other word`(_ word: String) throws {
        let work = try TestFolder()
        let path = try stream(clips(of: word, count: 200, in: work), pause: 0.6, in: work)
        let words = try Result.all(in: try Program.beckon(["classify", "--json", path])).compactMap(\.word)
        let hits = words.count { $0 == word }
        print("200 times \(word): \(hits) heard, \(words.count - hits) others")
        #expect(hits > 170 && hits <= 200)
        #expect(words.count - hits < 10)
    }
}
