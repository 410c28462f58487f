private import Glibc
import System

/// Who else may change a file that names programs to run: neither root nor the user of this process.
///
/// - Parameter user: the user that the file may belong to, beside root.
/// - Returns: one line each: what is wrong, and what to do.
func trustDoubts(_ path: String, _ file: FileStatus, user: UInt32 = geteuid()) -> [String] {
    func isForeign(_ status: FileStatus) -> Bool { status.owner != 0 && status.owner != user }
    func writers(_ status: FileStatus) -> (who: String, mode: String)? {
        if status.permissions & 0o002 != 0 { return ("everybody", "go-w") }
        return status.permissions & 0o020 != 0 ? ("the group \(status.group)", "g-w") : nil
    }
    let end = path.lastIndex(of: "/")
    let folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    var doubts: [String] = []
    if isForeign(file) {
        doubts.append("another user (\(file.owner)) owns this file, which names programs to run; try chown")
    }
    if let writers = writers(file) {
        doubts.append("\(writers.who) may write this file, which names programs to run; try chmod \(writers.mode)")
    }
    guard let status = try? FileStatus(path: folder) else { return doubts }
    if isForeign(status) {
        doubts.append("another user (\(status.owner)) owns the folder \(folder) and may replace this file; try chown")
    } else if let writers = writers(status), status.permissions & 0o1000 == 0 {
        // In a folder with the sticky bit, such as /tmp, nobody replaces the files of others.
        doubts.append(
            "\(writers.who) may write to the folder \(folder) and replace this file; try chmod \(writers.mode)"
        )
    }
    return doubts
}
