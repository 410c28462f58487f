import Core
import Testing

struct InstantTests {
    private let start = Instant(nanoseconds: 5_000_000_000)

    @Test func `instants and durations add up`() {
        #expect(start + .milliseconds(250) == Instant(nanoseconds: 5_250_000_000))
        #expect(start - .seconds(2) == Instant(nanoseconds: 3_000_000_000))
        #expect(start - Instant(nanoseconds: 4_000_000_001) == .nanoseconds(999_999_999))
        #expect(Instant(nanoseconds: 1) - start == .nanoseconds(-4_999_999_999))
        var later = start
        later += .nanoseconds(1)
        #expect(start < later && later - start == .nanoseconds(1))
    }

    @Test func `arithmetic saturates in place of overflowing`() {
        #expect(Instant.distantFuture + .seconds(1) == .distantFuture)
        #expect(Instant(nanoseconds: .min) - .seconds(1) == Instant(nanoseconds: .min))
        #expect(Instant.distantFuture - Instant(nanoseconds: -1) == .nanoseconds(Int64.max))
        #expect(Instant(nanoseconds: .min) - start == .nanoseconds(Int64.min))
        #expect(start + .seconds(1e12) == .distantFuture)
    }

    @Test(
        arguments: [
            (Duration.zero, 0), (.seconds(0.3), 300_000_000), (.seconds(-0.3), -300_000_000), (.microseconds(1), 1_000),
            (.seconds(9_000_000_000), 9_000_000_000_000_000_000), (.seconds(10_000_000_000), Int64.max),
            (.seconds(-10_000_000_000), Int64.min),
        ] as [(Duration, Int64)]
    )
    func `durations in nanoseconds`(_ duration: Duration, _ nanoseconds: Int64) {
        #expect(duration.nanoseconds == nanoseconds)
    }

    @Test func `durations in seconds and milliseconds`() {
        #expect(Duration.milliseconds(1_250).seconds == 1.25 && Duration.microseconds(-1_500).milliseconds == -1.5)
        #expect(AudioFormat.hopDuration.seconds == AudioFormat.hopSeconds)
    }
}

struct AudioFormatTests {
    @Test func `a hop and a window have the lengths that their names say`() {
        #expect(AudioFormat.windowSamples == AudioFormat.windowHops * AudioFormat.hopSamples)
        #expect(Double(AudioFormat.hopSamples) == AudioFormat.hopSeconds * Double(AudioFormat.sampleRate))
    }
}
