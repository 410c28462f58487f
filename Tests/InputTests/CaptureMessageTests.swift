import Core
import Glibc
import Testing

@testable import Capture
@testable import Input

struct CaptureMessageTests {
    private static let status: CaptureStatus? = {
        var status = (try? Microphone())?.status
        status?.device = "hw:CARD=Device,DEV=0"
        return status
    }()

    private func line(
        _ kind: CaptureMachine.Change.Kind,
        number: Int32 = 0,
        call: CaptureMachine.Call = .none,
        duration: Duration = .zero,
        problem: String = ""
    ) throws -> String {
        var status = try #require(Self.status)
        status.problem = problem
        let change = CaptureMachine.Change(
            kind: kind,
            time: Instant(nanoseconds: 0),
            call: call,
            number: number,
            duration: duration
        )
        let message = change.message(status)
        return "\(message.level) \(message.text)"
    }

    @Test func `each change is one line, which names the device and the system's error`() throws {
        let card = "hw:CARD=Device,DEV=0"
        #expect(try line(.running) == "info listening to \(card)")
        #expect(try line(.running, duration: .milliseconds(1_234)) == "notice listening to \(card) again after 1.23 s")
        #expect(
            try line(.overrun, number: EPIPE, call: .read)
                == "warning \(card): audio was lost, as the machine was too busy (snd_pcm_readi: Broken pipe)"
        )
        #expect(try line(.framesMissing, duration: .milliseconds(250)) == "warning \(card): 0.25 s of audio never came")
        #expect(
            try line(.lost, number: ENODEV, call: .read)
                == "warning \(card): lost (snd_pcm_readi: No such device); waiting for it to come back"
        )
        #expect(try line(.unavailable, problem: "it is gone") == "error it is gone")
        #expect(
            try line(.stillUnavailable, duration: .seconds(60), problem: "it is gone")
                == "warning still no microphone after 60.00 s: it is gone; beckon doctor finds out more"
        )
        #expect(
            try line(.notRealTime, number: EPERM)
                == "notice no real-time priority for capture (Operation not permitted); audio may be lost when the machine "
                + "is busy"
        )
    }

    @Test func `gaps that were not reported one by one are summed up in one line`() throws {
        let status = try #require(Self.status)
        let sum = GapReport.Item.more(gaps: 37, lost: .milliseconds(1_234)).message(status)
        #expect(sum == (.warning, "hw:CARD=Device,DEV=0: 37 more gaps, 1.23 s lost"))
        #expect(
            GapReport.Item.more(gaps: 1, lost: .milliseconds(20)).message(status).text.hasSuffix(
                ": 1 more gap, 0.02 s lost"
            )
        )
    }

    @Test func `every change has a message, whatever is known of the device`() throws {
        var status = try #require(Self.status)
        status.device = ""
        for number in UInt8(0)..<32 {
            guard let kind = CaptureMachine.Change.Kind(rawValue: number) else { continue }
            let text = CaptureMachine.Change(kind: kind, time: Instant(nanoseconds: 0)).message(status).text
            #expect(text.count > 5 && !text.contains("\n") && !text.hasPrefix(":"), "\(kind): \(text)")
        }
    }
}
