import Audio
import Foundation
import TestSupport
import Testing

@testable import Capture
@testable import Diagnostics

/// The checks of `beckon doctor`, on simulated states of a machine.
struct MachineTests {
    @Test func `of many channels, the good ones are named`() {
        let tone = (0..<4_800).map { Float(sin(Double($0) / 10)) * 0.1 }
        let capture = RawCapture(rate: 48_000, channels: [tone.map { $0 + 0.05 }, tone, tone.map { $0 / 2 }])
        let found = ChannelCheck(capture, mix: .mix).diagnoses
        #expect(
            found.map(\.text) == [
                "channel 0 has a DC offset of 5 % of full scale, and is mixed with the good channels"
            ]
        )
        #expect(found.first?.remedy.hasPrefix("set channel: [1, 2] in the configuration, or try --channel 1,2") == true)
        // Without sound, or with one channel, there is no diagnosis.
        let still = [Float](repeating: 0, count: 4_800)
        #expect(ChannelCheck(RawCapture(rate: 48_000, channels: [still, still]), mix: .mix).diagnoses == [])
        #expect(ChannelCheck(RawCapture(rate: 48_000, channels: [tone]), mix: .mix).diagnoses == [])
    }

    @Test func `the process that holds a device is named`() {
        func device(_ name: String, _ condition: Device.Condition) -> Device {
            Device(name: name, description: "", driver: nil, condition: condition, isAutomatic: name == "a")
        }
        let free = Device.Condition.free(.init(rates: [48_000], channels: 1...2, formats: ["S16_LE"]))
        let found = SoundSystem.describe([
            device("a", free), device("b", .busy(.init(process: 812, name: "pipewire"))), device("c", .busy(nil)),
            device("d", .failed("Permission denied")),
        ])
        #expect(found.map(\.grade) == [.ok, .warning, .warning, .warning])
        #expect(found[0].text == "a (auto), b, c, d" && found[1].text == "b is in use by pipewire (process 812)")
        #expect(found[2].text == "c is in use by another program" && found[3].text.hasSuffix("Permission denied"))
    }

    @Test func `missing resource limits are named`() {
        #expect(SoundSystem.limits(isRealTime: true, isMemoryLocked: true).grade == .ok)
        let none = SoundSystem.limits(isRealTime: false, isMemoryLocked: false)
        #expect(none.grade == .warning && none.text.contains("no real-time priority and no locked memory"))
        #expect(!SoundSystem.limits(isRealTime: true, isMemoryLocked: false).text.contains("real-time"))
    }

    @Test func `devices that may not be used name the group`() throws {
        let folder = try TestFolder()
        #expect(SoundSystem.permissions(folder: folder.path).grade == .warning)
        #expect(SoundSystem.permissions(folder: "/nowhere").grade == .warning)
        try folder.write("pcmC0D0c", bytes: [])
        #expect(SoundSystem.permissions(folder: folder.path).text == "this user may use pcmC0D0c")
        // A dangling link cannot be opened, not even by root.
        try FileManager.default.createSymbolicLink(atPath: folder.file("pcmC1D0c"), withDestinationPath: "/nowhere")
        let closed = SoundSystem.permissions(folder: folder.path)
        #expect(closed.grade == .error && closed.text == "this user may not use pcmC1D0c")
        #expect(closed.remedy.contains("usermod -aG "))
    }

    @Test(arguments: [(0.3, Diagnosis.Grade.ok), (19, .ok), (30, .warning), (60, .error), (300, .error)])
    func `the real-time factor is graded by what a hop leaves of 100 ms`(_ milliseconds: Double, grade: Diagnosis.Grade)
    {
        #expect(RealTimeFactor(milliseconds: milliseconds).diagnosis.grade == grade)
    }
}
