import Audio
import Core
import Testing

@testable import Capture
@testable import Input

struct InputReportTests {
    private static func at(_ seconds: Int) -> Instant { Instant(nanoseconds: 0) + .seconds(1_000 + seconds) }

    private static func status(zeroSince: Int? = nil, turned: [Int] = [], dead: [Int] = []) throws -> CaptureStatus {
        var status = try CaptureOutput(ringCapacity: 1).status
        (status.state, status.device) = (.running, "mic")
        status.faults = ChannelFaults(turned: turned, dead: dead)
        status.zeroSince = zeroSince.map(at)
        return status
    }

    @Test func `digital silence is said once when it has lasted, and its end`() throws {
        var report = InputReport()
        #expect(try report.messages(of: Self.status(zeroSince: 0), at: Self.at(14)).isEmpty)
        let lines = try report.messages(of: Self.status(zeroSince: 0), at: Self.at(15))
        #expect(lines.count == 1 && lines.first?.level == .warning)
        #expect(
            lines.first?.text.contains("digital silence since") == true && lines.first?.text.contains("mute") == true
        )
        #expect(try report.messages(of: Self.status(zeroSince: 0), at: Self.at(4_000)).isEmpty)
        let end = try report.messages(of: Self.status(), at: Self.at(4_001))
        #expect(end.map(\.level) == [.notice] && end.first?.text.hasPrefix("mic: sound again after ") == true)
        #expect(try report.messages(of: Self.status(), at: Self.at(4_002)).isEmpty)
    }

    @Test func `a device that is muted or gone is not called silent`() throws {
        var report = InputReport()
        for state in [CaptureMachine.State.muted, .lost, .waiting] {
            var status = try Self.status(zeroSince: 0, turned: [1])
            status.state = state
            #expect(report.messages(of: status, at: Self.at(100)).isEmpty)
        }
    }

    @Test func `faulty channels are said in plain words, at most every ten minutes`() throws {
        var report = InputReport()
        func lines(_ turned: [Int], _ dead: [Int] = [], at seconds: Int) throws -> [String] {
            try report.messages(of: Self.status(turned: turned, dead: dead), at: Self.at(seconds)).map(\.text)
        }
        #expect(
            try lines([1], at: 0) == [
                "mic: channel 1 is the opposite of the others, and is turned in the mix, as if wired the wrong way round; "
                    + "beckon doctor checks each channel of a microphone"
            ]
        )
        #expect(try lines([], at: 10).isEmpty && lines([1], at: 20).isEmpty)
        #expect(try lines([1], at: 601).count == 1)
        let both = try lines([1], [2, 3, 5], at: 602).first
        #expect(both?.contains("channels 2, 3 and 5 are dead, and are left out") == true)
    }

    @Test func `samples that are not what the device declares are said once, and so is audio that cannot be told`()
        throws
    {
        var report = InputReport()
        var status = try Self.status()
        var reader = SampleReader(.integers(bits: 32), rate: 1000, channels: 1, isLive: true)
        var tone = (0..<60_000).map { Float($0 % 2 == 0 ? 4096 : -4096) * 0x1p-31 }
        tone.withUnsafeMutableBufferPointer { reader.pass($0) }
        (status.reading, status.isQuiet) = (reader.reading, reader.isQuiet())
        let lines = report.messages(of: status, at: Self.at(0))
        #expect(
            lines.map(\.level) == [.warning] && lines.first?.text.contains("declared as 32 bits") == true,
            "\(lines)"
        )
        #expect(lines.first?.text.contains("record with S16_LE") == true)
        #expect(report.messages(of: status, at: Self.at(1)).isEmpty)
    }
}
