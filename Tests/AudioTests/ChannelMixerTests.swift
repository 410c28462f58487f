import TestSupport
import Testing

@testable import Audio

struct ChannelMixerTests {
    /// A voice, independent noises, and the time in seconds at 16 kHz.
    private struct Moment {
        let voice: Float
        let noise: [Float]
        let time: Double
    }

    /// 14 s, made once: this is most of the work.
    private static let moments = {
        var random = SplitMix(seed: 3)
        return (0..<14 * 16_000).map { index in
            let noise = (0..<9).map { _ in Float.random(in: -0.2...0.2, using: &random) }
            return Moment(voice: noise[8], noise: noise, time: Double(index) / 16_000)
        }
    }()

    /// What a mixer makes of frames that a function gives, in parts of a size; the frames, and their plain mean.
    private struct Trial {
        var mono: [Float] = []
        var voice: [Float] = []
        var mean: [Float] = []
        var faults = ChannelFaults()

        init(_ mix: ChannelMix = .mix, seconds: Int = 4, part: Int = 2048, _ frame: (Moment) -> [Float]) {
            self.init(mix, part: part, ChannelMixerTests.moments.prefix(seconds * 16_000).map(frame))
        }

        init(_ mix: ChannelMix = .mix, part: Int, _ frames: [[Float]]) {
            voice = ChannelMixerTests.moments.prefix(frames.count).map(\.voice)
            let count = frames.first?.count ?? 1
            let scale = 1 / Float(count)
            mean = frames.map { $0.reduce(0, +) * scale }
            var mixer = ChannelMixer(mix, channels: count)
            for start in stride(from: 0, to: frames.count, by: part) {
                let some = frames[start..<min(start + part, frames.count)]
                var mono = [Float](repeating: 9, count: some.count)
                var room = mono.mutableSpan
                mixer.mix(Array(some.joined()).span, into: &room)
                self.mono += mono
            }
            faults = mixer.faults
        }

        /// The level of a part of the mix, from one time to another, over that of the voice.
        func gain(_ from: Double, _ to: Double) -> Float {
            let range = Int(from * 16_000)..<Int(to * 16_000)
            return Float(Signals.rms(mono[range]) / Signals.rms(voice[range]))
        }
    }

    @Test func `channels that are opposite are turned before anything of them is mixed`() {
        let whole = Trial { [$0.voice, -$0.voice] }
        #expect(whole.faults == ChannelFaults(turned: [1], dead: []) && whole.mono == whole.voice)
        // In small parts, the first ones with sound pass before.
        for part in [160, 256, 480] {
            let live = Trial(part: part) { [$0.voice, -$0.voice] }
            #expect(live.faults.turned == [1])
            #expect(live.gain(0.15, 4) > 0.99, "parts of \(part)")
        }
    }

    @Test func `faulty channels are corrected, and others left as they are`() {
        // Name, frames, channels that are turned and dead at the end, and the gain of the voice there; nil where it is the plain mean.
        let table: [(String, (Moment) -> [Float], [Int], [Int], Float?)] = [
            ("not equally loud", { [$0.voice, -0.7 * $0.voice] }, [1], [], 0.85),
            ("with noise of their own", { [$0.voice + $0.noise[0] / 4, -$0.voice + $0.noise[1] / 4] }, [1], [], 1),
            ("with an offset", { [$0.voice + 0.3, 0.3 - $0.voice] }, [1], [], 1),
            ("two of four", { [$0.voice, $0.voice, -$0.voice, -$0.voice] }, [2, 3], [], 1),
            ("one of two is dead", { [$0.voice, $0.noise[0] / 100] }, [], [1], 1),
            (
                "six, one dead, one inverted",
                { m in (0..<6).map { (m.voice + m.noise[$0] / 4) * ($0 == 5 ? -1 : $0 == 2 ? 0.001 : 1) } }, [5], [2], 1
            ),
            ("only three seconds", { [$0.voice, $0.time < 3 ? -$0.voice : $0.voice] }, [], [], 1),
            ("after ten seconds", { [$0.voice, $0.time < 10 ? $0.voice : -$0.voice] }, [1], [], 1),
            ("uncorrelated noise", { Array($0.noise[0..<8]) }, [], [], nil),
            ("equal", { [$0.voice, $0.voice] }, [], [], nil),
            ("ordinary stereo", { [$0.voice + $0.noise[0], 0.3 * ($0.voice + $0.noise[1])] }, [], [], nil),
            ("wide stereo", { [$0.voice + 1.4 * $0.noise[0], $0.voice - 1.4 * $0.noise[0]] }, [], [], nil),
            ("fainter by 26 dB", { [$0.voice, 0.05 * $0.voice] }, [], [], nil),
            ("silence", { _ in [0, 0, 0] }, [], [], nil),
            ("almost silence", { [$0.voice / 10_000, -$0.voice / 10_000] }, [], [], nil),
            ("not finite", { [$0.voice, $0.time > 1 ? .infinity : -$0.voice / 10_000] }, [], [], nil),
        ]
        for (name, frame, turned, dead, gain) in table {
            // Only what changes on the way needs more than five seconds.
            let seconds = name == "only three seconds" || name == "after ten seconds" ? 14 : 5
            let frames = Self.moments.prefix(seconds * 16_000).map(frame)
            for part in [480, 2048] {
                let trial = Trial(part: part, frames)
                #expect(trial.faults == ChannelFaults(turned: turned, dead: dead), "\(name): \(trial.faults)")
                let last = trial.gain(Double(seconds - 1), Double(seconds))
                if let gain { #expect(abs(last - gain) < 0.05, "\(name): \(last)") }
                if gain == nil { #expect(zip(trial.mono, trial.mean).allSatisfy { $0 == $1 || $1.isNaN }, "\(name)") }
            }
        }
    }

    @Test func `offsets without sound are not opposite, however many frames are measured together`() {
        // 1/16 and 6/16 are exact; the squares of their sums over more than 1,365 frames are not.
        for offsets: [Float] in [[0.0625, 0.375], [0.3, -0.1], [-0.7, 0.7, 0.2]] {
            for part in stride(from: 1_367, through: 2_047, by: 40) {
                var mixer = ChannelMixer(.mix, channels: offsets.count)
                let interleaved = Array([[Float]](repeating: offsets, count: part).joined())
                var mono = [Float](repeating: 0, count: part)
                for _ in 0..<12 {
                    var room = mono.mutableSpan
                    mixer.mix(interleaved.span, into: &room)
                }
                #expect(mixer.faults.isEmpty, "\(offsets), \(part) frames: \(mixer.faults)")
            }
        }
    }

    @Test func `a channel that was dead is heard from its first block with sound`() {
        let trial = Trial(seconds: 12, part: 480) { [$0.time < 10 ? $0.voice : 0, $0.time < 10 ? 0 : $0.voice] }
        #expect(trial.gain(9, 10) > 0.99)
        #expect(trial.gain(10, 10.1) > 0.45)
    }

    @Test func `a single channel is never changed, and channels that are not mixed do not count`() {
        #expect(Trial(.channel(0)) { [$0.voice, -$0.voice] }.faults.isEmpty)
        let pair = ChannelSet([0, 2]).map { ChannelMix.channels($0) } ?? .mix
        let trial = Trial(pair) { [$0.voice, -$0.voice, $0.voice] }
        #expect(trial.faults.isEmpty && trial.mono == trial.voice)
    }

    @Test func `faults are said in plain words`() {
        for (turned, dead, text) in [
            ([], [], nil), ([1], [], "channel 1 is the opposite of the others, and is turned in the mix"),
            ([0, 63], [], "channels 0 and 63 are the opposite of the others, and are turned in the mix"),
            ([], [2], "channel 2 is dead, and is left out of the mix"),
        ] as [([Int], [Int], String?)] {
            let faults = ChannelFaults(turned: turned, dead: dead)
            #expect(faults.text == text && faults.turned == turned && faults.dead == dead)
        }
    }
}
