private import Audio
private import Core
private import Glibc
public import Phonemes
private import System

/// A speech synthesizer of the system, espeak-ng or flite, with several voices. It says what nobody has recorded.
public struct Synthesizer: Sendable {
    /// What it may take for a word.
    private static let longest = Duration.seconds(10)

    private let program: SystemProgram
    private let voices: [[String]]
    private let isFlite: Bool

    /// Nil if no folder of `PATH` has one.
    public init?() {
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

    public var name: String { isFlite ? "flite" : "espeak-ng" }

    /// Number of voices.
    public var count: Int { voices.count }

    /// A command that says a text into a file, as a user may type it.
    public func command(_ text: String, file: String) -> String {
        let (text, file) = (ShellWord.quoted(text), ShellWord.quoted(file))
        return isFlite ? "flite -t \(text) -o \(file)" : "espeak-ng -w \(file) \(text)"
    }

    /// A text by one of the voices, mono at 16 kHz; nil if the program fails.
    public func say(_ text: String, voice: Int) -> [Float]? {
        say(isFlite ? ["-t", text] : ["--", text], voices[voice])
    }

    /// The sounds of a pronunciation as such, whatever the spelling is, mono at 16 kHz; nil if the program fails, or knows no such sound.
    public func say(_ pronunciation: Pronunciation, _ pronouncer: Pronouncer) -> [Float]? {
        guard let text = pronouncer.notation(isFlite ? .flite : .espeak, of: pronunciation) else { return nil }
        // American English, as the network of spelling has it.
        return isFlite ? say(["-p", text], voices[0]) : say(["--", "[[\(text)]]"], ["-v", "en-us"])
    }

    private func say(_ what: [String], _ voice: [String]) -> [Float]? {
        guard let file = try? UnnamedFile(in: nil) else { return nil }
        // By this process's number: the program has none of its descriptors.
        let path = file.path.replacing("self", with: "\(getpid())")
        let arguments = isFlite ? voice + what + ["-o", path] : voice + ["-w", path] + what
        guard (try? program.succeeds(arguments, within: Self.longest)) == true else { return nil }
        return try? FileBlocks.readClip(path: file.path, atMost: 10)
    }
}
