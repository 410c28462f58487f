import Configuration
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

    /// Runs the command. Returns the exit status.
    func run() throws -> Int32 {
        guard let folder = StateFolder.path() else {
            throw Failure("no folder for the token: HOME, XDG_STATE_HOME and STATE_DIRECTORY are not set")
        }
        let address = task == .link ? try self.address() : ""
        let token = try WebToken.obtain(in: folder, renews: renews)
        Output.write(task == .link ? "\(address)/#token=\(token)\n" : token + "\n")
        return 0
    }

    /// Where the page is, by the configuration that the service would read.
    private func address() throws -> String {
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
