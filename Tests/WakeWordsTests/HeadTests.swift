import Foundation
import TestSupport
import Testing

@testable import WakeWords

struct HeadTests {
    private static func head(_ file: String) throws -> HeadNetwork {
        try HeadNetwork(bytes: Fixture.bytes(file))
    }

    private static func add(_ embedding: [Float], to stream: borrowing HeadStream) -> Float {
        stream.add(embedding)
    }

    private func refusal(_ bytes: [UInt8]) -> WakeWordError? {
        do throws(WakeWordError) {
            _ = try HeadNetwork(bytes: bytes)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        ("plain.tflite", "plain", 3), ("plain.onnx", "plain", 3), ("verified.tflite", "verified", 4),
        ("verified.onnx", "verified", 4), ("assorted.tflite", "assorted", 2), ("assorted.onnx", "assorted-onnx", 2),
    ])
    func `scores are those of other programs for the same embeddings`(file: String, name: String, windows: Int) throws {
        let expected = try Fixture.floats(name + ".scores")
        let network = try Self.head(file)
        #expect(network.windows == windows)
        let silence = try Fixture.speechEmbedding().silence
        var scores: [Float] = []
        for audio in ["voice", "synthesised"] {
            let stream = HeadStream(network, silence: silence)
            for row in try Fixture.embeddings(audio) { scores.append(Self.add(row, to: stream)) }
        }
        let largest = zip(scores, expected).map { abs($0 - $1) }.max() ?? 1
        #expect(scores.count == expected.count && largest < 1e-5, "\(largest)")
        #expect((expected.max() ?? 0) - (expected.min() ?? 0) > 0.03)
    }

    @Test(arguments: [("recurrent", 5, 1), ("convolved", 6, 3), ("integers", 3, 1)])
    func `scores of other kinds of heads are those of ONNX Runtime`(name: String, windows: Int, outputs: Int) throws {
        let expected = try Fixture.floats(name + ".scores")
        let network = try Self.head(name + ".onnx")
        #expect(network.windows == windows && network.outputs == outputs)
        let silence = try Fixture.speechEmbedding().silence
        for output in 0..<outputs {
            var scores: [Float] = []
            for audio in ["voice", "synthesised"] {
                let stream = HeadStream(network, output: output, silence: silence)
                for row in try Fixture.embeddings(audio) { scores.append(Self.add(row, to: stream)) }
            }
            let own = stride(from: output, to: expected.count, by: outputs).map { expected[$0] }
            let largest = zip(scores, own).map { abs($0 - $1) }.max() ?? 1
            #expect(scores.count == own.count && largest < 1e-4, "\(largest)")
            #expect((own.max() ?? 0) - (own.min() ?? 0) > 0.03)
        }
    }

    @Test func `a head of several words needs a manifest that names one of them`() throws {
        let embedding = try Fixture.speechEmbedding()
        func refusal(_ part: String?) throws -> String? {
            let folder = try TestFolder()
            try Data(Fixture.bytes("convolved.onnx")).write(to: URL(fileURLWithPath: folder.path + "/a.onnx"))
            if let part {
                let json =
                    #"{"type": "openWakeWord", "wake_word": "A", "model": "a.onnx", "openWakeWord": {\#(part)}}"#
                try Data(json.utf8).write(to: URL(fileURLWithPath: folder.path + "/a.json"))
            }
            do throws(WakeWordError) {
                let word = try WakeWord(path: folder.path + "/a.onnx") { () throws(WakeWordError) in embedding }
                #expect(word.manifest.output == 2)
                return nil
            } catch {
                return error.message
            }
        }
        #expect(try refusal(nil)?.contains("it has 3 probabilities, of several words; write a manifest") == true)
        #expect(try refusal("")?.contains("it has 3 probabilities, of several words; write a manifest") == true)
        #expect(try refusal(#""output": 3"#)?.contains("it has 3 probabilities; key openWakeWord.output is 3") == true)
        #expect(try refusal(#""output": 2"#) == nil)
    }

    @Test func `a trigger level may be given in place of the manifest's`() throws {
        let embedding = try Fixture.speechEmbedding()
        let word = try WakeWord(path: "\(Fixture.folder)/plain.onnx", triggerLevel: 4) { () throws(WakeWordError) in
            embedding
        }
        #expect(word.manifest.windowSteps == 4)
        #expect(try WakeWord(path: "\(Fixture.models)/alexa.json", triggerLevel: 4).manifest.windowSteps == 5)
    }

    @Test(arguments: ["plain", "verified"]) func `scores of audio are those of pyopen-wakeword`(name: String) throws {
        let embedding = try Fixture.speechEmbedding()
        let words = try ["tflite", "onnx"].map { ending in
            try WakeWord(path: "\(Fixture.folder)/\(name).\(ending)") { () throws(WakeWordError) in embedding }
        }
        let expected = try Fixture.floats(name + ".scores")
        var (start, largest): (Int, Float) = (0, 0)
        for audio in ["voice", "synthesised"] {
            let samples = try Fixture.audio(audio).map { Float($0) / 32768 }
            let count = try Fixture.embeddings(audio).count
            var detector = WakeWordDetector(words)
            var hops = [0, 0]
            // In hops of another length than the embedding's.
            for first in stride(from: 0, to: samples.count, by: 1600) {
                let hop = samples.span.extracting(first..<min(first + 1600, samples.count))
                detector.add(hop) { word, score, samples in
                    #expect(samples == 296 + 1280 * hops[word])
                    if hops[word] < count { largest = max(largest, abs(score - expected[start + hops[word]])) }
                    hops[word] += 1
                }
            }
            #expect(hops[0] == hops[1] && hops[0] >= count)
            start += count
        }
        #expect(largest < 1e-4)
    }

    @Test func `several words share an embedding, and a trigger level needs as many scores`() throws {
        let embedding = try Fixture.speechEmbedding()
        func word(_ level: Int) throws -> WakeWord {
            let json =
                #"{"type": "openWakeWord", "wake_word": "A", "model": "a.onnx", "openWakeWord": {"trigger_level": \#(level)}}"#
            let manifest = try WakeWordManifest(json: Array(json.utf8))
            return WakeWord(manifest: manifest, network: .head(try Self.head("verified.onnx"), over: embedding))
        }
        var detector = WakeWordDetector([try word(1), try word(3), try WakeWord(path: "\(Fixture.models)/alexa.json")])
        var scores: [[Float]] = [[], [], []]
        let samples = Fixture.synthesised().map { Float($0) / 32768 }
        detector.add(samples.span) { word, score, _ in scores[word].append(score) }
        #expect(scores[0].count == 63 && scores[1].count == 63 && scores[2].count == 166)
        for index in scores[0].indices {
            #expect(scores[1][index] == (index < 2 ? 0 : scores[0][index - 2...index].min()))
        }
        var again: [Float] = []
        detector.flush()
        detector.add(samples.span) { word, score, _ in if word == 0 { again.append(score) } }
        #expect(again == scores[0])
    }

    @Test func `a detector of heads allocates nothing`() throws {
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
        let embedding = try Fixture.speechEmbedding()
        let files = ["verified.onnx", "assorted.tflite", "assorted.onnx", "recurrent.onnx", "integers.onnx"]
        let words = Words(
            try files.map { file in
                try WakeWord(path: "\(Fixture.folder)/\(file)") { () throws(WakeWordError) in embedding }
            }
        )
        words.run()
        #expect(HeapTrial { words.run() }.isQuiet(seconds: 30))
    }

    @Test(arguments: [
        "plain.tflite", "plain.onnx", "verified.tflite", "verified.onnx", "assorted.tflite", "assorted.onnx",
        "recurrent.onnx",
        "convolved.onnx", "integers.onnx",
    ])
    func `a head that is cut or damaged is refused or runs`(file: String) throws {
        let bytes = try Fixture.bytes(file)
        for count in stride(from: 0, to: bytes.count - 32, by: 97) {
            #expect(refusal(Array(bytes.prefix(count))) != nil, "\(count) bytes")
        }
        var random = SplitMix(seed: 48)
        var (refused, ran) = (0, 0)
        let embedding = [Float](repeating: 1, count: SpeechEmbedding.count)
        for _ in 0..<600 {
            var damaged = bytes
            for _ in 0..<4 {
                damaged[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            guard let network = try? HeadNetwork(bytes: damaged) else {
                refused += 1
                continue
            }
            ran += 1
            let stream = HeadStream(network, silence: embedding)
            #expect((0...1).contains(Self.add(embedding, to: stream)))
        }
        #expect(refused > 10 && ran > 10)
    }

    @Test func `what is no head is refused in one line`() throws {
        #expect(refusal([]) == .damaged)
        #expect(refusal(Array("RIFF0000WAVE".utf8)) == .damaged)
        #expect(refusal([UInt8](repeating: 0, count: 13 << 20)) == .size)
        let micro = try #require(refusal(Fixture.model("alexa")))
        #expect(micro == .unsupported && micro.message.contains("its input does not hold floats of 32 bits"))
        let embedding = try #require(refusal(Fixture.embeddingModel()))
        #expect(embedding == .unsupported && embedding.message.contains("[1, 76, 32, 1], not [1, embeddings, 96]"))
    }

    @Test func `an operator that is not supported is named`() throws {
        var onnx = try Fixture.bytes("plain.onnx")
        let place = try #require(onnx.indices.first { onnx[$0...].starts(with: "Sigmoid".utf8) })
        onnx.replaceSubrange(place..<place + 7, with: "Sigmaid".utf8)
        #expect(
            refusal(onnx)?.message.contains("the operator “Sigmaid” is not supported; use a head of dense layers")
                == true
        )
        for (number, message) in [
            (34 as UInt8, "the operator PAD (number 34) is not supported"),
            (114, "the head is quantised; export it without quantisation"),
        ] {
            var tflite = try Fixture.bytes("plain.tflite")
            let buffer = FlatBuffer(bytes: tflite)
            for table in try buffer.tables(buffer.root(), field: 1) {
                for field in [0, 3] {
                    if let code = try buffer.place(table, field: field), tflite[code] == 14 { tflite[code] = number }
                }
            }
            #expect(refusal(tflite)?.message.contains(message) == true)
        }
    }

    @Test(arguments: [
        ("hey_jarvis_v0.1.tflite", "hey jarvis"), ("a/b/Hey-House.onnx", "hey house"), ("v2.onnx", "v2"),
        ("hey_v.onnx", "hey v"), ("okay_nabu_v1.tflite", "okay nabu"),
    ])
    func `a head without a manifest is named by its file`(path: String, name: String) throws {
        let manifest = try WakeWordManifest(head: path)
        #expect(manifest.phrase == name && manifest.cutoff == 0.5 && manifest.windowSteps == 1)
        #expect(try WakeWordManifest(json: Array(manifest.json.utf8)) == manifest)
    }

    @Test(arguments: [
        (#""threshold": 1.5"#, "key openWakeWord.threshold is 1.5, not from 0 to 1"),
        (#""trigger_level": 0"#, "key openWakeWord.trigger_level is 0, not from 1 to 255"),
    ])
    func `a manifest of a head is checked`(part: String, message: String) {
        let json = #"{"type": "openWakeWord", "wake_word": "A", "model": "a.onnx", "openWakeWord": {\#(part)}}"#
        do throws(WakeWordError) {
            _ = try WakeWordManifest(json: Array(json.utf8))
            Issue.record("accepted")
        } catch {
            #expect(error.message.contains(message))
        }
    }

    @Test func `a head without the speech embedding is refused`() throws {
        do throws(WakeWordError) {
            _ = try WakeWord(path: "\(Fixture.folder)/plain.onnx")
            Issue.record("accepted")
        } catch {
            #expect(error.message.contains("plain.onnx: a head needs the speech embedding, which is missing"))
        }
    }
}
