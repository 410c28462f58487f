import Audio
import Core
import Foundation
import Inference
import Spotting
import System
import TestSupport
import Testing
import WakeWords

@testable import Daemon

/// The detector thread's loop, run step by step without the thread.
struct DetectorLoopTests {
    /// A loop with its source, queue and record, in a class so that closures can share it.
    private final class Run {
        let source: RingSource
        let queue: DetectionQueue
        let ends: DetectorLoop.Endpoints
        var loop: DetectorLoop

        init(_ source: RingSource, _ settings: DetectorSettings) throws {
            self.source = source
            queue = try DetectionQueue()
            ends = DetectorLoop.Endpoints(source: source, queue: queue, history: AudioHistory())
            loop = DetectorLoop(settings, ends)
        }

        func step() { loop.step(ends, until: Clock.now + AudioFormat.hopDuration) }

        /// Runs to the end of the audio and returns the detections. Calls `before` with the number of blocks played
        /// before each step.
        func hearAll(_ before: (Int) throws -> Void = { _ in }) throws -> [QueuedDetection] {
            while !source.hasEnded {
                try before(source.count)
                step()
            }
            return taken()
        }

        func taken() -> [QueuedDetection] {
            var heard: [QueuedDetection] = []
            while let event = queue.pop() { heard.append(event) }
            return heard
        }
    }

    private static func run(
        _ audio: [Float],
        _ troubles: [Int: RingSource.Trouble] = [:],
        phrases: [String] = []
    ) throws -> Run {
        try Run(RingSource(audio, troubles: troubles), Material.settings(Material.model(), phrases: phrases))
    }

    @Test func `hundreds of hops allocate nothing, detections included`() throws {
        let source = try RingSource(Material.left(blocks: 25), loops: true)
        let run = try Run(source, Material.settings(Material.model(), phrases: ["left left"]))
        var heard = 0
        var hops = 0
        let trial = HeapTrial {
            let before = source.count
            for _ in 0..<300 { run.step() }
            hops = source.count - before
            while run.queue.pop() != nil { heard += 1 }
        }
        #expect(trial.isQuiet(seconds: 30))
        // The word comes every 2.5 s; each time it begins or completes the phrase.
        #expect(hops == 300 && heard >= 24, "\(heard) events")
    }

    @Test func `words of a loudspeaker are marked without an allocation`() throws {
        let left = try Material.left(blocks: 60)
        // Every second time the loudspeaker says it, 80 ms before.
        let played = Array(left[1280..<40_000]) + [Float](repeating: 0, count: left.count - 38_720)
        let audio = Array(left[..<48_000] + left[..<48_000])
        var settings = try Material.settings(Material.model())
        settings.marksOwnSpeech = true
        let run = try Run(RingSource(audio, played: played, loops: true), settings)
        let trial = HeapTrial { for _ in 0..<120 { run.step() } }
        #expect(trial.isQuiet(seconds: 30))
        _ = run.taken()
        for _ in 0..<120 { run.step() }
        #expect(run.taken().map(\.detection.isOwnSpeech) == [true, false, true, false])
    }

    @Test func `looks of confirming networks allocate nothing, and are counted`() throws {
        let source = try RingSource(Material.left(blocks: 25), loops: true)
        let folder = try TestFolder()
        var settings = try Material.settings(Model(folder: ModelCopy.confirming(in: folder)))
        settings.thresholds.setAll(0.3)
        // At every hop while the word is the likeliest.
        settings.gate.longestConfirmation = .max
        let run = try Run(source, settings)
        #expect(run.ends.record.status.looks == 0)
        let trial = HeapTrial {
            for _ in 0..<100 { run.step() }
            while run.queue.pop() != nil {}
        }
        #expect(trial.isQuiet(seconds: 30))
        let status = run.ends.record.status
        #expect(status.looks >= 20 && status.refusedLooks > 0 && status.refusedLooks <= status.looks, "\(status)")
        #expect(status.longestLook > .zero && status.longestLook <= status.longestHop)
    }

    @Test func `second looks at taught words allocate nothing`() throws {
        let model = try Model(folder: Checkout.model, confirms: false)
        let audio = try Material.left(blocks: 25)
        let frames = (0..<8).map { row in (0..<SpeechEmbedding.count).map { Float(($0 * 7 + row) % 29) - 14 } }
        func word(_ template: [Float]) throws -> TaughtWord {
            try #require(
                TaughtWord(
                    name: "mine",
                    threshold: 0.8,
                    templates: [template],
                    templateSpacing: 0,
                    boundary: 0.5,
                    speech: SpeechTakes([frames, frames], proposal: 0.2, boundary: 0.5)
                )
            )
        }
        // What the word is known by: the embedding of the hop at which it is likeliest.
        var scorer = HopScorer(Vocabulary(model, taught: [try word([1])]))
        let left = try #require(model.labels.firstIndex(of: "left"))
        var best: (posterior: Float, embedding: [Float]) = (0, [])
        for end in stride(from: 16_000, through: audio.count, by: 1600) {
            scorer.score(window: audio.span.extracting(end - 16_000..<end))
            let posterior = scorer.scores.posteriors[left]
            if posterior > best.posterior { best = (posterior, scorer.embedding) }
        }
        let embedding = try SpeechEmbedding(path: Checkout.path + "/Models/speech-embedding/embedding_model.tflite")
        var settings = try Material.settings(model)
        settings.vocabulary = Vocabulary(model, taught: [try word(best.embedding)], speech: embedding)
        settings.thresholds = settings.vocabulary.thresholds(mode: .spot)
        // The model's words never fire.
        settings.thresholds.setAll(2)
        try settings.thresholds.set("mine", to: 0.8)
        let run = try Run(RingSource(audio, loops: true), settings)
        let trial = HeapTrial {
            for _ in 0..<50 { run.step() }
            while run.queue.pop() != nil {}
        }
        #expect(trial.isQuiet(seconds: 30))
        let status = run.ends.record.status
        // The frames are of no speech.
        #expect(status.looks >= 4 && status.refusedLooks == status.looks, "\(status)")
    }

    @Test func `wake words with models of their own allocate nothing, and are reported`() throws {
        let source = try RingSource(Material.left(blocks: 25), loops: true)
        let model = try Material.model()
        let words = try ["okay_nabu", "alexa"].map {
            try WakeWord(path: Checkout.path + "/Models/wake-words/\($0).json")
        }
        var settings = try Material.settings(model)
        settings.vocabulary = Vocabulary(model, wakeWords: words)
        var choices = ThresholdChoices()
        // What the voice reaches that says other words.
        choices.words["okay nabu"] = .confidence(0.004)
        settings.thresholds = try choices.thresholds(of: settings.vocabulary, mode: settings.gate.mode)
        let run = try Run(source, settings)
        var heard: [String: Int] = [:]
        let trial = HeapTrial { for _ in 0..<100 { run.step() } }
        #expect(trial.isQuiet(seconds: 30))
        // The level that the live page shows.
        let label = try #require(settings.vocabulary.labels.firstIndex(of: "okay nabu"))
        var level: Float = 0
        for _ in 0..<50 {
            run.step()
            level = max(level, run.ends.record.status.scores[label])
        }
        #expect(level > 0)
        while let event = run.queue.pop() { heard[settings.name(of: event.detection), default: 0] += 1 }
        #expect(heard["left", default: 0] > 0, "\(heard)")
    }

    @Test func `near misses allocate nothing`() throws {
        let source = try RingSource(Material.left(blocks: 40), loops: true)
        var settings = try Material.settings(Material.model())
        // Just above what the voice reaches: each time it is nearly found.
        settings.thresholds.setAll(0.9999)
        settings.gate.nearMissMargin = 0.5
        let run = try Run(source, settings)
        var (near, others) = (0, 0)
        let trial = HeapTrial {
            for _ in 0..<400 { run.step() }
            while let event = run.queue.pop() {
                if event.detection.kind == .nearMiss { near += 1 } else { others += 1 }
            }
        }
        #expect(trial.isQuiet(seconds: 30))
        #expect(near >= 9 && others == 0, "\(near) \(others)")
    }

    @Test func `sessions that begin, end and time out allocate nothing`() throws {
        let source = try RingSource(Material.left(blocks: 25), loops: true)
        let model = try Material.model()
        var settings = try Material.settings(model)
        func label(_ word: String) throws -> Int { try #require(model.labels.firstIndex(of: word)) }
        settings.sessions = [
            WakeSession(
                name: "left",
                wake: try label("left"),
                words: [try label("right"), try label("stop")],
                thresholds: [0.5, nil],
                seconds: 0.5,
                endsWithWord: true,
                mode: .spot
            )
        ]
        let run = try Run(source, settings)
        var (words, starts, timeouts) = (0, 0, 0)
        let trial = HeapTrial {
            for _ in 0..<300 { run.step() }
            while let event = run.queue.pop() {
                switch event.detection.kind {
                case .word: words += 1
                case .sessionStart: starts += 1
                case .sessionTimeout: timeouts += 1
                default: break
                }
            }
        }
        #expect(trial.isQuiet(seconds: 30))
        #expect(words >= 12 && starts == words && timeouts >= words - 1, "\(words) \(starts) \(timeouts)")
    }

    @Test func `new settings without the session report its end under the old settings`() throws {
        let model = try Material.model()
        var settings = try Material.settings(model)
        settings.sessions = [
            WakeSession(
                name: "left",
                wake: try #require(model.labels.firstIndex(of: "left")),
                words: [0],
                thresholds: [0.5],
                seconds: 60,
                endsWithWord: true,
                mode: .spot
            )
        ]
        let run = try Run(RingSource(Material.left(blocks: 30)), settings)
        let heard = try run.hearAll { block in
            if block == 25 { run.ends.settings.post(try Material.settings(model, generation: 2)) }
        }
        #expect(heard.map(\.detection.kind) == [.word, .sessionStart, .sessionEnd])
        #expect(heard.map(\.generation) == [1, 1, 1] && heard.map(\.sequence) == [1, 2, 3])
    }

    @Test func `gaps, losses and late blocks allocate nothing`() throws {
        let troubles: [Int: RingSource.Trouble] = [3: .flush, 9: .loss, 14: .delay, 17: .flush]
        let sources = try (0..<400).map { _ in try RingSource(Material.left(blocks: 25), troubles: troubles) }
        let settings = try Material.settings(Material.model())
        let run = try sources.map { try Run($0, settings) }
        var next = 0
        let trial = HeapTrial {
            for _ in 0..<23 { run[next % run.count].step() }
            next += 1
        }
        #expect(trial.isQuiet(seconds: 30))
    }

    @Test func `a word is detected once, with the time of its decision`() throws {
        let run = try Self.run(Material.left(blocks: 25))
        let began = Clock.now
        let heard = try run.hearAll()
        #expect(heard.map(\.detection.kind) == [.word] && heard.first?.generation == 1)
        #expect(heard.allSatisfy { $0.decided >= began && $0.decided <= Clock.now })
        let status = run.ends.record.status
        // A hop may be late: that is the machine's business.
        #expect(status.hops == 25 && status.droppedBlocks == 0 && status.gaps == 0)
        #expect(status.longestHop > .zero && status.busy >= status.longestHop)
        // The newest scores are those of the silence at the end.
        let model = try Material.model()
        #expect(status.scores.count == model.labels.count && status.scores.max() == status.scores[model.silenceIndex])
        #expect(run.ends.history.count == 25 * 1600)
    }

    @Test func `late blocks are left out and counted, and what follows is heard`() throws {
        // All blocks of the first word are late; those of the second are on time.
        let word = try Material.left(blocks: 25)
        let late = Dictionary(uniqueKeysWithValues: (8..<16).map { ($0, RingSource.Trouble.delay) })
        let run = try Self.run(word + word, late)
        let heard = try run.hearAll()
        #expect(heard.count == 1)
        let status = run.ends.record.status
        #expect(status.droppedBlocks == 8 && status.skippedBlocks == 8 && status.gaps == 1 && status.hops == 42)
        // Time counts only the 42 scored blocks; the second word is decided near block 38 of all 50.
        #expect(heard.allSatisfy { $0.detection.time > 2.5 && $0.detection.time < 3.6 })
    }

    @Test func `nothing is left out of a source that waits, however late it is`() throws {
        let late = Dictionary(uniqueKeysWithValues: (0..<25).map { ($0, RingSource.Trouble.delay) })
        let source = try RingSource(Material.left(blocks: 25), troubles: late, waits: true)
        let run = try Run(source, Material.settings(Material.model()))
        #expect(try run.hearAll().map(\.detection.kind) == [.word])
        let status = run.ends.record.status
        #expect(status.hops == 25 && status.droppedBlocks == 0 && status.skippedBlocks == 0 && status.gaps == 0)
    }

    @Test func `blocks that found no room are counted as missing`() throws {
        let run = try Self.run(Material.left(blocks: 30), [4: .loss, 20: .loss])
        _ = try run.hearAll()
        let status = run.ends.record.status
        #expect(status.droppedBlocks == 2 && status.skippedBlocks == 0 && status.gaps == 2 && status.hops == 28)
    }

    @Test func `stale blocks, which a gap made, do not count as blocks for which the detector was late`() throws {
        let ring = try BlockRing(minimumCapacity: 1)
        let block = [Float](repeating: 0, count: AudioFormat.hopSamples)
        var missed: [UInt64] = []
        func read() { while ring.withWindow({ missed.append($1.missed) }) {} }
        func write(_ count: Int) { for _ in 0..<count { ring.write(block.span, time: Clock.now) } }
        write(2)
        read()
        write(3)
        ring.flush()
        write(1)
        read()
        // Two are stale, and two find no room.
        write(2)
        ring.flush()
        write(ring.capacity + 2 - 2)
        write(2)
        read()
        #expect(missed.reduce(0, +) == ring.counts.dropped)
        #expect(missed.prefix(3) == [0, 0, 0])
        let counts = ring.counts
        #expect(counts.offered == counts.read + counts.dropped + counts.flushed && counts.flushed >= 3)
    }

    @Test func `no word from before a gap fires after it`() throws {
        let audio = try Material.left(blocks: 25)
        let whole = try Self.run(audio)
        var firedAt = 0
        _ = try whole.hearAll { block in
            if whole.queue.pop() != nil { firedAt = block }
        }
        #expect(firedAt > 10)
        // Wherever the gap is, the word fires before it or not at all: the rest of the word does not fire.
        for gap in firedAt - 4..<25 {
            let run = try Self.run(audio, [gap: .flush])
            #expect(try run.hearAll().count == (gap >= firedAt ? 1 : 0), "a gap before block \(gap)")
            #expect(run.ends.record.status.gaps == 1 && run.ends.record.status.hops == 25)
        }
    }

    @Test(arguments: [false, true])
    func `new settings lose no audio, and nothing fires twice, with another model too`(_ isOther: Bool) throws {
        let audio = try Material.left(blocks: 30)
        let model = try Material.model()
        // To the detector, the same network loaded again is another model.
        let other = isOther ? try Material.load() : model
        for change in 0..<30 {
            let run = try Self.run(audio)
            let heard = try run.hearAll { block in
                if block == change { run.ends.settings.post(try Material.settings(other, generation: 2)) }
            }
            #expect(heard.count == 1, "changed before block \(change)")
            #expect(run.ends.record.status.hops == 30 && run.ends.record.status.gaps == 0)
            let old = heard.first.map { Int(($0.detection.time * 10).rounded()) <= change }
            #expect(heard.first?.generation == (old == true ? 1 : 2))
            // Time continues across a change of the model.
            #expect(heard.allSatisfy { $0.detection.time > 1 && $0.detection.time < 2 })
        }
    }

    @Test func `hops that are missed after a change count as its cost`() throws {
        let troubles = Dictionary(uniqueKeysWithValues: [10, 11, 12, 20].map { ($0, RingSource.Trouble.delay) })
        let run = try Self.run(Material.left(blocks: 30), troubles)
        _ = try run.hearAll { block in
            if block == 10 { run.ends.settings.post(try Material.settings(Material.model(), generation: 2)) }
        }
        let status = run.ends.record.status
        #expect(status.changes == 1 && status.hopsMissedByChanges == 3, "the late block 20 has another reason")
        #expect(status.droppedBlocks == 4)
    }

    @Test func `thresholds apply from the next hop on`() throws {
        let model = try Material.model()
        let run = try Self.run(Material.left(blocks: 25) + Material.left(blocks: 25))
        var strict = try Material.settings(model, generation: 2)
        strict.thresholds.setAll(0.9999)
        let heard = try run.hearAll { block in
            if block == 25 { run.ends.settings.post(strict) }
        }
        #expect(heard.map(\.generation) == [1])
    }
}
