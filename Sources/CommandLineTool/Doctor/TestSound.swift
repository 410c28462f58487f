import Core
import Diagnostics
import Enrollment
private import Glibc

/// The sound of `doctor --echo`: noise whose level rises and falls, so that its delay can be told.
enum TestSound {
    /// Plays it to its end. Returns why it was not heard; nil if it was.
    static func play() -> String? {
        guard let player = TakePlayer() else { return "aplay was not found" }
        do throws(Failure) {
            try player.play(pcm: samples)
            return nil
        } catch {
            return error.description
        }
    }

    /// At 16 kHz, 20 dB below full scale.
    private static var samples: [Int16] {
        var state: UInt64 = 49
        var last: Float = 0
        return (0..<EchoCheck.seconds * Utterance.sampleRate).map { index in
            // The multiplier of Knuth's MMIX; the upper bits are the random ones.
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let noise = Float(Int32(truncatingIfNeeded: state >> 32)) / Float(Int32.max)
            last = 0.7 * last + 0.3 * noise
            return Int16(last * 11_000 * (1 + 0.8 * sinf(Float(index) / 3000)) / 1.8)
        }
    }
}
