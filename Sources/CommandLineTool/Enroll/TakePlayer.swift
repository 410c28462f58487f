private import Core
import Enrollment
private import FoundationEssentials
private import Glibc
private import System

/// Plays a take or a clip through `aplay` of alsa-utils, where it is installed.
struct TakePlayer {
    private let program: String

    /// Nil if no folder of `PATH` has `aplay`.
    init?() {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let programs: [String] = folders.map { "\($0)/aplay" }
        guard let found = programs.first(where: { access($0, X_OK) == 0 }) else { return nil }
        program = found
    }

    /// Plays an utterance to its end, or to Ctrl-C.
    ///
    /// - Throws: one line that says why it was not heard.
    func play(_ utterance: Utterance) throws(Failure) {
        let format = ["-q", "-t", "raw", "-f", "S16_LE", "-c", "1", "-r", "\(Utterance.sampleRate)", "-"]
        let bytes = utterance.pcm.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
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
        let environment = ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
        var launch = ProcessLaunch(path: program, arguments: arguments, environment: environment)
        launch.input = input
        launch.output = .null
        launch.error = .null
        var status: Int32 = 0
        do throws(SystemError) {
            let process = try spawn(launch)
            while waitpid(process, &status, 0) < 0 { guard errno == EINTR else { return } }
        } catch {
            throw Failure("cannot play it: \(program): \(error)")
        }
        guard status == 0 || Interrupt.isRequested else {
            throw Failure("it was not heard: aplay failed; try aplay \(Self.sample) to find out why")
        }
    }

    private static let sample = "/usr/share/sounds/alsa/Front_Center.wav"
}
