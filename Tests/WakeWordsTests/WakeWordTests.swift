import Foundation
import TestSupport
import Testing

@testable import WakeWords

struct WakeWordTests {
    private static let valid = """
        {"type": "micro", "wake_word": "Okay Nabu", "author": "A", "website": "https://b", "model": "okay_nabu.tflite",
         "trained_languages": ["en", "nl"], "version": 2,
         "micro": {"probability_cutoff": 0.85, "feature_step_size": 10, "sliding_window_size": 5, "tensor_arena_size": 37000}}
        """

    @Test func `a manifest tells the word, its file and when it counts`() throws {
        let manifest = try WakeWordManifest(json: Array(Self.valid.utf8))
        #expect(manifest.phrase == "Okay Nabu")
        #expect(manifest.model == "okay_nabu.tflite")
        #expect(manifest.languages == ["en", "nl"])
        #expect(manifest.cutoff == 0.85)
        #expect(manifest.windowSteps == 5)
    }

    @Test(arguments: [
        ("\"micro\", \"wake", "\"macro\", \"wake", "key type is 'macro', not 'micro'"),
        ("\"version\": 2", "\"version\": 1", "key version is 1, not 2"),
        ("0.85", "85", "key micro.probability_cutoff is 85, not from 0 to 1"),
        (
            "\"sliding_window_size\": 5", "\"sliding_window_size\": 0",
            "key micro.sliding_window_size is 0, not from 1 to 255"
        ),
        ("size\": 10", "size\": 20", "key micro.feature_step_size is 20; only features every 10 ms"),
        ("okay_nabu.tflite", "../x.tflite", "not the name of a file beside the manifest"),
        ("okay_nabu.tflite", ".okay_nabu.tflite", "not the name of a file beside the manifest"),
        ("okay_nabu.tflite", "okay\\u001bnabu.tflite", "not the name of a file beside the manifest"),
        ("okay_nabu.tflite", "okay_nabu.JSON", "a manifest's name, not a model's"),
        ("Okay Nabu", " _ ", "key wake_word is empty"),
        ("Okay Nabu", "Okay\\u001b[31mNabu", "key wake_word is “Okay?[31mNabu”, with control or invisible characters"),
        ("Okay Nabu", "Okay\\nNabu", "with control or invisible characters"),
        ("Okay Nabu", "Okay\\u0007Nabu", "with control or invisible characters"),
        ("Okay Nabu", "Okay\\u202eNabu", "with control or invisible characters"),
        ("\"model\"", "\"other\"", "key model is missing"),
        ("\"micro\": {", "\"nano\": {", "key micro is missing"),
    ])
    func `a manifest that does not fit is refused with its key`(part: String, other: String, message: String) {
        let json = Self.valid.replacing(part, with: other)
        #expect(json != Self.valid)
        do throws(WakeWordError) {
            _ = try WakeWordManifest(json: Array(json.utf8))
            Issue.record("accepted")
        } catch {
            #expect(error.message.contains(message))
        }
    }

    @Test func `a manifest that is not JSON is refused`() {
        for text in ["", "{", "[]", "model", Self.valid + "x"] {
            #expect(throws: WakeWordError.self) { try WakeWordManifest(json: Array(text.utf8)) }
        }
        #expect(throws: WakeWordError.manifest) { try WakeWordManifest(json: [0xFF, 0xFE]) }
    }

    @Test(arguments: ["hey\u{1B}house.onnx", "hey\u{202E}house.onnx", "hey\u{7}.onnx", "v\u{9B}.tflite"])
    func `a head whose file's name does not show is refused`(file: String) {
        #expect(throws: WakeWordError.manifest) { try WakeWordManifest(head: file) }
    }

    @Test(arguments: [
        (
            "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
            "a Git LFS pointer, not the file itself"
        ),
        ("\n<!DOCTYPE html>\n<html lang=\"en\">", "a web page, not the file itself"),
        ("<html>", "a web page, not the file itself"),
    ])
    func `what a download left in the place of a model is named`(content: String, message: String) throws {
        let folder = try TestFolder()
        for file in ["a.tflite", "a.onnx", "a.json"] {
            try Data(content.utf8).write(to: URL(fileURLWithPath: folder.file(file)))
            do throws(WakeWordError) {
                _ = try WakeWord(path: folder.file(file))
                Issue.record("accepted")
            } catch {
                #expect(error.message.contains("\(file): \(message)"), "\(error)")
            }
            try FileManager.default.removeItem(atPath: folder.file(file))
        }
    }

    @Test(arguments: Fixture.names) func `a word is read from its manifest or from its model`(name: String) throws {
        let word = try WakeWord(path: "\(Fixture.models)/\(name).json")
        #expect(word.name == name.replacing("_", with: " "))
        #expect(try WakeWord(path: "\(Fixture.models)/\(name).tflite").manifest == word.manifest)
    }

    @Test func `missing files are named`() throws {
        let folder = try TestFolder()
        func message(_ path: String) -> String {
            do throws(WakeWordError) {
                _ = try WakeWord(path: path)
                return ""
            } catch {
                return error.message
            }
        }
        #expect(message(folder.file("a.json")).contains("a.json: No such file"))
        #expect(message(folder.file("a.tflite")).contains("a.tflite: No such file"))
        #expect(message(folder.file("a.onnx")).contains("a.onnx: No such file"))
        #expect(message(folder.path).contains("not a wake word; name its model"))
        let model = try Data(contentsOf: URL(fileURLWithPath: "\(Fixture.models)/alexa.tflite"))
        try model.write(to: URL(fileURLWithPath: folder.file("a.tflite")))
        #expect(message(folder.file("a.tflite")).contains("the manifest must lie beside the model"))
        try Data(Self.valid.utf8).write(to: URL(fileURLWithPath: folder.file("a.json")))
        #expect(message(folder.file("a.json")).contains("okay_nabu.tflite: No such file"))
    }

    @Test func `steps are counted and timed in samples, and nothing said is no word`() throws {
        let words = try Fixture.names.map { try WakeWord(path: "\(Fixture.models)/\($0).json") }
        var detector = WakeWordDetector(words)
        var steps = [Int](repeating: 0, count: 4)
        let samples = Fixture.synthesised().map { Float($0) / 32768 }
        var last = 0
        for start in stride(from: 0, to: samples.count, by: 1600) {
            detector.add(samples.span.extracting(start..<start + 1600)) { word, mean, samples in
                steps[word] += 1
                last = samples
                #expect(mean < 0.2, "nothing was said")
            }
        }
        // 498 hops, three a step.
        #expect(steps == [166, 166, 166, 166])
        #expect(last == 480 + 160 * (3 * 166 - 1))
    }

    @Test func `a detector allocates nothing`() throws {
        final class Words {
            var detector: WakeWordDetector
            let samples = Fixture.synthesised().prefix(16000).map { Float($0) / 32768 }
            init(_ words: [WakeWord]) { detector = WakeWordDetector(words) }
            func run() {
                let samples = samples
                detector.add(samples.span) { _, _, _ in }
                detector.flush()
            }
        }
        let words = Words(try Fixture.names.map { try WakeWord(path: "\(Fixture.models)/\($0).json") })
        words.run()
        #expect(HeapTrial { words.run() }.isQuiet(seconds: 30))
    }
}
