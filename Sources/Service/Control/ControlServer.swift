public import Configuration
public import Core
public import Events
public import Network
import Spotting
import Synchronization
import System

/// The server of the control socket: answers each command with one JSON line, and streams events to clients that ask.
///
/// The answer to `events` is the status, followed by one line for each event.
public final class ControlServer: EventSink {
    /// Shared with the socket's thread: holds the performer, which is set only when the service has started.
    private final class Handler: Sendable {
        /// An object, because reading a closure out of a generic container wraps it in another closure, which is written back:
        /// each command would make all later ones deeper.
        private final class Box: Sendable {
            let performer: ControlPerformer

            init(_ performer: @escaping ControlPerformer) { self.performer = performer }
        }

        private let box = AtomicLazyReference<Box>()

        func set(_ performer: @escaping ControlPerformer) { _ = box.storeIfNil(Box(performer)) }

        func perform(_ command: ControlCommand, _ later: @escaping @Sendable (ControlReply) -> Void) -> ControlReply? {
            guard let box = box.load() else { return .failed("the service is just starting") }
            return box.performer(command, later)
        }
    }

    private let server: LineServer
    private let handler: Handler

    /// Opens the socket. Commands fail until ``start(_:)`` is called.
    ///
    /// - Throws: ``ControlError/inUse`` where another service listens there, ``ControlError/socket``.
    public init(path: String, settings: LineServer.Settings = defaultSettings) throws(ControlError) {
        let handler = Handler()
        self.handler = handler
        let answer: @Sendable (String, LineServer.Reply) -> LineServer.Answer = { line, later in
            do throws(ControlError) {
                let command = try ControlCommand(line: line)
                if command == .events { return .listen }
                let reply = handler.perform(command) { later.send("\($0.json)") }
                return reply.map { .line("\($0.json)") } ?? .later
            } catch {
                return .line("\(ControlReply.failed(error.description).json)")
            }
        }
        let snapshot: @Sendable (String?) -> String = { _ in
            let reply = handler.perform(.status) { _ in }
            return "\((reply ?? .done).json)"
        }
        do throws(SocketError) {
            server = try LineServer(path: path, settings: settings, snapshot: snapshot, answer: answer)
        } catch {
            throw ControlError(error)
        }
    }

    /// Opens the socket and executes commands from the start.
    public convenience init(path: String, perform: @escaping @Sendable (ControlCommand) -> ControlReply)
        throws(ControlError)
    {
        try self.init(path: path)
        start { command, _ in perform(command) }
    }

    /// No user may hold more than half of the connections.
    public static var defaultSettings: LineServer.Settings {
        var settings = LineServer.Settings()
        settings.perUser = settings.clients / 2
        return settings
    }

    /// Executes commands from now on. Any thread.
    ///
    /// - Parameter perform: called on the socket's thread, and never with `events`.
    public func start(_ perform: @escaping ControlPerformer) { handler.set(perform) }

    /// Counts of clients and of misuse. Any thread.
    public var counts: LineServer.Counts { server.counts }

    /// Sends an event to all clients that asked for events; near misses are asked for by `misses`.
    public func receive(_ event: DetectionEvent) {
        if event.kind != .nearMiss { publish("\(event.json)") }
    }

    public func withheld(_ event: DetectionEvent, _ reason: WithheldReason) {
        publish("\(event.json(withheld: reason))")
    }

    /// Sends a line to all clients that asked for events.
    public func publish(_ line: String) { server.publish(line) }

    /// Makes the socket's file again if it was deleted; the connections stay.
    ///
    /// - Returns: whether it was made again.
    /// - Throws: ``SocketError``, for instance if its folder was deleted too.
    public func restore() throws(SocketError) -> Bool { try server.restore() }

    /// Sends the lines published so far, closes all connections and removes the socket's file.
    ///
    /// - Parameter time: when to give up, on `Clock`; nil: never.
    /// - Returns: whether it has ended.
    @discardableResult
    public func stop(until time: Instant? = nil) -> Bool { server.stop(until: time) }

    /// The path of the daemon's socket; nil for `.none`.
    ///
    /// For `.auto`: in systemd's `RUNTIME_DIRECTORY`, else in the user's `XDG_RUNTIME_DIR`, else ``systemPath``.
    public static func path(for socket: Configuration.Socket, environment: [String: String]) -> String? {
        switch socket {
        case .none: return nil
        case .path(let path): return path
        case .auto:
            // systemd separates folders by colons.
            if let folder = environment["RUNTIME_DIRECTORY"]?.split(separator: ":").first {
                return "\(folder)/control.socket"
            }
            if let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") {
                return "\(folder)/\(Instance.named(in: environment).unit)/control.socket"
            }
            return systemPath(environment: environment)
        }
    }

    /// What the unit of the wake-word server without a microphone is called, and the folder of its control socket.
    public static let wakeServerUnit = "beckon-serve"

    /// The path of the control socket of a wake-word server without a microphone; nil for none.
    public static func wakeServerPath(environment: [String: String]) -> String? {
        if let folder = environment["RUNTIME_DIRECTORY"]?.split(separator: ":").first {
            return "\(folder)/control.socket"
        }
        return environment["XDG_RUNTIME_DIR"].flatMap {
            $0.hasPrefix("/") ? "\($0)/\(wakeServerUnit)/control.socket" : nil
        }
    }

    /// The path of the system service's socket, or of that of the instance that the environment names.
    public static func systemPath(environment: [String: String]) -> String {
        "/run/\(Instance.named(in: environment).unit)/control.socket"
    }

    /// The path of the system service's socket.
    public static let systemPath = "/run/beckon/control.socket"
}
