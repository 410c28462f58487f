import Audio
import Capture
import Core
import Foundation
import Inference
import Input
import Spotting
import System
import TestSupport

@testable import Daemon

/// An audio source that plays blocks from memory through a ring, as a microphone does, with faults before given blocks.
///
/// Only one thread uses it at a time.
final class RingSource: AudioSource, @unchecked Sendable {
    enum Trouble {
        /// The capture side flushes the ring, as after an overrun.
        case flush
        /// The ring is full and drops this block; the blocks after it are read.
        case loss
        /// The block comes so late that the detector leaves it out.
        case delay
    }

    private let ring: BlockRing
    private let audio: [Float]
    private let troubles: [Int: Trouble]
    private let loops: Bool
    let waits: Bool
    /// What a loudspeaker plays meanwhile; nil where there is no reference.
    private let played: [Float]?
    /// Blocks played.
    private(set) var count = 0

    /// - Parameters:
    ///   - audio: at 16 kHz.
    ///   - troubles: by the number of the block, from 0, that they precede.
    init(
        _ audio: [Float],
        played: [Float]? = nil,
        troubles: [Int: Trouble] = [:],
        loops: Bool = false,
        waits: Bool = false
    ) throws {
        self.waits = waits
        ring = try BlockRing(minimumCapacity: 1, keepsPlayed: played != nil)
        self.played = played
        self.audio = audio + [Float](repeating: 0, count: (1600 - audio.count % 1600) % 1600)
        self.troubles = troubles
        self.loops = loops
    }

    var lost: LostAudio { ring.lost }

    func copyPlayed(to samples: inout [Float]) -> Bool { ring.copyPlayed(to: &samples) }

    var blocks: Int { audio.count / 1600 }

    var hasEnded: Bool { !loops && count >= blocks && ring.counts.unread == 0 }

    func next(until time: Instant, _ body: (Span<Float>, AudioBlock) -> Void) -> Bool {
        guard !hasEnded else { return false }
        if ring.counts.unread > 0 { return ring.withWindow(body) }
        let trouble = troubles.isEmpty ? nil : troubles[count]
        if trouble == .flush { ring.flush() }
        if trouble == .loss {
            for _ in 0..<ring.capacity { put(late: false) }
        }
        put(late: trouble == .delay)
        return ring.withWindow(body)
    }

    private func put(late: Bool) {
        let start = count % blocks * 1600
        // A span of a property would borrow all of the object.
        let (audio, played) = (audio, played ?? [])
        ring.write(
            audio.span.extracting(start..<start + 1600),
            time: Clock.now - .milliseconds(late ? 600 : 0),
            played: played.span.extracting(played.isEmpty ? 0..<0 : start..<start + 1600)
        )
        count += 1
    }
}

/// Models, audio and settings for the tests of this module.
enum Material {
    private static let shared = Result { try load() }

    /// The model that comes with the program.
    static func model() throws -> Model { try shared.get() }

    /// The same model, loaded again.
    static func load() throws -> Model {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return try Model(folder: root.appendingPathComponent("Models/commands").path)
    }

    static func settings(_ model: Model, phrases: [String] = [], generation: UInt32 = 1) throws -> DetectorSettings {
        let phrases = try phrases.map { try Phrase($0, words: model.labels) }
        var settings = DetectorSettings(Vocabulary(model), phrases: phrases)
        settings.generation = generation
        return settings
    }

    /// "Rear left" at 16 kHz, padded with silence to this number of blocks; the word ends at about 1.3 s.
    static func left(blocks: Int) throws -> [Float] {
        // Decimates 48 kHz by a mean over three samples, which is enough because the voice is far below 8 kHz.
        let samples = try Voices.samples("Rear_Left")
        var voice: [Float] = []
        for index in stride(from: 0, to: samples.count - 3, by: 3) {
            voice.append((samples[index] + samples[index + 1] + samples[index + 2]) / 3)
        }
        return voice + [Float](repeating: 0, count: blocks * 1600 - voice.count)
    }
}
