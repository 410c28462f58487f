import Core
private import ESPHome
private import System

/// `beckon esphome key`: the key that Home Assistant needs to connect to the voice satellite; needs no running service.
struct ESPHomeCommand {
    private let renews: Bool

    init(_ arguments: Arguments) throws(UsageError) {
        guard arguments.task == "key" else { throw UsageError("esphome needs key") }
        guard arguments.operands.isEmpty else { throw UsageError("esphome key takes options only") }
        renews = arguments.has("--new")
    }

    /// Runs the command. Returns the exit status.
    func run() throws -> Int32 {
        guard let folder = StateFolder.path(of: Instance.named(in: OwnEnvironment.variables)) else {
            throw Failure("no folder for the key: HOME, XDG_STATE_HOME and STATE_DIRECTORY are not set")
        }
        let key = try APIKey.obtain(in: folder, renews: renews)
        Output.write(key + "\n")
        // A picture is for people.
        guard Terminal.outputIsTerminal else { return 0 }
        if let code = QRCode(key) {
            Output.write("\n" + code.lines.joined(separator: "\n") + "\n")
        } else {
            Output.report(.notice, "with libqrencode4 it is shown as a QR code, too")
        }
        return 0
    }
}
