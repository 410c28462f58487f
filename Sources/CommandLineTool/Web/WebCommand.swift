import Configuration
private import Control
private import Core
private import FoundationEssentials
private import System
import Web

/// `beckon web token` and `beckon web link`: the secret that changes on the live page need; needs no running service.
struct WebCommand {
    private enum Task: String { case token, link }

    private let task: Task
    private let renews: Bool

    init(_ arguments: Arguments) throws(UsageError) {
        guard let task = arguments.task.flatMap(Task.init) else { throw UsageError("web needs token or link") }
        guard arguments.operands.isEmpty else { throw UsageError("web \(task.rawValue) takes options only") }
        self.task = task
        renews = arguments.has("--new")
    }

    /// Where a running service listens, and keeps its token.
    private struct Running {
        var listen: [ListenAddress] = []
        var folder: String?

        /// Asks the service over its control socket; nil if none answers there.
        init?() {
            do throws(ControlError) {
                var client = try ControlClient(
                    path: ControlClient.findPath(environment: ProcessInfo.processInfo.environment)
                )
                try client.send(.status)
                guard let line = try client.nextLine() else { return nil }
                let answer = try ControlAnswer(line: line)
                // A service of an earlier version does not say.
                guard answer.error == nil, answer.value("stateFolder") != nil else { return nil }
                folder = answer.value("stateFolder")
                var index = 0
                while let text = answer.value("webListen[\(index)]") {
                    if let address = try? ListenAddress(text) { listen.append(address) }
                    index += 1
                }
            } catch {
                return nil
            }
        }
    }

    /// Runs the command. Returns the exit status.
    func run() throws -> Int32 {
        let running = Running()
        guard let folder = running?.folder ?? StateFolder.path() else {
            throw Failure("no folder for the token: HOME, XDG_STATE_HOME and STATE_DIRECTORY are not set")
        }
        let address = task == .link ? try self.address(running) : ""
        let token = try WebToken.obtain(in: folder, renews: renews)
        Output.write(task == .link ? "\(address)/#token=\(token)\n" : token + "\n")
        return 0
    }

    /// Where the page is: at the running service, or else by the configuration that it would read.
    private func address(_ running: Running?) throws -> String {
        if let running {
            guard let address = running.listen.lazy.compactMap(\.pageAddress).first else {
                throw Failure(
                    "the running service has no web.listen with an address such as \"tcp://127.0.0.1:10480\"; add it to its "
                        + "configuration, then beckon reload"
                )
            }
            return address
        }
        let environment = ProcessInfo.processInfo.environment
        let path = ConfigurationFile.find(environment: environment)
        let configuration = try path.map { path in
            do throws(ConfigurationError) {
                return try ParsedConfiguration(path: path).configuration
            } catch {
                throw Failure("\(printable(path)) has mistakes; beckon config check tells which")
            }
        }
        guard let address = configuration?.web.listen.compactMap(\.pageAddress).first else {
            throw Failure("the configuration has no web.listen, such as \"tcp://127.0.0.1:10480\"")
        }
        return address
    }
}

extension ListenAddress {
    /// The address of the page as a browser on this machine takes it; nil for a unix socket.
    fileprivate var pageAddress: String? {
        guard case .tcp(let host, let port) = self else { return nil }
        switch host {
        case "0.0.0.0", "::": return "http://localhost:\(port)"
        default: return "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
        }
    }
}
