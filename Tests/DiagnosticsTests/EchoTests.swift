import Testing

@testable import Diagnostics

/// What doctor says about a loudspeaker's echo.
struct EchoTests {
    @Test(arguments: [
        (EchoCheck.Result(rise: 0.2, reduction: 18.4), "18 dB of a test sound's echo are removed"),
        (.init(rise: 20, reduction: 2), "only 2 dB of a test sound's echo are removed"),
        (.init(rise: 0.5, reduction: 4), "only 4 dB of a test sound's echo are removed"),
        (
            .init(rise: 0.5, reduction: 0.1),
            "nothing is heard back of the test sound: the loudspeaker is too quiet, off, or far away"
        ),
        (.init(rise: 20), "the reference was silent while the test sound was played"),
        (.init(rise: 20, missing: "unplugged"), "nothing comes from the reference: unplugged"),
        (.init(problem: "aplay was not found", reduction: 20), "the test sound was not played: aplay was not found"),
    ])
    func `what was measured is said in one line`(_ result: EchoCheck.Result, text: String) {
        let found = EchoCheck.diagnosis(result)
        #expect(found.text == text && found.check == "echo")
        #expect((found.grade == .ok) == found.remedy.isEmpty && (found.grade == .ok) == (result.reduction == 18.4))
    }

    /// As `pactl list sources` of PulseAudio 16 and PipeWire 0.3.65 print them, shortened.
    private static let sources = """
        Source #0
        \tName: room
        \tDriver: PipeWire
        \tProperties:
        \t\tnode.name = "room"

        Source #1
        \tName: without_echo
        \tDriver: PipeWire
        \tProperties:
        \t\tnode.link-group = "echo-cancel-3144-28"

        Source #2
        \tName: cancelled
        \tDriver: module-echo-cancel.c
        """

    @Test(arguments: [
        ("pulse:without_echo", false, Diagnosis.Grade.ok, "the sound server removes the echo"),
        ("pipewire:NODE=without_echo", true, .warning, "removed twice"),
        ("pulse:DEVICE=cancelled", false, .ok, "cancelled is its canceller's"),
        ("pulse:room", false, .ok, "hides words; docs/echo.md"),
        ("pulse:room", true, .ok, "Beckon removes it"),
        ("default", false, .ok, "room is not"),
    ])
    func `the sound server's canceller is known`(
        device: String,
        removesEcho: Bool,
        grade: Diagnosis.Grade,
        text: String
    ) {
        let found = CancellerCheck.diagnosis(device: device, removesEcho: removesEcho) { arguments in
            arguments == ["list", "sources"] ? Self.sources : arguments == ["get-default-source"] ? "room\n" : nil
        }
        #expect(found?.grade == grade && found?.text.contains(text) == true)
    }

    @Test(arguments: ["hw:CARD=Device,DEV=0", "plughw:1", "pulse:nowhere"])
    func `other devices are none of its`(device: String) {
        #expect(CancellerCheck.diagnosis(device: device, removesEcho: false) { _ in Self.sources } == nil)
        #expect(CancellerCheck.diagnosis(device: "pulse", removesEcho: false) { _ in nil } == nil)
    }
}
