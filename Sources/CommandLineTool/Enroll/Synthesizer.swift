import Audio
private import Core
private import Glibc
private import System

/// A speech synthesizer of the system, espeak-ng or flite, with several voices. It says what nobody has recorded.
struct Synthesizer {
    private let program: SystemProgram
    private let voices: [[String]]
    private let isFlite: Bool

    /// Nil if no folder of `PATH` has one.
    init?() {
        if let found = SystemProgram("espeak-ng") {
            (program, isFlite) = (found, false)
            voices = ["en-us+m3", "en-gb+f2", "en-us+f4"].map { ["-v", $0] }
        } else if let found = SystemProgram("flite") {
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
        let (text, file) = (ShellWord.quoted(text), ShellWord.quoted(file))
        return isFlite ? "flite -t \(text) -o \(file)" : "espeak-ng -w \(file) \(text)"
    }

    /// A text by one of the voices, mono at 16 kHz; nil if the program fails.
    func say(_ text: String, voice: Int) -> [Float]? {
        guard let file = try? UnnamedFile(in: nil) else { return nil }
        // By this process's number: the program has none of its descriptors.
        let path = file.path.replacing("self", with: "\(getpid())")
        let output = isFlite ? ["-t", text, "-o", path] : ["-w", path, "--", text]
        guard (try? program.succeeds(voices[voice] + output)) == true else { return nil }
        return try? FileBlocks.readClip(path: file.path, atMost: 10)
    }
}
