private import Capture
import Configuration
private import Core
import Diagnostics
private import Enrollment
private import Glibc
import Inference
private import JSON
private import Spotting
private import System
private import WakeWords

/// `beckon doctor`: checks whether this machine can listen, and says what to do if not.
struct Doctor {
    private let device: String?
    private let configuration: String?
    private let listening: ListeningOptions
    private let playsSound: Bool
    private let json: Bool
    private let writesReport: Bool

    init(_ arguments: Arguments) throws(UsageError) {
        if let operand = arguments.operands.first {
            throw UsageError("doctor takes options only, not '\(printable(operand))'")
        }
        device = arguments.value("--device")
        configuration = arguments.value("--config")
        listening = try ListeningOptions(arguments)
        playsSound = arguments.has("--echo")
        json = arguments.has("--json")
        writesReport = arguments.has("--report")
    }

    /// Runs all checks and prints each result immediately. Returns the exit status: 1 if a check found an error.
    func run() throws(Failure) -> Int32 {
        var all: [Diagnosis] = []
        func report(_ found: [Diagnosis]) {
            all += found
            if json {
                Output.write(found.map(\.json).joined())
            } else {
                Output.write(found.map { $0.lines(room: Terminal.outputRoom) }.joined())
            }
        }
        let environment = OwnEnvironment.variables
        let (found, fromFile) = checkConfiguration(environment)
        var settings = fromFile
        report(found)
        report(checkModel(settings))
        let service = ServiceCheck(environment)
        let instances = InstanceReport(environment)
        report([service.diagnosis] + instances.diagnoses)
        func finish() throws(Failure) -> Int32 {
            if !json { Output.writeText(Self.summary(all, service, instances)) }
            if writesReport {
                let path = configuration ?? (try? InstanceOption.configuration(environment))
                let model = try? model(settings.model, confirms: false)
                let report = DoctorReport(environment, configuration: path, modelWords: model?.labels ?? [])
                try report.write(all, model: model?.name ?? "none")
            }
            return all.contains { $0.grade == .error } ? 1 : 0
        }
        if service.onlyServes, device == nil, instances.running.isEmpty {
            report([
                Diagnosis(
                    .ok,
                    "devices",
                    "not looked at: the server's clients send the audio; --device NAME looks at one"
                )
            ])
            return try finish()
        }
        settings.device = device ?? settings.device
        // With --device another one is asked about than the service's.
        let serviceDevice = device == nil ? service.device : nil
        report(SoundSystem.check(device: settings.device, serviceDevice: serviceDevice))
        if Terminal.errorIsTerminal {
            Output.report(.info, "listening for \(SoundCheck.seconds) seconds; please say something")
        }
        let selection = InputSelection(
            device: DeviceChoice(settings.device),
            mix: settings.mix,
            reference: settings.echo.device
        )
        let sound = SoundCheck(
            selection,
            name: serviceDevice ?? settings.device,
            isServiceListening: serviceDevice != nil
        ) { text in
            if Terminal.errorIsTerminal { Output.report(.info, text) }
        }
        report(sound.run())
        report(Self.checkCanceller(settings).map { [$0] } ?? [])
        if playsSound { report(EchoCheck(selection, play: TestSound.play).run()) }
        return try finish()
    }

    /// Whether the sound server removes the echo, where `pactl` is installed.
    private static func checkCanceller(_ settings: Configuration) -> Diagnosis? {
        guard let pactl = SystemProgram("pactl") else { return nil }
        var device = settings.device
        if device == "auto" { device = (try? DeviceList.scan().first(where: \.isAutomatic)?.name) ?? device }
        return CancellerCheck.diagnosis(
            device: device,
            removesEcho: settings.echo.reference != nil,
            pactl: pactl.output
        )
    }

    /// The page about symptoms, causes and remedies: the package's, else the one of the source tree.
    private static var troubleshooting: String {
        let installed = "/usr/share/doc/beckon/troubleshooting.md"
        return access(installed, R_OK) == 0 ? installed : "docs/troubleshooting.md"
    }

    /// The last lines: whether beckon can listen, the one thing to do next, and where more is written.
    private static func summary(_ all: [Diagnosis], _ service: ServiceCheck, _ instances: InstanceReport) -> String {
        let errors = all.count { $0.grade == .error }
        let warnings = all.count { $0.grade == .warning }
        let verb = service.onlyServes && instances.running.isEmpty ? "serve" : "listen"
        let result =
            errors > 0
            ? "beckon cannot \(verb); errors: \(errors), warnings: \(warnings)"
            : warnings > 0 ? "beckon can \(verb); warnings: \(warnings)" : "beckon can \(verb); no problems found"
        func worst(_ grade: Diagnosis.Grade) -> String? {
            all.first { $0.grade == grade && !$0.remedy.isEmpty }?.remedy
        }
        let usual = service.next ?? instances.next ?? service.start ?? "beckon listen, and say a word"
        // A muted service hears nothing, whatever its microphone is like.
        let next = worst(.error) ?? (service.isMuted ? service.next : nil) ?? worst(.warning) ?? usual
        return "\(result)\nNext: \(printable(next))\nSymptoms and remedies: \(troubleshooting)\n"
    }

    /// Checks the configuration that the service would read. Returns the defaults if it has errors.
    private func checkConfiguration(_ environment: [String: String]) -> ([Diagnosis], Configuration) {
        let check = "configuration"
        var found = configuration
        do throws(Failure) {
            if found == nil { found = try InstanceOption.configuration(environment) }
        } catch {
            let parts = error.description.split(separator: "; ", maxSplits: 1).map(String.init)
            return ([Diagnosis(.error, check, parts[0], parts.count > 1 ? parts[1] : "")], Configuration())
        }
        guard let path = found else {
            return ([Diagnosis(.ok, check, "there is no file: the defaults apply")], Configuration())
        }
        let remedy = "correct the configuration, then run beckon config check"
        do {
            let file = try ParsedConfiguration(path: path).validated { configuration in
                let model = try model(configuration.model, confirms: configuration.confirms())
                let taught = TaughtWords(nil)
                var loader = listening.vocabulary
                loader.wakeWords = configuration.wakeWords()
                loader.optionalWakeWords = Set(loader.wakeWords)
                let typed = configuration.typedNames().map(\.name)
                let words = Labels(model.labels).words + taught.names + typed
                let wakeWords = try loader.loadWakeWords(beside: words)
                return KnownWords(
                    words + wakeWords.loaded.map(\.name),
                    gone: taught.forgotten,
                    missing: wakeWords.missing,
                    vocabulary: Vocabulary(model, wakeWords: wakeWords.loaded)
                )
            }
            let warnings = file.warnings.map { Diagnosis(.warning, check, "\($0)", remedy) }
            let sessions = file.configuration.sessions.map { "\($0.wake): \($0.words.joined(separator: ", "))" }
            let sound = "\(path) is sound" + (sessions.isEmpty ? "" : "; sessions: " + sessions.joined(separator: "; "))
            return (warnings.isEmpty ? [Diagnosis(.ok, check, sound)] : warnings, file.configuration)
        } catch {
            return (error.problems.map { Diagnosis(.error, check, "\($0)", remedy) }, Configuration())
        }
    }

    private func model(_ folder: String?, confirms: Bool) throws -> Model {
        var listening = listening
        listening.confirms = confirms
        listening.modelFolder = listening.modelFolder ?? folder
        return try listening.loadModel()
    }

    /// Checks that a model can be loaded, and how long it takes per hop.
    private func checkModel(_ settings: Configuration) -> [Diagnosis] {
        let folder = settings.model
        do {
            let model = try model(folder, confirms: settings.confirms)
            let words = Labels(model.labels).words
            let confirmation =
                switch model.confirmationState {
                case .on: "; further networks confirm what it finds"
                case .off: "; its confirming networks are off (confirm: false)"
                case .missing: ""
                }
            return [
                Diagnosis(.ok, "model", "\(model.name), which knows \(words.joined(separator: ", "))\(confirmation)"),
                RealTimeFactor(measuring: model).diagnosis,
            ] + checkTaughtWords(model, folder)
        } catch {
            return [Diagnosis(.error, "model", "\(error)", "install the package again, or name a folder with --model")]
        }
    }

    /// Names the taught words, and those that the model cannot find.
    private func checkTaughtWords(_ model: Model, _ folder: String?) -> [Diagnosis] {
        let check = "words"
        let taught = TaughtWords(nil)
        do {
            let loaded = try taught.load(for: model, folder: ModelFolder.find(listening.modelFolder ?? folder))
            let names = loaded.words.map(\.name).joined(separator: ", ")
            let place = taught.path.map { " (\($0))" } ?? ""
            let text = names.isEmpty ? "none taught; beckon enroll WORD teaches one" : "taught: \(names)\(place)"
            return [Diagnosis(.ok, check, text)]
                + loaded.lost.map { name in
                    let parts = TaughtWords.lostLine(name).split(separator: "; ", maxSplits: 1).map(String.init)
                    return Diagnosis(.warning, check, parts[0], parts.count > 1 ? parts[1] : "")
                }
        } catch {
            return [Diagnosis(.error, check, "\(error)", "move that file away, or import the words again")]
        }
    }
}

extension Diagnosis {
    /// The finding as text; what to do follows on a line of its own.
    ///
    /// - Parameter room: columns of the terminal; nil where it goes elsewhere.
    fileprivate func lines(room: Int?) -> String {
        let first = "\(pad(grade.rawValue, 7))  \(pad(check, 13))  \(printable(text))\n"
        let margin = (room ?? 80) < 60 ? 4 : 24
        let second = remedy.isEmpty ? "" : pad("", margin) + "→ \(printable(remedy))\n"
        return fitted(first, columns: room, hanging: margin) + fitted(second, columns: room)
    }

    /// One JSON object on a line.
    fileprivate var json: String {
        let object: JSON = [
            "check": .string(check), "grade": .string(grade.rawValue), "text": .string(text),
            "remedy": .optional(remedy.isEmpty ? nil : remedy),
        ]
        return object.line
    }
}
