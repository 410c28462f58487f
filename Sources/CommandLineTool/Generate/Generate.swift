private import Configuration
private import Core
private import Inference
private import System

/// `beckon generate manual PAGE`: prints the manual page with its lists of options made anew from the commands' declarations.
/// `beckon generate models` and `instances`: prints the names of the models that came with the program, and of the instances that have a
/// configuration, one a line, for the shells' completions.
///
/// `beckon help` does not list it: `make generate` calls it, and a test compares the committed page with its output.
struct Generate {
    private enum Task {
        case manual(String)
        case models, instances
    }

    private let task: Task

    init(_ words: some Collection<String>) throws(UsageError) {
        switch Array(words) {
        case ["models"]:
            task = .models
            return
        case ["instances"]:
            task = .instances
            return
        default: break
        }
        guard words.first == "manual", words.count == 2, let page = words.dropFirst().first else {
            throw UsageError("generate takes manual and the page to renew; for a shell see beckon completions")
        }
        task = .manual(page)
    }

    /// Prints the page or the names. Returns the exit status.
    func run() throws -> Int32 {
        switch task {
        case .models: Self.write(ModelFolder.names)
        case .instances:
            let all = InstanceConfiguration.all(environment: OwnEnvironment.variables)
            Self.write(Set(all.compactMap { $0.instance?.name }).sorted())
        case .manual(let page): try renew(page)
        }
        return 0
    }

    private static func write(_ names: [String]) { Output.write(names.map { printable($0) + "\n" }.joined()) }

    private func renew(_ page: String) throws {
        guard let data = try? readFile(page, limit: 1 << 24).bytes else {
            throw Failure("\(printable(page)): cannot read this page")
        }
        Output.write(try ManualLists(CommandLineTool.declarations).renew(String(decoding: data, as: UTF8.self)))
    }
}
