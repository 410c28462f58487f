private import Configuration
private import Core
private import Enrollment
private import JSON
private import System
private import WakeWords

/// `beckon model add`, `list` and `remove`: wake words with models of their own.
struct ModelCommand {
    private enum Task {
        case list
        case add(String)
        case remove(String)
    }

    private let task: Task
    private let json: Bool

    init(_ arguments: Arguments) throws(UsageError) {
        json = arguments.has("--json")
        let operands = arguments.operands
        switch arguments.task {
        case "list":
            guard operands.isEmpty else { throw UsageError("model list takes no names") }
            task = .list
        case "add":
            guard operands.count == 1 else { throw UsageError("model add takes one file, a model or its manifest") }
            task = .add(operands[0])
        case "remove":
            guard operands.count == 1 else {
                throw UsageError("model remove takes one name; beckon model list lists them")
            }
            task = .remove(operands[0])
        default: throw UsageError("model needs add, list or remove")
        }
    }

    /// Runs the command. Returns the exit status.
    func run() throws -> Int32 {
        if case .list = task {
            list()
            return 0
        }
        guard let folder = WakeWordFolder() else {
            throw Failure("there is no folder to keep wake words in; set HOME, or name the file in --wake-word")
        }
        switch task {
        case .list: break
        case .add(let file):
            let (word, name) = try folder.add(file)
            if json {
                Output.write(Self.object(name, word.manifest, "\(folder.path)/\(name)/\(name).json", false).line)
            } else {
                Output.write(
                    "Added: \(printable(word.name)); name it \(printable(name)) in wakeWords of the configuration, or in --wake-word\n"
                )
            }
        case .remove(let name):
            let removed = try folder.remove(name)
            if !json { Output.write("Removed: \(printable(removed))\n") }
            warn(of: removed)
        }
        return 0
    }

    /// Warns of each place in a configuration that names a wake word that is gone; one that came with the program may have the same name.
    private func warn(of name: String) {
        guard !WakeWordFolder.shipped.contains(where: { WordName.folded($0.name) == WordName.folded(name) }) else {
            return
        }
        for path in ConfigurationFile.inUse {
            // A configuration with mistakes of its own is reported when it is read.
            guard let parsed = try? ParsedConfiguration(path: path) else { continue }
            for place in parsed.places(namingWakeWord: name) { Output.report(.warning, "\(place)") }
        }
    }

    private func list() {
        var table = TextTable(["NAME", "WORD", "THRESHOLD", "LANGUAGES", "FROM"], names: [0, 1, 3, 4])
        let added = WakeWordFolder()?.added ?? []
        // An added one is used in place of the program's of its name.
        let replaced = Set(added.map { WordName.folded($0.name) })
        let shipped = WakeWordFolder.shipped.filter { !replaced.contains(WordName.folded($0.name)) }
        for entry in shipped + added {
            let manifest: WakeWordManifest
            do {
                manifest = try WakeWordManifest(path: entry.manifest)
            } catch {
                Output.report(.warning, "\(error)")
                continue
            }
            if json {
                Output.write(Self.object(entry.name, manifest, entry.manifest, entry.isShipped).line)
            }
            table.add([
                printable(entry.name), printable(manifest.phrase), decimal(manifest.cutoff, 2),
                printable(manifest.languages.joined(separator: ", ")), entry.isShipped ? "the program" : "you",
            ])
        }
        if !json { Output.write(Terminal.outputRoom.map { table.text(columns: $0) } ?? table.text) }
    }

    private static func object(_ name: String, _ manifest: WakeWordManifest, _ file: String, _ isShipped: Bool) -> JSON
    {
        [
            "name": .string(name), "word": .string(WordName.folded(manifest.phrase)),
            "phrase": .string(manifest.phrase),
            "threshold": .number(manifest.cutoff, places: 3), "languages": .strings(manifest.languages),
            "author": .string(manifest.author), "file": .string(file), "shipped": isShipped ? true : false,
        ]
    }
}
