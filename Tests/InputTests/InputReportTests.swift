import Core
import Testing

@testable import Capture
@testable import Input

struct InputReportTests {
    private static func at(_ seconds: Int) -> Instant { Instant(nanoseconds: 0) + .seconds(1_000 + seconds) }

    private static func status(zeroSince: Int? = nil, cancels: Bool = false) throws -> CaptureStatus {
        var status = try CaptureOutput(ringCapacity: 1).status
        (status.state, status.device, status.channelsCancel) = (.running, "mic", cancels)
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
            var status = try Self.status(zeroSince: 0, cancels: true)
            status.state = state
            #expect(report.messages(of: status, at: Self.at(100)).isEmpty)
        }
    }

    @Test func `channels that cancel are said with the remedy, at most every ten minutes`() throws {
        var report = InputReport()
        let lines = try report.messages(of: Self.status(cancels: true), at: Self.at(0))
        #expect(lines.count == 1 && lines.first?.text.contains("--channel 0") == true)
        #expect(try report.messages(of: Self.status(), at: Self.at(10)).isEmpty)
        #expect(try report.messages(of: Self.status(cancels: true), at: Self.at(20)).isEmpty)
        #expect(try report.messages(of: Self.status(cancels: true), at: Self.at(601)).count == 1)
    }
}
