import Control
private import Core
private import FoundationEssentials

/// `beckon status`, `mute`, `unmute`, `reload`, `set` and `events`: commands to the running service.
struct ControlVerb {
    private let command: ControlCommand
    private let socket: String?
    private let json: Bool

    init(_ arguments: Arguments) throws(UsageError) {
        do throws(ControlError) {
            command = try ControlCommand(line: ([arguments.command] + arguments.operands).joined(separator: " "))
        } catch {
            throw UsageError(error.description)
        }
        socket = arguments.value("--socket")
        json = arguments.has("--json")
    }

    /// Runs the command. Returns the exit status.
    func run() throws -> Int32 {
        let path = socket ?? ControlClient.findPath(environment: ProcessInfo.processInfo.environment)
        var client = try ControlClient(path: path)
        try client.send(command)
        guard let line = try client.nextLine() else {
            throw Failure("\(path): the service closed the connection; try again")
        }
        let answer = try ControlAnswer(line: line)
        if let error = answer.error { throw Failure(error) }
        if json {
            Output.write(line + "\n")
        } else if command != .events {
            Output.write(answer.lines.map { printable($0) + "\n" }.joined())
        }
        guard command == .events else { return 0 }
        while let event = try client.nextLine(within: nil) {
            Output.write(event + "\n")
            if Output.hasFailed { return 1 }
        }
        throw Failure("the service stopped; no more events")
    }
}
