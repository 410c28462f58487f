import Core
import System

/// How the service of a configuration is started: a command, and the unit that it needs where none is installed.
struct ServiceStart: Equatable {
    /// A unit of systemd that is still to be written.
    struct Unit: Equatable {
        let path: String
        let text: String
    }

    let command: String
    var unit: Unit?

    /// A command that needs no unit.
    init(command: String) { self.command = command }

    /// - Parameters:
    ///   - instance: nil for the service without a name.
    ///   - isRoot: whether it is the system's service, not the user's.
    ///   - program: the absolute path of this program.
    ///   - exists: whether there is a file or a folder.
    init(
        _ instance: Instance?,
        isRoot: Bool,
        environment: [String: String],
        program: String,
        exists: (String) -> Bool = fileExists
    ) {
        let file = instance == nil ? "beckon.service" : "beckon@.service"
        let kind = isRoot ? "system" : "user"
        let home = Self.configurationFolder(environment)
        let folders = ["/etc/systemd/", "/usr/local/lib/systemd/", "/usr/lib/systemd/", "/lib/systemd/"].map {
            $0 + kind
        }
        let isInstalled = (folders + (isRoot ? [] : home.map { [$0 + "/systemd/user"] } ?? [])).contains {
            exists("\($0)/\(file)")
        }
        let runs = exists(
            isRoot ? "/run/systemd/system" : (environment["XDG_RUNTIME_DIR"] ?? "/nonexistent") + "/systemd"
        )
        if runs, isInstalled {
            let unit = instance.unit
            // A unit that runs already reads the new file, one that does not is started.
            command =
                isRoot
                ? "systemctl enable \(unit) && systemctl restart \(unit)" : "systemctl --user enable --now \(unit)"
        } else if runs, !isRoot, instance == nil, let home {
            command = "systemctl --user daemon-reload && systemctl --user enable --now beckon"
            unit = Unit(path: "\(home)/systemd/user/\(file)", text: Self.text(program))
        } else {
            command = "beckon \(instance.map { "-i \($0.name) " } ?? "")listen"
        }
    }

    private static func configurationFolder(_ environment: [String: String]) -> String? {
        func folder(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        return folder("XDG_CONFIG_HOME") ?? folder("HOME").map { $0 + "/.config" }
    }

    /// The user's unit of the package, with the program where it lies. A test compares it with the package's.
    static func text(_ program: String) -> String {
        // As systemd.service(5) asks: in quotes, with its own marks doubled.
        let marks = ["\\": "\\\\", "\"": "\\\"", "%": "%%", "$": "$$"]
        let plain = program.utf8.allSatisfy { $0 > 0x20 && !"\"'\\%$".utf8.contains($0) }
        let name = plain ? program : "\"" + program.map { marks[String($0)] ?? String($0) }.joined() + "\""
        return """
            [Unit]
            Description=Beckon, spoken command words
            Documentation=man:beckon(1) man:beckon.conf(5)
            # The desktop's sound server; those that are not installed are ignored.
            After=pipewire.service pipewire-pulse.service pulseaudio.service
            StartLimitIntervalSec=60
            StartLimitBurst=12

            [Service]
            Type=notify
            # Reads ~/.config/beckon/config.json5 if it exists, else /etc/beckon/config.json5.
            ExecStart=\(name) listen
            ExecReload=\(name) reload --socket %t/beckon/control.socket
            Restart=on-failure
            RestartSec=1s
            # A wrong command line (2) or configuration (78) does not become right by trying again.
            RestartPreventExitStatus=2 78
            TimeoutStartSec=30s
            TimeoutStopSec=10s
            WatchdogSec=20s
            RuntimeDirectory=beckon
            RuntimeDirectoryMode=0700
            UMask=0077
            LimitCORE=0

            # Programs of actions inherit these restrictions, so only what no ordinary program needs is forbidden.
            NoNewPrivileges=yes
            LockPersonality=yes
            RestrictSUIDSGID=yes
            SystemCallArchitectures=native

            [Install]
            WantedBy=default.target

            """
    }
}
