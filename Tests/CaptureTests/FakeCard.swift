import Core
import Foundation
import System
import TestSupport

@testable import Audio
@testable import Capture

/// A fake card with a unique name.
final class FakeCard: Sendable {
    static let null = FakeDevices.null

    let name = FakeDevices.newName()
    let folder: TestFolder
    private let control: String

    /// - Parameter keys: The card's configuration, as `FakeCard.h` explains it, without file and control.
    init(playing file: String, in folder: TestFolder, _ keys: String = "") throws {
        self.folder = folder
        control = folder.file("\(name).control")
        try Data().write(to: URL(fileURLWithPath: control))
        try FakeDevices.define(name, "type fake file \"\(file)\" control \"\(control)\" \(keys)")
    }

    deinit { FakeDevices.remove(name) }

    /// Starts the fault that the text names; an empty text ends it.
    func fail(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: control)) }

    /// A microphone on this card, without real-time priority.
    func microphone(mix: ChannelMix = .mix) throws -> Microphone {
        var settings = Microphone.Settings()
        settings.selection.device = .named(name)
        settings.selection.mix = mix
        settings.realTimePriority = nil
        return try Microphone(settings)
    }
}

/// Waits up to `seconds` until `condition` holds; returns whether it holds.
func eventually(_ seconds: Double = 5, _ condition: () throws -> Bool) rethrows -> Bool {
    let end = Clock.now + .seconds(seconds)
    while Clock.now < end {
        if try condition() { return true }
        usleep(2_000)
    }
    return try condition()
}
