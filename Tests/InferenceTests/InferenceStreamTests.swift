import Core
import Foundation
import Inference
import TestSupport
import Testing

struct InferenceStreamTests {
    @Test func `a new session is in the state after endless silence`() throws {
        let model = try TestNetwork.medium().model()
        var session = InferenceStream(model)
        let start = session.logits
        let silence = [Float](repeating: 0, count: 16000)
        for _ in 0..<20 {
            session.score(window: silence.span)
            #expect(largestDifference(session.logits, start) < 1e-5)
        }
        session.scoreWhole(window: silence.span)
        #expect(session.logits == start)
    }

    @Test(arguments: [nil, 0.7])
    func `a clip's logits have a shift and a temperature of their own`(temperature: Double?) throws {
        var network = TestNetwork.medium()
        let shifts = [0, 0, 2.0, 1.0, -0.5]
        network.json["clipShifts"] = shifts
        network.json["clipTemperature"] = temperature
        let model = try network.model()
        var clip = InferenceStream(model, prior: .clip)
        var stream = InferenceStream(model)
        var random = SplitMix(seed: 77)
        let audio = random.floats(16000)
        clip.scoreWhole(window: audio.span)
        stream.scoreWhole(window: audio.span)
        #expect(clip.logits == stream.logits)
        let cases = [(clip.posteriors, 1.0, temperature ?? 1.5), (stream.posteriors, 0.0, 1.5)]
        for (session, share, temperature) in cases {
            // Softmax by hand; the outputs 2 and 3 count towards the unknown label.
            let powers = stream.logits.enumerated().map { index, logit in
                exp((Double(logit) - share * shifts[index]) / temperature)
            }
            let total = powers.reduce(0, +)
            let grouped = [powers[0], powers[1], powers[2] + powers[3], powers[4]].map { Float($0 / total) }
            #expect(largestDifference(session, grouped) < 1e-5)
        }
        #expect(clip.posteriors[2] < stream.posteriors[2])
    }

    /// Steady noise, noise with a burst 40 dB above it, and one between; digital silence.
    @Test func `where nothing stands out of a clip, a word must lead babble`() throws {
        var network = TestNetwork.medium()
        let shifts = [0, 0, 2.0, 1.0, -0.5]
        let lead = 6.0
        network.json["clipShifts"] = shifts
        network.json["clipContrast"] = ["from": 6, "to": 10, "over": 3, "lead": lead]
        let model = try network.model()
        var random = SplitMix(seed: 78)
        let noise = random.floats(16000).map { $0 * 0.01 }
        func burst(_ gain: Float) -> [Float] {
            noise.enumerated().map { (6000..<9000).contains($0.offset) ? $0.element * gain : $0.element }
        }
        // A constant hum, louder than the noise.
        let hummed = burst(20).enumerated().map { $0.element + 0.1 * sin(Float($0.offset) * 0.04) }
        var foregrounds: [Double] = []
        for audio in [noise, burst(100), burst(2), [Float](repeating: 0, count: 16000), hummed] {
            var clip = InferenceStream(model, prior: .clip)
            var stream = InferenceStream(model)
            clip.scoreWhole(window: audio.span)
            stream.scoreWhole(window: audio.span)
            let logits = stream.logits.map(Double.init)
            // The labels of the first two outputs are words.
            let lacking = min(lead, max(0, lead - (max(logits[0], logits[1]) - logits[3])))
            try #require(lacking > 0.5, "the lead is long enough to see how far something stands out")
            func posteriors(_ foreground: Double) -> [Float] {
                let powers = logits.enumerated().map { index, logit in
                    exp((logit - shifts[index] - (index < 2 ? lacking * (1 - foreground) : 0)) / 1.5)
                }
                let total = powers.reduce(0, +)
                return [powers[0], powers[1], powers[2] + powers[3], powers[4]].map { Float($0 / total) }
            }
            let nearest = stride(from: 0, through: 1, by: 0.001).min {
                largestDifference(clip.posteriors, posteriors($0)) < largestDifference(clip.posteriors, posteriors($1))
            }
            let foreground = try #require(nearest)
            #expect(largestDifference(clip.posteriors, posteriors(foreground)) < 1e-3)
            foregrounds.append(foreground)
        }
        #expect(foregrounds[0] == 0 && foregrounds[1] == 1 && foregrounds[3] == 0, "\(foregrounds)")
        #expect(foregrounds[4] == 1, "hum stands out of nothing")
        // 20 log₁₀ 2 is 6 dB; less of the burst than of the noise is background.
        #expect(foregrounds[2] > 0.1 && foregrounds[2] < 0.9, "\(foregrounds)")
    }

    @Test func `a word that leads babble by enough keeps its posterior in steady noise`() throws {
        var network = TestNetwork.medium()
        var random = SplitMix(seed: 79)
        let noise = random.floats(16000).map { $0 * 0.01 }
        var plain = InferenceStream(try network.model(), prior: .clip)
        plain.scoreWhole(window: noise.span)
        // The labels of the first two outputs are words.
        let over = try #require((2...4).min { plain.logits[$0] < plain.logits[$1] })
        let lead = Double(max(plain.logits[0], plain.logits[1]) - plain.logits[over])
        try #require(lead > 0.1)
        for (least, isKept) in [(lead - 0.1, true), (lead + 0.5, false)] {
            network.json["clipContrast"] = ["from": 6, "to": 10, "over": over, "lead": least]
            var clip = InferenceStream(try network.model(), prior: .clip)
            clip.scoreWhole(window: noise.span)
            #expect((largestDifference(clip.posteriors, plain.posteriors) < 1e-6) == isKept)
        }
    }

    @Test func `reset returns to the state of a new session`() throws {
        var network = TestNetwork.medium()
        network.voice("b1", 64)
        let model = try network.model()
        var random = SplitMix(seed: 51)
        let audio = random.floats(32000)
        var used = InferenceStream(model, embeds: true)
        for hop in 0...10 { used.score(window: audio.span.extracting((hop * 1600)..<(hop * 1600 + 16000))) }
        let activityOfNoise = used.activity
        used.reset()
        var fresh = InferenceStream(model, embeds: true)
        #expect(used.logits == fresh.logits)
        #expect(used.posteriors == fresh.posteriors)
        #expect(used.embedding == fresh.embedding)
        #expect(used.activity == fresh.activity && used.activity != activityOfNoise)
        // All activity logits of silence are equal.
        #expect(largestDifference(used.activity, [Float](repeating: used.activity[0], count: 4)) < 1e-5)
        let silence = [Float](repeating: 0, count: 16000)
        fresh.scoreWhole(window: silence.span)
        #expect(used.activity == fresh.activity)
        fresh.reset()
        for hop in 0...3 {
            used.score(window: audio.span.extracting((hop * 1600)..<(hop * 1600 + 16000)))
            fresh.score(window: audio.span.extracting((hop * 1600)..<(hop * 1600 + 16000)))
            #expect(used.logits == fresh.logits)
        }
    }

    @Test func `posteriors are the calibrated softmax summed by label`() throws {
        let model = try TestNetwork.medium().model()
        var random = SplitMix(seed: 52)
        let audio = random.floats(16000)
        var session = InferenceStream(model)
        session.scoreWhole(window: audio.span)
        var sums = [Float](repeating: 0, count: 4)
        let highest = session.logits.max() ?? 0
        let powers = session.logits.map { exponential(($0 - highest) / 1.5) }
        let all = powers.reduce(0, +)
        for (power, label) in zip(powers, [0, 1, 2, 2, 3]) { sums[label] += power / all }
        #expect(largestDifference(session.posteriors, sums) < 1e-6)
        let sum = session.posteriors.reduce(0, +)
        #expect(abs(sum - 1) < 1e-6)
        let isFinite = session.isFinite
        #expect(isFinite)
    }

    /// exp(x) = exp(x / 1024)^1024, by the Taylor series.
    private func exponential(_ x: Float) -> Float {
        let small = Double(x) / 1024
        var power = 1 + small + small * small / 2 + small * small * small / 6
        for _ in 0..<10 { power *= power }
        return Float(power)
    }

    @Test(arguments: [Float.nan, .infinity, -.infinity])
    func `samples that are not finite count as silence until they have left the window`(invalid: Float) throws {
        let model = try TestNetwork.medium().model()
        var random = SplitMix(seed: 53)
        var audio = random.floats(48000, -0.1...0.1)
        audio[17000] = invalid
        var session = InferenceStream(model)
        var clean = InferenceStream(model)
        for hop in 0..<20 {
            let window = audio.span.extracting((hop * 1600)..<(hop * 1600 + 16000))
            // The first window is scored whole: before it the stream held silence, not this audio.
            if hop == 0 { session.scoreWhole(window: window) } else { session.score(window: window) }
            clean.scoreWhole(window: window)
            let (isFinite, expected) = (session.isFinite, clean.isFinite)
            #expect(isFinite == expected)
            if isFinite {
                #expect(largestDifference(session.logits, clean.logits) < 1e-5)
            } else {
                #expect(session.posteriors == [0, 0, 0, 1])
            }
        }
        let isFinite = session.isFinite
        #expect(isFinite)
    }

    @Test func `weights that overflow count as silence`() throws {
        var network = TestNetwork()
        network.conv("a", "input", 40, 4, kernel: 79)
        network.dense("b", "a", 4, 4)
        network.dense("logits", "b", 4, 5)
        var file = TensorFile()
        file.add("a.weight", [4, 79, 40], [Float](repeating: 3e38, count: 4 * 79 * 40))
        file.add("a.bias", [4], [1, 1, 1, 1])
        file.add("b.weight", [4, 4], [Float](repeating: 3e38, count: 16))
        file.add("b.bias", [4], [1, 1, 1, 1])
        file.add("logits.weight", [5, 4], [Float](repeating: -3e38, count: 20))
        file.add("logits.bias", [5], [1, 1, 1, 1, 1])
        var session = InferenceStream(try Model(description: network.description, weights: file.bytes))
        let isFinite = session.isFinite
        #expect(!isFinite)
        #expect(session.posteriors == [0, 0, 0, 1])
        let ones = [Float](repeating: 1, count: 16000)
        session.score(window: ones.span)
        #expect(session.posteriors == [0, 0, 0, 1])
    }

    @Test func `a model reports its contents and costs`() throws {
        let model = try TestNetwork.medium().model()
        #expect(model.labels == ["yes", "no", "_unknown_", "_silence_"])
        for mode in DetectionMode.allCases { #expect(model.thresholds[.balanced, mode] == [0.7, 0.8, 0.8, 0.8]) }
        #expect(model.thresholds.sensitivities(mode: .spot) == [.balanced])
        #expect(model.labelOfLogit == [0, 1, 2, 2, 3])
        #expect(model.embeddingCount == 128 && model.activityCount == 0)
        #expect(model.network.parameters == 262_165)
        #expect(model.network.tensors.map(\.columns).prefix(6) == [79, 75, 35, 29, 57, 29])
        #expect(model.multiplyAddsPerWindow > 3_500_000 && model.multiplyAddsPerWindow < 3_600_000)
        #expect(model.multiplyAddsPerHop > 560_000 && model.multiplyAddsPerHop < 580_000)
        #expect(model.streamStateBytes < 32_000)
        #expect(model.identity.count == 16)
        #expect(try model.identity == TestNetwork.medium().model().identity)
        #expect(try model.identity != TestNetwork.medium().model(seed: 2).identity)
    }
}
