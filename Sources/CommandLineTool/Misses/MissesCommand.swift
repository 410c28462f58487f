import Actions
import Control
private import Core
import Events
private import Glibc
import JSON
private import System

/// `beckon misses`: the words that the service detected or nearly detected, with their clips.
struct MissesCommand {
    private enum Task {
        case list
        case play(Int)
        case export(Int, String)
    }

    private let task: Task
    private let socket: String?
    private let json: Bool
    private let isNearOnly: Bool

    init(_ arguments: Arguments) throws(UsageError) {
        socket = arguments.value("--socket")
        json = arguments.has("--json")
        isNearOnly = arguments.has("--near")
        let operands = arguments.operands
        switch arguments.task {
        case "play":
            guard operands.count == 1 else {
                throw UsageError("misses play takes the number of a word; beckon misses lists them")
            }
            task = .play(try Self.number(operands[0]))
        case "export":
            guard operands.count == 2 else { throw UsageError("misses export takes the number of a word and a file") }
            task = .export(try Self.number(operands[0]), operands[1])
        default:
            if let operand = operands.first {
                throw UsageError("misses takes no '\(printable(operand))'; did you mean beckon misses play N?")
            }
            task = .list
        }
    }

    private static func number(_ text: String) throws(UsageError) -> Int {
        guard let number = Int(digits: text), number > 0 else {
            throw UsageError("'\(printable(text))' is not the number of a word; beckon misses lists them")
        }
        return number
    }

    /// Runs the command. Returns the exit status.
    func run() throws -> Int32 {
        let kept = try Self.kept(socket: socket)
        switch task {
        case .list: list(kept.list.entries.filter { $0.isNear || !isNearOnly })
        case .play(let number):
            guard let player = TakePlayer() else {
                throw Failure("aplay was not found; it is in the package alsa-utils")
            }
            Interrupt.watch()
            try player.play(wave: try kept.clip(number))
        case .export(let number, let path): try export(try kept.clip(number), to: path)
        }
        return 0
    }

    /// What a service keeps.
    ///
    /// - Throws: if no service runs, or it keeps none.
    static func kept(socket: String? = nil) throws -> KeptWords {
        let path = socket ?? ControlClient.findPath(environment: OwnEnvironment.variables)
        var client = try ControlClient(path: path)
        guard case .words(let list) = try client.ask(.misses).reply, list.isOn else {
            throw Failure(
                "the service keeps no words; set misses in its configuration, such as misses: {dir: "
                    + "\"/var/lib/beckon/misses\"}"
            )
        }
        guard let user = client.user else { throw Failure("\(path): the system does not say whose service this is") }
        return KeptWords(list: list, user: user)
    }

    private func list(_ entries: [RecentWord]) {
        if json {
            for entry in entries { Output.write(entry.json.line) }
            return
        }
        guard !entries.isEmpty else {
            Output.write("No words were detected or nearly detected yet.\n")
            return
        }
        var table = TextTable(
            ["NUMBER", "TIME", "WORD", "SCORE", "THRESHOLD", "MODE", "LEVEL", "SNR", "CLIP"],
            names: [2]
        )
        for entry in entries {
            func decibels(_ number: Double?) -> String { number.map { decimal($0, 0) + " dB" } ?? "–" }
            table.add([
                "\(entry.number)", "\(entry.date.dayText) \(entry.date.timeOfDayText)",
                printable(entry.word) + (entry.isNear ? " (missed)" : ""), decimal(entry.confidence, 2),
                entry.threshold.map { decimal($0, 2) } ?? "–", entry.mode?.rawValue ?? "–",
                decibels(entry.sound?.level), decibels(entry.sound?.signalToNoise), entry.clip == nil ? "–" : "yes",
            ])
        }
        Output.write(Terminal.outputRoom.map { table.text(columns: $0) } ?? table.text)
    }

    private func export(_ bytes: [UInt8], to path: String) throws {
        guard path != "-" else {
            guard !Terminal.outputIsTerminal else {
                throw Failure("a clip cannot be printed; send it to a file or a pipe: beckon misses export N - > FILE")
            }
            return Output.write(bytes: bytes)
        }
        let file = FileDescriptor(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600))
        guard file.isOpen else {
            let reason = errno == EEXIST ? "it exists already; choose another name" : SystemError.text(errno)
            throw Failure("\(printable(path)): \(reason)")
        }
        guard writeAll(bytes, to: file.rawValue) else {
            let reason = SystemError.text(errno)
            unlink(path)
            throw Failure("\(printable(path)): \(reason)")
        }
        if !json { Output.write("\(printable(path)): \(counted(bytes.count, "byte"))\n") }
    }
}
