import Capture
import Core
import Glibc
import Input
import System
import TestSupport
import Testing

struct MicrophoneSourceTests {
    /// Who ends because the device is refused has printed the reason by then, however the threads are scheduled.
    @Test func `a device without a clock is refused once the message says so`() throws {
        let source = try MicrophoneSource(InputSelection(device: .named("plug:null")))
        try source.start()
        defer { source.stop(until: .distantFuture) }
        #expect(comesTrue(within: 20) { source.microphone.status.isTooFast })
        #expect(!source.isRefused)
        var lines: [String] = []
        #expect(
            comesTrue(within: 20) {
                lines += source.messages(at: Clock.now).filter { $0.level >= .warning }.map(\.text)
                return source.isRefused
            }
        )
        #expect(lines.count == 1 && lines[0].contains("much faster than the clock"), "\(lines)")
    }
}
