private import Core
import Enrollment
private import Glibc
private import System

/// Plays a take or a clip through `aplay` of alsa-utils, where it is installed.
struct TakePlayer {
    private let program: SystemProgram

    /// Nil if no folder of `PATH` has `aplay`.
    init?() {
        guard let program = SystemProgram("aplay") else { return nil }
        self.program = program
    }

    /// Plays an utterance to its end, or to Ctrl-C.
    ///
    /// - Throws: one line that says why it was not heard.
    func play(_ utterance: Utterance) throws(Failure) {
        try play(pcm: utterance.pcm)
    }

    /// Plays samples at 16 kHz to their end, or to Ctrl-C.
    ///
    /// - Throws: one line that says why they were not heard.
    func play(pcm: [Int16]) throws(Failure) {
        let format = ["-q", "-t", "raw", "-f", "S16_LE", "-c", "1", "-r", "\(Utterance.sampleRate)", "-"]
        let bytes = pcm.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
        try play(bytes, format)
    }

    /// Plays a WAV file to its end, or to Ctrl-C.
    ///
    /// - Throws: one line that says why it was not heard.
    func play(wave: [UInt8]) throws(Failure) { try play(wave, ["-q", "-t", "wav", "-"]) }

    private func play(_ bytes: [UInt8], _ arguments: [String]) throws(Failure) {
        // A file, not a pipe: a player that ends early would end this program too, by SIGPIPE.
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/var/tmp"
        var name = Array("\(folder)/beckon-XXXXXX".utf8CString)
        let file = FileDescriptor(mkstemp(&name))
        guard file.isOpen else { throw Failure("cannot play it: \(SystemError.text(errno))") }
        unlink(name)
        guard writeAll(bytes, to: file.rawValue), lseek(file.rawValue, 0, SEEK_SET) == 0 else {
            throw Failure("cannot play it: \(SystemError.text(errno))")
        }
        try run(arguments, input: .descriptor(file.rawValue))
    }

    private func run(_ arguments: [String], input: ProcessLaunch.Stream) throws(Failure) {
        let isHeard: Bool
        do { isHeard = try program.succeeds(arguments, input: input) } catch {
            throw Failure("cannot play it: \(program.path): \(error)")
        }
        guard isHeard || Interrupt.isRequested else {
            throw Failure("it was not heard: aplay failed; try aplay \(Self.sample) to find out why")
        }
    }

    private static let sample = "/usr/share/sounds/alsa/Front_Center.wav"
}
