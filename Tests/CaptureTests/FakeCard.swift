import Core
import Foundation
import Synchronization
import System
import TestSupport

@testable import Audio
@testable import Capture

/// A fake card with a unique name, defined in an ALSA configuration file that all fake cards share.
final class FakeCard: Sendable {
    /// Name of ALSA's null device, which gives silence.
    static let null = "void"

    let name: String
    let folder: TestFolder
    private let control: String

    private static let count = Atomic<Int>(0)
    private static let definitions = Mutex(Definitions())

    /// The file named by `ALSA_CONFIG_PATH`; it is set once, before the process has set any other variable.
    private struct Definitions {
        let folder: TestFolder? = {
            let folder = try? TestFolder()
            if let folder { setenv("ALSA_CONFIG_PATH", folder.file("asound.conf"), 1) }
            return folder
        }()
        var cards: [String: String] = [:]
        private var writes = 0.0

        mutating func write() throws {
            let library = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
                .appendingPathComponent("libFakeCard.so").path
            let common = ["pcm_type.fake { lib \"\(library)\" }", "pcm.\(FakeCard.null) { type null }"]
            let text = (common + cards.values.sorted()).joined(separator: "\n") + "\n"
            let path = folder?.file("asound.conf") ?? ""
            try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
            // ALSA detects a changed file by its inode, which may be reused, and its modification time in seconds.
            writes += 1
            let date = Date(timeIntervalSince1970: 1e9 + writes)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
        }
    }

    /// - Parameter keys: The card's configuration, as `FakeCard.h` explains it, without file and control.
    init(playing file: String, in folder: TestFolder, _ keys: String = "") throws {
        self.folder = folder
        name = "fake\(FakeCard.count.wrappingAdd(1, ordering: .relaxed).newValue)"
        control = folder.file("\(name).control")
        let (name, control) = (name, control)
        try Data().write(to: URL(fileURLWithPath: control))
        try FakeCard.definitions.withLock {
            $0.cards[name] = "pcm.\(name) { type fake file \"\(file)\" control \"\(control)\" \(keys) }"
            try $0.write()
        }
    }

    deinit {
        FakeCard.definitions.withLock { $0.cards[name] = nil }
    }

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
