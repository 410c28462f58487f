private import Core
import Glibc

/// The folder for what the service keeps over restarts: taught words, the token of the web server.
public enum StateFolder {
    /// That of the system's service, which systemd makes when the service first starts.
    public static let ofService = "/var/lib/beckon"

    /// The folder of the words that both services of the system detect; the package makes it. The wake-word server may read it, and nothing else
    /// that the service with the microphone keeps.
    public static let ofWords = "/var/lib/beckon-words"

    /// The first of: the service's state directory (for the service, and for root if it exists), the user's state directory.
    ///
    /// - Parameter variable: an environment variable's value; nil for the program's own.
    /// - Returns: nil if there is none, for lack of a home.
    public static func path(_ variable: ((String) -> String?)? = nil) -> String? {
        let variable = variable ?? { getenv($0).map { String(cString: $0) } }
        func folder(_ name: String) -> String? { variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil } }
        if let folder = folder("STATE_DIRECTORY")?.split(separator: ":").first { return String(folder) }
        if geteuid() == 0, fileExists(ofService) { return ofService }
        if let folder = folder("XDG_STATE_HOME") { return folder + "/beckon" }
        return folder("HOME").map { $0 + "/.local/state/beckon" }
    }

    /// The folder of an instance for what it does not share with other services, such as its token; without an instance as ``path(_:)``.
    ///
    /// - Parameters:
    ///   - instance: nil for the service without a name.
    ///   - variable: as for ``path(_:)``.
    public static func path(of instance: Instance?, _ variable: ((String) -> String?)? = nil) -> String? {
        guard let instance else { return path(variable) }
        let read = variable ?? { getenv($0).map { String(cString: $0) } }
        // systemd names the folder of the instance already.
        if read("STATE_DIRECTORY")?.hasPrefix("/") == true { return path(variable) }
        let system = "/var/lib/" + instance.folder
        if geteuid() == 0, fileExists(system) { return system }
        return path(variable).map { splitPath($0).folder + instance.folder }
    }

    /// Makes a folder and those above it, for its owner alone, as far as they are missing.
    public static func make(_ path: String) {
        var folder = path.hasPrefix("/") ? "" : "."
        for part in path.split(separator: "/") {
            folder += "/" + part
            mkdir(FileName.cString(folder), 0o700)
        }
    }
}
