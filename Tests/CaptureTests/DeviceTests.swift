import Foundation
import TestSupport
import Testing

@testable import Capture

struct DeviceTests {
    /// Writes a file of a fake `/proc`.
    private static func write(_ text: String, to path: String, in folder: TestFolder) throws {
        let parent = URL(fileURLWithPath: folder.file(path)).deletingLastPathComponent().path
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        try folder.write(path, bytes: Array(text.utf8))
    }

    @Test func `the holder of a busy card is its process, not the thread that opened it`() throws {
        let folder = try TestFolder()
        try Self.write("closed\n", to: "asound/card1/pcm0c/sub0/status", in: folder)
        let status = "state: RUNNING\nowner_pid   : 4712\ntrigger_time: 12.3\n"
        try Self.write(status, to: "asound/card1/pcm0c/sub1/status", in: folder)
        try Self.write("Name:\tdata-loop\nTgid:\t812\nPid:\t4712\n", to: "4712/status", in: folder)
        try Self.write("pipewire\n", to: "812/comm", in: folder)
        #expect(Device.Holder(card: 1, device: 0, root: folder.path) == .init(process: 812, name: "pipewire"))
        #expect(Device.Holder(card: 1, device: 1, root: folder.path) == nil)
        #expect(Device.Holder(card: 0, device: 0, root: folder.path) == nil)
        try Self.write("owner_pid : 99\n", to: "asound/card2/pcm0c/sub0/status", in: folder)
        #expect(Device.Holder(card: 2, device: 0, root: folder.path) == nil, "a process that is gone, or hidden")
    }

    @Test(arguments: [
        ("hw:CARD=Device,DEV=1", "Device", 1), ("plughw:CARD=PCH", "PCH", 0), ("hw:2,3", "2", 3), ("hw:1", "1", 0),
        ("dsnoop:DEV=2,CARD=x", "x", 2),
    ])
    func `a card's name tells its place`(_ name: String, card: String, device: Int) throws {
        let place = try #require(DeviceList.place(of: name))
        #expect(place.card == card && place.device == device)
    }

    @Test(arguments: ["default", "pulse", "hw:0,x", "hwx:0", ""]) func `other device names tell no place`(
        _ name: String
    ) {
        #expect(DeviceList.place(of: name) == nil)
    }

    private static func card(_ name: String, _ driver: String) -> DeviceList.CardDevice {
        .init(card: 0, device: 0, name: name, description: "", driver: driver, isBusy: false)
    }

    @Test func `auto prefers USB, and takes a loopback last`() {
        let (hda, usb, loop) = (Self.card("a", "HDA-Intel"), Self.card("b", "USB-Audio"), Self.card("c", "Loopback"))
        #expect(DeviceList.preferred([hda, usb, loop])?.name == "b")
        #expect(DeviceList.preferred([loop, hda])?.name == "a")
        #expect(DeviceList.preferred([loop])?.name == "c")
        #expect(DeviceList.preferred([hda, Self.card("d", "HDA-Intel")])?.name == "a")
        #expect(DeviceList.preferred([])?.name == nil)
    }

    @Test func `a device is asked what it can do`() throws {
        let folder = try TestFolder()
        let file = try folder.write("silence.raw", bytes: [UInt8](repeating: 0, count: 600))
        let card = try FakeCard(playing: file, in: folder, "rate 44100 channels 6 format S24_3LE")
        #expect(
            try Device.Abilities(of: card.name) == .init(rates: [44_100], channels: 6...6, formats: ["S24_3LE"])
        )
        try card.fail("busy")
        let holder = Device.Holder(process: 1, name: "x")
        #expect(Device.Condition(of: card.name) { holder } == .busy(holder))
        try card.fail("gone")
        #expect(Device.Condition(of: card.name) { nil } == .failed("No such device"))
    }

    @Test func `devices have names, and auto is one of them`() {
        #expect(DeviceChoice("auto") == .auto && DeviceChoice("hw:0") == .named("hw:0"))
        #expect(DeviceChoice("auto").description == "auto" && DeviceChoice("hw:0").description == "hw:0")
    }

    @Test func `the null device is refused, for it has no clock, and so is what is not sound`() throws {
        let folder = try TestFolder()
        let card = try FakeCard(playing: folder.path, in: folder)
        var error = #expect(throws: CaptureError.self) { _ = try PCM(name: card.name) }
        #expect(error == .device)
        error = #expect(throws: CaptureError.self) { _ = try PCM(name: FakeCard.null) }
        #expect(error == .unsupported)
        #expect(error?.description == "audio device 'void': the null device has no clock and no sound; choose another")
    }
}
