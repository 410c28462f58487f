private import Glibc
import System

/// Who else may change a file that names programs to run: neither root nor the user of this process.
struct FileTrust {
    /// One line each: what is wrong, and what to do.
    let doubts: [String]

    /// - Parameter user: the user that the file may belong to, beside root.
    init(path: String, _ file: FileStatus, user: UInt32 = geteuid()) {
        let end = path.lastIndex(of: "/")
        let folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        var doubts: [String] = []
        func isForeign(_ status: FileStatus) -> Bool { status.owner != 0 && status.owner != user }
        if isForeign(file) {
            doubts.append("another user (\(file.owner)) owns this file, which names programs to run; try chown")
        }
        if let writers = Self.writers(file) {
            doubts.append("\(writers.who) may write this file, which names programs to run; try chmod \(writers.mode)")
        }
        // In a folder with the sticky bit, such as /tmp, nobody replaces the files of others.
        if let status = try? FileStatus(path: folder) {
            if isForeign(status) {
                doubts.append(
                    "another user (\(status.owner)) owns the folder \(folder) and may replace this file; try chown"
                )
            } else if let writers = Self.writers(status), status.permissions & 0o1000 == 0 {
                doubts.append(
                    "\(writers.who) may write to the folder \(folder) and replace this file; try chmod \(writers.mode)"
                )
            }
        }
        self.doubts = doubts
    }

    private static func writers(_ status: FileStatus) -> (who: String, mode: String)? {
        if status.permissions & 0o002 != 0 { return ("everybody", "go-w") }
        return status.permissions & 0o020 != 0 ? ("the group \(status.group)", "g-w") : nil
    }
}
