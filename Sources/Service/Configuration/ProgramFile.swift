private import Core
private import Glibc
private import System

/// A file that an action is to run.
public enum ProgramFile {
    /// Why a file cannot be run, and what to do; nil if it can.
    public static func problem(_ path: String) -> String? {
        let name = FileName.cString(path)
        guard access(name, F_OK) == 0 else { return "no such program: \(printable(path))" }
        if isFolder(path) { return "is a folder, not a program: \(printable(path))" }
        return access(name, X_OK) == 0 ? nil : "may not be executed: \(printable(path)); try chmod +x"
    }

    /// Where a program lies that is named without its folder, as a shell would find it.
    ///
    /// - Parameter folders: folders with colons between, as in `PATH`.
    /// - Returns: nil if none of the folders has it.
    public static func find(_ name: String, in folders: String = "/usr/local/bin:/usr/bin:/bin") -> String? {
        guard !name.isEmpty, !name.contains("/") else { return nil }
        return folders.split(separator: ":").map { "\($0)/\(name)" }.first { problem($0) == nil }
    }

    /// Whether the system's service, which sees no home folders and has a `/tmp` of its own, cannot find a file.
    ///
    /// - Parameter path: an absolute path.
    public static func isHiddenFromService(_ path: String) -> Bool {
        ["/home/", "/root/", "/run/user/", "/tmp/", "/var/tmp/"].contains { path.hasPrefix($0) }
    }
}
