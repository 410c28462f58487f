import Configuration
import Control
import Core
private import Glibc
import JSON
private import Network
import System

/// `beckon backup FILE` and `beckon restore FILE`: configurations, taught words, wake words and secrets of all services.
struct BackupCommand {
    private let restores: Bool
    private let file: String
    private let force: Bool

    /// The first file of a backup: what it is, and where files come from that configurations name elsewhere.
    private static let manifest = "beckon-backup.json"

    init(_ arguments: Arguments) throws(UsageError) {
        restores = arguments.command == "restore"
        guard let file = arguments.operands.first, arguments.operands.count == 1 else {
            throw UsageError(
                "\(arguments.command) takes one file, such as beckon.tar.gz; - is standard \(restores ? "input" : "output")"
            )
        }
        self.file = file
        force = arguments.has("--force")
        guard restores || !force else { throw UsageError("--force goes with restore") }
    }

    /// Runs the command. Returns the exit status.
    func run() throws -> Int32 {
        let environment = OwnEnvironment.variables
        let places = try BackupPlaces(environment: environment)
        let archive = try BackupArchive()
        if restores { try restore(archive, places, environment) } else { try backup(archive, places) }
        return 0
    }

    // MARK: - Backup

    private func backup(_ archive: BackupArchive, _ places: BackupPlaces) throws {
        let (files, named, notes) = try places.read()
        guard !files.isEmpty else {
            throw Failure(
                "there is nothing to keep: no file in \(places.folders.map(\.folder).joined(separator: ", "))"
            )
        }
        let about: JSON = [
            "beckonBackup": 1, "version": .string(version), "date": .string(Timestamp.now.text),
            "named": .strings(named),
        ]
        let first = BackupArchive.File(name: Self.manifest, mode: 0o600, bytes: Array(about.line.utf8))
        let bytes = try archive.write([first] + files, time: Int(Timestamp.now.microseconds / 1_000_000))
        if file == "-" { Output.write(bytes: bytes) } else { try Self.write(bytes, to: file) }
        for note in notes { Output.report(.warning, note) }
        Output.report(
            .notice,
            "\(summary(files)) are in \(file == "-" ? "standard output" : file), with secrets: only its owner may read it"
        )
    }

    /// Writes a file of this user's alone; one that exists is replaced only if it may be an earlier backup.
    private static func write(_ bytes: [UInt8], to path: String) throws {
        if NamedFile.kind(path) != .missing {
            let start = try? readFile(path, start: 2, limit: 2) { _ in 2 }
            guard start == [0x1F, 0x8B] || start == [] else {
                throw Failure("\(printable(path)) exists and is no backup; give another name")
            }
        }
        do throws(SystemError) {
            try replaceFile(path, mode: 0o600, durable: true, bytes)
        } catch {
            throw Failure("\(printable(path)): \(error)")
        }
    }

    private func summary(_ files: [BackupArchive.File]) -> String {
        let configurations = files.count { $0.name.hasPrefix("configuration/") && $0.name.hasSuffix(".json5") }
        let words = files.contains { $0.name == "words/words" } ? ", the taught words" : ""
        let wakeWords = Set(
            files.compactMap { $0.name.hasPrefix("words/wake-words/") ? $0.name.split(separator: "/")[2] : nil }
        ).count
        let wake = wakeWords > 0 ? ", \(counted(wakeWords, "wake word"))" : ""
        return "\(counted(files.count, "file")) (\(counted(configurations, "configuration"))\(words)\(wake))"
    }

    // MARK: - Restore

    private func restore(_ archive: BackupArchive, _ places: BackupPlaces, _ environment: [String: String]) throws {
        let (all, named) = try read(archive)
        // What was elsewhere and is there as it was needs no copy.
        func place(_ file: BackupArchive.File) -> String? {
            guard file.name.hasPrefix(BackupPlaces.named + "/") else { return nil }
            let number = file.name.split(separator: "/").dropFirst().first.flatMap { Int(digits: $0) } ?? 0
            return named.indices.contains(number - 1) ? named[number - 1] : nil
        }
        let files = all.filter { file in
            place(file).map { (try? readFile($0, limit: file.bytes.count))?.bytes != file.bytes } ?? true
        }
        let targets = try files.map { file in
            guard let target = places.target(file.name) else {
                throw Failure(
                    "\(printable(self.file)): \(printable(file.name)) in it is no file of Beckon's; nothing was changed"
                )
            }
            return (file: file, folder: target.folder, parts: target.parts)
        }
        let running = Self.running(places, environment)
        guard running.isEmpty || force else {
            throw Failure(
                "\(running.joined(separator: " and ")) runs; stop it first, or restore with --force and restart it; nothing was changed"
            )
        }
        try RestoredFiles(targets).put()
        Output.report(.notice, "\(summary(files)) were restored")
        for target in targets {
            guard let place = place(target.file) else { continue }
            let copy = "\(target.folder)/\(target.parts.joined(separator: "/"))"
            Output.report(
                .notice,
                "\(place), which a configuration names, is outside of Beckon's folders: copy it there from \(copy)"
            )
        }
        for one in running { Output.report(.notice, "\(one) runs with what it had; restart it") }
    }

    /// The files of a backup but its first, and the paths of those that were elsewhere.
    private func read(_ archive: BackupArchive) throws -> (files: [BackupArchive.File], named: [String]) {
        do {
            let bytes: [UInt8]
            if file == "-" {
                bytes = try readAll(STDIN_FILENO, most: BackupArchive.mostBytes)
            } else {
                bytes = try readFile(file, limit: BackupArchive.mostBytes).bytes
            }
            let files = try archive.read(bytes)
            guard let first = files.first, first.name == Self.manifest,
                let about = try? JSONNode.parse(String(decoding: first.bytes, as: UTF8.self)),
                let version = about["beckonBackup"]?.integer
            else { throw Failure("it is no backup") }
            guard version == 1 else { throw Failure("it is a backup of a later version") }
            return (Array(files.dropFirst()), about["named"]?.elements.compactMap(\.text) ?? [])
        } catch {
            throw Failure("\(printable(file)): \(error); nothing was changed")
        }
    }

    /// The services that run and use what is restored, as messages name them.
    private static func running(_ places: BackupPlaces, _ environment: [String: String]) -> [String] {
        var names = places.configurations.filter { $0.isRunning(environment: environment) }.map(\.title)
        var own = environment
        own[Instance.variable] = nil
        let sockets = [ControlServer.systemPath, ControlClient.findPath(environment: own)]
        let isNamed = places.configurations.contains { $0.instance == nil && $0.isRunning(environment: environment) }
        if !isNamed, sockets.contains(where: { isListening($0) }) { names.append("a service") }
        if let serve = ControlClient.findWakeServer(environment: own), isListening(serve), !names.contains("a service")
        {
            names.append("the wake-word server")
        }
        return names
    }

    private static func isListening(_ path: String) -> Bool { UnixSocket.connect(path) != nil || errno == EACCES }
}
