private import Audio
public import Capture
private import Core
private import Input
private import System

/// Plays a test sound while it listens, and says how many decibels of its echo are removed.
public struct EchoCheck {
    /// What was measured.
    struct Result: Equatable {
        /// Why the sound was not played; nil if it was.
        var problem: String?
        /// Decibels by which the microphone heard more while it was played, after the echo was removed.
        var rise = 0.0
        /// Decibels that were removed at the end; nil if the reference was silent.
        var reduction: Float?
        /// Why the device with what is played gives nothing; empty if it does.
        var missing = ""
    }

    /// Seconds of the sound: four until its delay is known, and some to learn how the room answers.
    public static let seconds = 10
    /// Decibels by which a sound must be louder than the room to be heard, and of its echo that should be removed.
    private static let least = 3.0, enough: Float = 10
    private static let check = "echo"

    private let selection: InputSelection
    private let play: @Sendable () -> String?

    /// - Parameter play: plays a sound of ``seconds``, to its end; returns why it could not, else nil.
    public init(_ selection: InputSelection, play: @escaping @Sendable () -> String?) {
        self.selection = selection
        self.play = play
    }

    /// Blocks until the sound is over.
    public func run() -> [Diagnosis] {
        guard selection.mix.echo != nil else {
            let text = "no echo is removed, as there is no reference of what is played"
            return [Diagnosis(.warning, Self.check, text, "set echo.reference; docs/echo.md names what it can be")]
        }
        if selection.reference == nil, selection.mix != selection.mix.withoutReferenceDevice {
            let text = "the reference is what the service itself plays, so that only the service can measure it"
            return [Diagnosis(.warning, Self.check, text, "let it play something, and see beckon status")]
        }
        do throws(CaptureError) {
            return [Self.diagnosis(try measure())]
        } catch {
            return [Diagnosis(.error, Self.check, error.description, "free memory, and try again")]
        }
    }

    private func measure() throws(CaptureError) -> Result {
        let source = try MicrophoneSource(selection)
        let microphone = source.microphone
        try microphone.start()
        defer { microphone.stop() }
        let quiet = level(of: source, blocks: 10)
        let (play, problem, finished) = (play, Mailbox<String>(), Latch())
        _ = try SystemThread(name: "beckon-play", stackSize: 512 << 10, or: CaptureError.noThread) {
            if let text = play() { problem.post(text) }
            finished.open()
        }
        let loud = level(of: source, blocks: 10 * Self.seconds - 5)
        var result = Result(rise: loud - quiet, reduction: microphone.status.echoReduction)
        if let reference = microphone.referenceStatus, reference.state != .running {
            result.missing = reference.problem
        }
        _ = finished.wait(until: Clock.now + .seconds(2))
        result.problem = problem.take()
        return result
    }

    /// In decibels, of the newest two seconds of so many blocks.
    private func level(of source: MicrophoneSource, blocks: Int) -> Double {
        var energies: [Float] = []
        var deadline = Clock.now + .seconds(5)
        while energies.count < blocks, Clock.now < deadline {
            let isNew = source.next(until: deadline) { window, _ in
                let newest = window.extracting(last: AudioFormat.hopSamples)
                var sum: Float = 0
                for index in newest.indices { sum += newest[index] * newest[index] }
                energies.append(sum / Float(newest.count))
            }
            if isNew { deadline = Clock.now + .seconds(2) }
        }
        let newest = energies.suffix(20)
        return decibels(Double(newest.reduce(0, +)) / Double(max(1, newest.count)))
    }

    static func diagnosis(_ result: Result) -> Diagnosis {
        func warning(_ text: String, _ remedy: String) -> Diagnosis { Diagnosis(.warning, check, text, remedy) }
        if let problem = result.problem {
            return warning("the test sound was not played: \(problem)", "install alsa-utils; try speaker-test")
        }
        if !result.missing.isEmpty {
            let text = "nothing comes from the reference: \(result.missing)"
            return warning(text, "see beckon devices and echo.reference")
        }
        guard let reduction = result.reduction else {
            let text = "the reference was silent while the test sound was played"
            return warning(text, "choose the monitor of the output that plays, or the right channel, as echo.reference")
        }
        let figure = decimal(Double(reduction), 0)
        if reduction >= enough { return Diagnosis(.ok, check, "\(figure) dB of a test sound's echo are removed") }
        guard result.rise >= least || Double(reduction) >= least else {
            let text = "nothing is heard back of the test sound: the loudspeaker is too quiet, off, or far away"
            return warning(text, "turn it up and try again; if words are found while it plays, there is nothing to do")
        }
        let text = "only \(figure) dB of a test sound's echo are removed"
        let remedy = "is the reference what this loudspeaker plays? One that clips, or a late monitor, leaves echo"
        return warning(text, remedy)
    }
}
