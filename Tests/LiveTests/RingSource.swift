import Audio
import Capture
import Foundation
import Inference
import Service
import Spotting
import System
import TestSupport

@testable import Live

/// Blocks from memory through a ring, as a microphone gives them, with what went wrong before each of them.
///
/// Only one thread uses it at a time.
final class RingSource: AudioSource, @unchecked Sendable {
    enum Trouble {
        /// The capture side forgot what came before, as after an overrun.
        case flush
        /// The block is dropped before it is read, and the one after it comes in its place.
        case loss
        /// The block comes so late that it is of no use.
        case delay
    }

    private let ring: BlockRing
    private let audio: [Float]
    private let troubles: [Int: Trouble]
    private let loops: Bool
    private var expected: UInt64 = .max
    /// Blocks played.
    private(set) var count = 0

    /// - Parameters:
    ///   - audio: at 16 kHz.
    ///   - troubles: by the block that they come before, from 0.
    init(_ audio: [Float], troubles: [Int: Trouble] = [:], loops: Bool = false) throws {
        ring = try BlockRing()
        self.audio = audio + [Float](repeating: 0, count: (1600 - audio.count % 1600) % 1600)
        self.troubles = troubles
        self.loops = loops
    }

    var blocks: Int { audio.count / 1600 }

    var hasEnded: Bool { !loops && count >= blocks }

    func next(until time: Int64, _ body: (Span<Float>, Microphone.Block) -> Void) -> Bool {
        guard !hasEnded else { return false }
        let trouble = troubles.isEmpty ? nil : troubles[count]
        if trouble == .flush { ring.flush() }
        if trouble == .loss {
            put(late: false)
            _ = ring.withWindow { _, _ in }
        }
        put(late: trouble == .delay)
        return ring.withWindow { window, block in
            let continues = block.sequence == expected && block.filled > 1
            expected = block.sequence + 1
            body(
                window,
                .init(time: block.time, sequence: block.sequence, continues: continues, filled: block.filled)
            )
        }
    }

    private func put(late: Bool) {
        let start = count % blocks * 1600
        // A span of a property would hold all of the object.
        let audio = audio
        ring.write(audio.span.extracting(start..<start + 1600), time: Clock.now - (late ? 600_000_000 : 0))
        count += 1
    }
}

/// What tests of this room listen to, and with what.
enum Material {
    private static let shared = Result { try load() }

    /// The model that comes with the program.
    static func model() throws -> Model { try shared.get() }

    /// The same, read anew.
    static func load() throws -> Model {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return try Model(folder: root.appendingPathComponent("Models/commands").path)
    }

    static func rules(_ model: Model, phrases: [String] = [], generation: UInt32 = 1) throws -> Rules {
        Rules(
            vocabulary: Vocabulary(model),
            gate: GateSettings(),
            thresholds: Thresholds(labels: model.labels, defaults: model.thresholds),
            phrases: try phrases.map { try Phrase($0, words: model.labels) },
            generation: generation
        )
    }

    /// "Rear left" at 16 kHz, the word ending after about 1.3 s, and quiet up to so many blocks.
    static func left(blocks: Int) throws -> [Float] {
        // Every third sample after a mean over three: the voice lies far enough below 8 kHz.
        let samples = try Voices.samples("Rear_Left")
        var voice: [Float] = []
        for index in stride(from: 0, to: samples.count - 3, by: 3) {
            voice.append((samples[index] + samples[index + 1] + samples[index + 2]) / 3)
        }
        return voice + [Float](repeating: 0, count: blocks * 1600 - voice.count)
    }
}
