import Foundation
import Synchronization

/// Fake sound cards, defined in an ALSA configuration file that all tests of a process share; see `Tests/FakeCard`.
public enum FakeDevices {
    /// Name of ALSA's null device, which gives silence and takes all.
    public static let null = "void"

    private static let count = Atomic<Int>(0)
    private static let definitions = Mutex(Definitions())

    /// The file named by `ALSA_CONFIG_PATH`; it is set once, before the process has set any other variable.
    private struct Definitions {
        let folder: TestFolder? = {
            let folder = try? TestFolder()
            if let folder { setenv("ALSA_CONFIG_PATH", folder.file("asound.conf"), 1) }
            return folder
        }()
        var devices: [String: String] = [:]
        private var writes = 0.0

        mutating func write() throws {
            let library = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
                .appendingPathComponent("libFakeCard.so").path
            let common = [
                "pcm_type.fake { lib \"\(library)\" }", "pcm_type.speaker { lib \"\(library)\" }",
                "pcm.\(FakeDevices.null) { type null }",
            ]
            let text = (common + devices.values.sorted()).joined(separator: "\n") + "\n"
            let path = folder?.file("asound.conf") ?? ""
            try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
            // ALSA detects a changed file by its inode, which may be reused, and its modification time in seconds.
            writes += 1
            let date = Date(timeIntervalSince1970: 1e9 + writes)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
        }
    }

    /// A name that no other device has.
    public static func newName() -> String { "fake\(count.wrappingAdd(1, ordering: .relaxed).newValue)" }

    /// Defines a device, or another one in its place.
    ///
    /// - Parameter keys: as in ALSA's configuration, with the type.
    public static func define(_ name: String, _ keys: String) throws {
        try definitions.withLock {
            $0.devices[name] = "pcm.\(name) { \(keys) }"
            try $0.write()
        }
    }

    public static func remove(_ name: String) { definitions.withLock { $0.devices[name] = nil } }
}

/// A fake loudspeaker with a unique name, which writes what is played to a file.
public final class FakeSpeaker: Sendable {
    public let name = FakeDevices.newName()
    private let folder: TestFolder

    /// - Parameter keys: as `FakeCard.h` explains them, without file and control.
    public init(in folder: TestFolder, _ keys: String = "") throws {
        self.folder = folder
        try folder.write("\(name).control", bytes: [])
        try folder.write("\(name).raw", bytes: [])
        try FakeDevices.define(
            name,
            "type speaker file \"\(folder.file("\(name).raw"))\" control \"\(folder.file("\(name).control"))\" \(keys)"
        )
    }

    deinit { FakeDevices.remove(name) }

    /// Starts the fault that the text names; an empty text ends it.
    public func fail(_ text: String) throws { try folder.write("\(name).control", bytes: Array(text.utf8)) }

    /// What was played, as bytes.
    public var bytes: [UInt8] { (try? folder.bytes("\(name).raw")) ?? [] }

    /// The first channel of what was played in 16 bits, from −1 to 1.
    public func played(channels: Int = 2) -> [Float] {
        let bytes = bytes
        return stride(from: 0, to: bytes.count - 1, by: 2 * channels).map {
            Float(Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)) / 32768
        }
    }
}
