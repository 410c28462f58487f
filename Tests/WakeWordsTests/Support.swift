import Foundation
import TestSupport

@testable import WakeWords

/// What another program computed; see `Fixtures/make-fixtures`.
enum Fixture {
    static let folder = Checkout.path + "/Tests/WakeWordsTests/Fixtures"
    static let models = Checkout.path + "/Models/wake-words"
    /// The shipped models.
    static let names = ["alexa", "hey_jarvis", "hey_mycroft", "okay_nabu"]

    static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)")))
    }

    static func model(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: "\(models)/\(name).tflite")))
    }

    static func embeddingModel() throws -> [UInt8] {
        Array(
            try Data(
                contentsOf: URL(fileURLWithPath: Checkout.path + "/Models/speech-embedding/embedding_model.tflite")
            )
        )
    }

    static func speechEmbedding() throws -> SpeechEmbedding { try SpeechEmbedding(bytes: embeddingModel()) }

    /// Floats of a fixture.
    static func floats(_ name: String) throws -> [Float] {
        let bytes = try bytes(name)
        return stride(from: 0, to: bytes.count, by: 4).map { place in
            Float(bitPattern: (0..<4).reduce(0) { $0 | UInt32(bytes[place + $1]) << (8 * UInt32($1)) })
        }
    }

    /// Embeddings, `[hops][numbers]`.
    static func embeddings(_ name: String) throws -> [[Float]] {
        let numbers = try floats(name + ".embedding")
        return stride(from: 0, to: numbers.count, by: SpeechEmbedding.count).map {
            Array(numbers[$0..<$0 + SpeechEmbedding.count])
        }
    }

    /// The audio of a fixture: `synthesised`, or `voice`, every third sample of two recordings at 48 kHz.
    static func audio(_ name: String) throws -> [Int16] {
        if name == "synthesised" { return synthesised() }
        let voice = try ["Front_Left", "Side_Right"].flatMap { try Voices.samples($0) }
        return stride(from: 0, to: voice.count, by: 3).map { Int16(voice[$0] * 32768) }
    }

    /// Features, `[hops][bands]`.
    static func features(_ name: String) throws -> [[UInt16]] {
        let bytes = try bytes(name + ".features")
        let numbers = stride(from: 0, to: bytes.count, by: 2).map { UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8 }
        return stride(from: 0, to: numbers.count, by: MicroFrontEnd.bands).map {
            Array(numbers[$0..<$0 + MicroFrontEnd.bands])
        }
    }

    /// Noise, saw teeth, bursts, clipping, silence and constants, 250 ms each, as `make-fixtures` makes them.
    static func synthesised() -> [Int16] {
        var (state, phase): (UInt32, Int) = (1, 0)
        return (0..<80000).map { index in
            let part = index / 4000
            let (kind, level) = (part % 5, part / 5 + 1)
            state = state &* 1_664_525 &+ 1_013_904_223
            let noise = Int(state >> 16) - 32768
            phase = (phase + 300 + 97 * part + index % 4000 / 4) & 0xFFFF
            let saw = phase - 32768
            switch kind {
            case 0: return Int16(noise >> (3 * level))
            case 1: return Int16(saw >> (2 * level))
            case 2: return Int16(index % 1000 < 500 ? saw : noise >> 10)
            case 3: return Int16(clamping: 2 * level * saw)
            default: return Int16([0, -32768, 1, noise][level - 1])
            }
        }
    }
}
