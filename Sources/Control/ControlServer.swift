public import Configuration
private import Core
public import System

/// The control socket: commands in, one JSON line back for each; and the stream of events for whoever asks for it.
///
/// One socket serves both. `events` is answered with the status, and then with one line for each event.
public final class ControlServer: Sendable {
    /// What became of a command.
    public enum Reply: Equatable, Sendable {
        case done
        /// Something to be told: members of a JSON object, such as `"state": "muted"`.
        case status(String)
        case failed(String)

        var json: String {
            switch self {
            case .done: "{\"ok\": true}"
            case .status(let members): "{\"ok\": true, \(members)}"
            case .failed(let reason): "{\"ok\": false, \"error\": \(jsonString(reason))}"
            }
        }
    }

    private let server: LineServer

    /// - Parameter perform: carries a command out; called on the socket's own thread, and never with `events`.
    /// - Throws: ``ControlError/socket``.
    public init(
        path: String,
        settings: LineServer.Settings = LineServer.Settings(),
        perform: @escaping @Sendable (ControlCommand) -> Reply
    ) throws(ControlError) {
        let answer: @Sendable (String) -> LineServer.Answer = { line in
            do throws(ControlError) {
                let command = try ControlCommand(line: line)
                return command == .events ? .listen : .line(perform(command).json)
            } catch {
                return .line(Reply.failed(error.description).json)
            }
        }
        let snapshot: @Sendable (String?) -> String = { _ in perform(.status).json }
        do throws(SocketError) {
            server = try LineServer(path: path, settings: settings, snapshot: snapshot, answer: answer)
        } catch {
            throw ControlError(error)
        }
    }

    public var counts: LineServer.Counts { server.counts }

    /// Sends a line to all who asked for events.
    public func publish(_ line: String) { server.publish(line) }

    public func stop() { server.stop() }

    /// Where the daemon makes its socket: in the folder that systemd made for it, else in the user's run-time folder.
    public static func path(for socket: Configuration.Socket, environment: [String: String]) -> String? {
        switch socket {
        case .none: return nil
        case .path(let path): return path
        case .auto:
            // systemd separates several folders by colons.
            if let folder = environment["RUNTIME_DIRECTORY"]?.split(separator: ":").first {
                return "\(folder)/control.socket"
            }
            if let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") {
                return folder + "/beckon/control.socket"
            }
            return systemPath
        }
    }

    /// Where the system's service has its socket.
    public static let systemPath = "/run/beckon/control.socket"
}
