import Configuration
import Core
private import Glibc
import System

/// `--instance`: which of several services a command speaks to, or is. Its name goes to the environment, where all places are derived from it,
/// and the programs of actions find it.
enum InstanceOption {
    /// Moves an instance before the command behind it: `beckon -i kitchen status` is `beckon status --instance kitchen`.
    static func moved(_ words: [String]) throws(UsageError) -> [String] {
        guard let first = words.first else { return words }
        let name: String?
        var rest = words.dropFirst()
        if first == "-i" || first == "--instance" {
            name = rest.popFirst()
        } else if first.hasPrefix("--instance=") {
            name = String(first.dropFirst(11))
        } else if first.hasPrefix("-i"), first.count > 2 {
            name = String(first.dropFirst(2))
        } else {
            return words
        }
        guard let name, let command = rest.popFirst() else {
            throw UsageError("\(first) needs the name of an instance and a command, as in beckon -i kitchen status")
        }
        return [command, "--instance", name] + rest
    }

    /// Refuses an instance for a command that knows none.
    static func check(_ words: some Collection<String>, _ command: String, _ declaration: CommandDeclaration)
        throws(UsageError)
    {
        guard words.first == "--instance", !declaration.options.contains(where: { $0.name == "--instance" }) else {
            return
        }
        throw UsageError("\(command) speaks to no service, and takes no instance")
    }

    /// From now on the environment names the instance of the command line, else the one that it named before.
    static func use(_ arguments: Arguments) throws(UsageError) {
        guard let name = arguments.value("--instance") else {
            guard let name = OwnEnvironment.variables[Instance.variable], !name.isEmpty,
                Instance(name) == nil
            else { return }
            throw UsageError("\(Instance.variable) is '\(printable(name))'; it takes \(Instance.expected)")
        }
        guard !arguments.has("--socket") else {
            throw UsageError("--socket and --instance both name a service; give one of them")
        }
        setenv(Instance.variable, name, 1)
        // It names another service.
        unsetenv("BECKON_SOCKET")
    }

    /// The configuration that a command reads which was given none.
    ///
    /// - Returns: nil if there is none, and the defaults apply.
    /// - Throws: for an instance without a configuration: it would listen to any microphone.
    static func configuration(_ environment: [String: String]) throws(Failure) -> String? {
        if let path = ConfigurationFile.find(environment: environment) { return path }
        guard let instance = Instance.named(in: environment) else { return nil }
        let places = [
            ConfigurationFile.userPath(environment: environment),
            ConfigurationFile.systemPath(environment: environment),
        ]
        throw Failure(
            "the instance \(instance.name) has no configuration at \(places.compactMap { $0 }.joined(separator: " or ")); "
                + "beckon -i \(instance.name) config init writes one"
        )
    }
}

extension SharedOptions {
    static let instance = Option(
        name: "--instance",
        short: "-i",
        value: OptionValue(
            placeholder: "NAME",
            title: "instance",
            completion: .instance,
            expected: Instance.expected,
            accepts: { Instance($0) != nil }
        ),
        help: "one of several services, each with a microphone, such as kitchen (default: $BECKON_INSTANCE)",
        manual: """
            It may stand before the command:
            .Ql beckon -i kitchen status .
            """
    )
}
