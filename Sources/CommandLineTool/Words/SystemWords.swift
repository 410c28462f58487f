private import Core
import Enrollment
private import Glibc
private import System

/// Tells root, before a command changes words, that they are those of the system's services: nobody named them.
enum SystemWords {
    /// - Parameter named: the value of `--words`.
    static func announce(_ named: String?) {
        let environment = OwnEnvironment.variables
        if let note = note(named, environment, isRoot: geteuid() == 0) { Output.report(.notice, note) }
    }

    /// The line; nil where the words are a user's own, or were named.
    ///
    /// - Parameter exists: whether there is a file at a path; nil asks the system.
    static func note(
        _ named: String?,
        _ environment: [String: String],
        isRoot: Bool,
        exists: ((String) -> Bool)? = nil
    ) -> String? {
        guard isRoot, named == nil, environment["BECKON_WORDS"] ?? "" == "", environment["STATE_DIRECTORY"] == nil,
            let path = TaughtWords.usualPath(environment, isRoot: isRoot, exists: exists),
            [StateFolder.ofWords, StateFolder.ofService].contains(where: { path.hasPrefix($0 + "/") })
        else { return nil }
        return "this changes the words of the system's services, \(printable(path)); --words FILE names others"
    }
}
