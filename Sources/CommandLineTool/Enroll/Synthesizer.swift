import Audio
private import Core
private import FoundationEssentials
private import Glibc
private import System

/// A speech synthesizer of the system, espeak-ng or flite, with several voices. It says what nobody has recorded.
struct Synthesizer {
    private let program: String
    private let voices: [[String]]
    private let isFlite: Bool

    /// Nil if no folder of `PATH` has one.
    init?() {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        func find(_ name: String) -> String? {
            folders.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
        }
        if let found = find("espeak-ng") {
            (program, isFlite) = (found, false)
            voices = ["en-us+m3", "en-gb+f2", "en-us+f4"].map { ["-v", $0] }
        } else if let found = find("flite") {
            (program, isFlite) = (found, true)
            voices = ["slt", "rms", "awb"].map { ["-voice", $0] }
        } else {
            return nil
        }
    }

    /// Number of voices.
    var count: Int { voices.count }

    /// A command that says a text into a file, as a user may type it.
    func command(_ text: String, file: String) -> String {
        let quoted = "'\(text)'"
        return isFlite ? "flite -t \(quoted) -o \(file)" : "espeak-ng -w \(file) \(quoted)"
    }

    /// A text by one of the voices, mono at 16 kHz; nil if the program fails.
    func say(_ text: String, voice: Int) -> [Float]? {
        guard let file = try? UnnamedFile(in: nil) else { return nil }
        // By this process's number: the program has none of its descriptors.
        let path = file.path.replacing("self", with: "\(getpid())")
        let output = isFlite ? ["-t", text, "-o", path] : ["-w", path, "--", text]
        let environment = ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
        var launch = ProcessLaunch(path: program, arguments: voices[voice] + output, environment: environment)
        (launch.input, launch.output, launch.error) = (.null, .null, .null)
        guard let process = try? spawn(launch) else { return nil }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 { guard errno == EINTR else { return nil } }
        guard status == 0 else { return nil }
        return try? FileBlocks.readClip(path: file.path, atMost: 10)
    }
}
