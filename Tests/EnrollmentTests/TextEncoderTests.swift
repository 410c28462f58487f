import Foundation
import Inference
import TestSupport
import Testing

@testable import Enrollment

/// What the text encoder says of names, and which words use it.
struct TextEncoderTests {
    @Test(arguments: [
        ("Ab z", [1, 2, 27, 26]), ("smart_mirror-", [19, 13, 1, 18, 20, 27, 13, 9, 18, 18, 15, 18]),
        ("o'clock", [15, 3, 12, 15, 3, 11]),
    ])
    func `letters are numbers, and what separates words is one`(name: String, symbols: [Int]) {
        #expect(TextEncoder.symbols(of: name) == symbols)
    }

    @Test(arguments: ["word1", "Käse", "水", "", "_", "a/b"]) func `other names have no text`(name: String) {
        #expect(TextEncoder.symbols(of: name) == nil)
    }

    @Test func `a long name without spaces may be two words`() {
        #expect(TextEncoder.twoWords("OnWord's") == ["onw ords", "onwo rds"])
        #expect(TextEncoder.twoWords("words").isEmpty && TextEncoder.twoWords("on word").isEmpty)
        #expect(TextEncoder.twoWords("word77").isEmpty)
    }

    private static func tensors(_ entries: [(name: String, shape: [Int], value: (Int) -> Float)]) throws -> SafeTensors
    {
        var file = TensorFile()
        for entry in entries { file.add(entry.name, entry.shape, (0..<entry.shape.reduce(1, *)).map(entry.value)) }
        return try SafeTensors(bytes: file.bytes, file: "f")
    }

    /// Three channels and two dimensions. The weights are waves; `TextEncoder` of Training/embedding/text.py with the same weights gave the
    /// expected numbers.
    private static func network() throws -> SafeTensors {
        func wave(_ phase: Float, _ scale: Float) -> (Int) -> Float { { scale * sin(0.7 * Float($0) + phase) } }
        var entries: [(name: String, shape: [Int], value: (Int) -> Float)] = [
            ("text.letter.weight", [28, 3], wave(0, 1)), ("text.begin.weight", [24, 3], wave(1, 0.5)),
            ("text.end.weight", [24, 3], wave(2, 0.5)),
        ]
        for (number, name) in ["first", "second", "third"].enumerated() {
            entries.append(("text.\(name).weight", [5, 3, 3], wave(Float(3 + number), 0.4)))
            entries.append(("text.\(name).bias", [3], wave(Float(6 + number), 0.1)))
        }
        entries += [("text.out.weight", [2, 6], wave(9, 1)), ("text.out.bias", [2], wave(10, 0.3))]
        return try tensors(entries)
    }

    @Test(arguments: [("word", [-0.96405, 0.26571]), ("a b", [-0.99207, 0.12568])] as [(String, [Float])])
    func `a name's vector is what the training computes`(name: String, expected: [Float]) throws {
        let encoder = try #require(try TextEncoder(try Self.network(), dimensions: 2))
        for (value, wanted) in zip(encoder.vector(of: name), expected) { #expect(abs(value - wanted) < 1e-4) }
        // What is longer than the network reads is left out.
        let long = String(repeating: "abc", count: 8)
        #expect(encoder.vector(of: long + "d") == encoder.vector(of: long))
    }

    @Test func `a network of another embedding, or a part of one, is refused`() throws {
        let network = try Self.network()
        #expect(throws: ModelError.self) { try TextEncoder(network, dimensions: 3) }
        let letters = try Self.tensors([("text.letter.weight", [28, 3], { _ in 0 })])
        #expect(throws: ModelError.self) { try TextEncoder(letters, dimensions: 2) }
        let none = try Self.tensors([("text.letter.weight", [28, 0], { _ in 0 })])
        #expect(throws: ModelError.self) { try TextEncoder(none, dimensions: 2) }
        let other = try Self.tensors([("talk.hours", [1], { _ in 0 })])
        #expect(try TextEncoder(other, dimensions: 2) == nil)
    }

    @Test func `a word's text is used where its takes sound as it is spelled`() throws {
        let model = try RecordedTakes.model()
        let negatives = try NegativeSet(folder: RecordedTakes.folder, model: model)
        let takes = try RecordedTakes.variants("Rear_Center", 3)
        func calibrated(_ name: String) throws -> WordStore.Word {
            var word = try RecordedTakes.word(name, takes)
            _ = word.calibrate(among: [], negatives)
            return word
        }
        let (spelled, other, unspelled) = (
            try calibrated("rear center"), try calibrated("potato"), try calibrated("word 7")
        )
        #expect(spelled.text.count == model.embeddingCount && other.text.isEmpty && unspelled.text.isEmpty)
        #expect(other.prototype == unspelled.prototype)
        // Read as two words.
        #expect(try !calibrated("rearcenter").text.isEmpty)
        // The template at the end moves to the text; the beginning has none.
        let (with, without) = (spelled.prototype, other.prototype)
        #expect(dot(with[0], spelled.text) > dot(without[0], spelled.text) + 0.1)
        #expect(zip(with[1], without[1]).allSatisfy { abs($0 - $1) < 0.2 })
        // The model's own words learned from recordings.
        var stop = try RecordedTakes.word("stop", takes)
        _ = stop.calibrate(among: [], negatives)
        #expect(stop.text.isEmpty)
    }
}
