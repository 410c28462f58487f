import System
import Testing

@testable import Capture
@testable import Daemon

struct ReferenceReportTests {
    @Test func `a reference that is lost and comes back is told once each`() throws {
        var report = ReferenceReport()
        // States of the device, its problem, and the state that is told.
        let steps: [(CaptureMachine.State, String, String?)] = [
            (.waiting, "", nil), (.running, "", nil), (.recovering, "", nil), (.lost, "", "lost"), (.lost, "gone", nil),
            (.waiting, "gone", nil), (.running, "", "running"), (.running, "", nil), (.muted, "", nil),
            (.waiting, "", nil), (.waiting, "busy", "lost"), (.muted, "", nil), (.running, "", "running"),
        ]
        for (number, (state, problem, told)) in steps.enumerated() {
            var status = try CaptureOutput(ringCapacity: 1).status
            (status.state, status.device, status.problem) = (state, "loop", problem)
            let event = report.event(of: status, at: .now).map { "\($0)" }
            let start = told.map { #"{"event": "echo-reference", "state": "\#($0)", "device": "loop""# }
            #expect((event == nil) == (start == nil), "step \(number)")
            if let start { #expect(event?.hasPrefix(start) == true, "step \(number)") }
            #expect(event?.contains(#""problem""#) != true || problem == "busy", "step \(number)")
        }
        #expect(report.event(of: nil, at: .now) == nil)
    }
}
