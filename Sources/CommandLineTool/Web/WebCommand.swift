import Configuration
private import Control
private import Core
private import Network
private import System
import Web

/// `beckon web token` and `beckon web link`: the secret that changes on the live page need; needs no running service.
struct WebCommand {
    private enum Task: String { case token, link }

    private let task: Task
    private let renews: Bool
    private let toFile: Bool

    init(_ arguments: Arguments) throws(UsageError) {
        guard let task = arguments.task.flatMap(Task.init) else { throw UsageError("web needs token or link") }
        guard arguments.operands.isEmpty else { throw UsageError("web \(task.rawValue) takes options only") }
        self.task = task
        renews = arguments.has("--new")
        toFile = arguments.has("--file")
        guard !toFile || task == .link else { throw UsageError("--file is for web link") }
    }

    /// Where a running service listens, and keeps its token.
    private struct Running {
        var listen: [ListenAddress] = []
        var folder: String?

        /// Asks the service over its control socket; nil if none answers there.
        init?() {
            do throws(ControlError) {
                var client = try ControlClient(
                    path: ControlClient.findPath(environment: OwnEnvironment.variables)
                )
                guard case .status(let status) = try client.ask(.status).reply else { return nil }
                // Whoever listens at the socket names the folder: it must be that user's, or root could be made to write anywhere.
                // A service of an earlier version does not name it.
                guard let named = status.stateFolder, let owner = (try? FileStatus(path: named))?.owner,
                    owner == client.user
                else { return nil }
                folder = named
                listen = (status.webListen ?? []).compactMap { try? ListenAddress($0) }
            } catch {
                return nil
            }
        }
    }

    /// Runs the command. Returns the exit status.
    func run() throws -> Int32 {
        let running = Running()
        guard
            let folder = running?.folder
                ?? StateFolder.path(of: Instance.named(in: OwnEnvironment.variables))
        else {
            throw Failure("no folder for the token: HOME, XDG_STATE_HOME and STATE_DIRECTORY are not set")
        }
        let address = task == .link ? try self.address(running) : ""
        let token = try WebToken.obtain(in: folder, renews: renews)
        let link = "\(address)/#token=\(token)"
        switch task {
        case .token: Output.write(token + "\n")
        case .link: Output.write(toFile ? try Self.page(link, in: folder) + "\n" : link + "\n")
        }
        return 0
    }

    /// Writes a page that leads to the link, beside the token: to open it, no program needs the token on its command line, which every user
    /// of the machine can read. Returns its path.
    private static func page(_ link: String, in folder: String) throws -> String {
        let path = folder + "/web.link.html"
        let page = """
            <!DOCTYPE html>
            <meta charset="utf-8">
            <meta name="referrer" content="no-referrer">
            <meta http-equiv="refresh" content="0; url=\(link)">
            <title>Beckon</title>
            <p><a href="\(link)">Beckon's page</a></p>

            """
        do throws(SystemError) {
            // Not durable: it is made anew each time.
            try replaceFile(path, mode: 0o600, durable: false, isForFolderOwner: true, Array(page.utf8))
        } catch {
            throw Failure("\(printable(path)): \(error)")
        }
        return path
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
        let environment = OwnEnvironment.variables
        let path = try InstanceOption.configuration(environment)
        let listen = try path.map { path in
            do throws(ConfigurationError) {
                return try ParsedConfiguration(path: path).unchecked.webListen
            } catch {
                throw Failure("\(printable(path)) has mistakes; beckon config check tells which")
            }
        }
        guard let address = listen?.lazy.compactMap(\.pageAddress).first else {
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
