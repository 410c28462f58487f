import Core
private import Glibc
private import System

/// Makes a folder and those above it, if they are missing.
///
/// - Throws: a ``Failure`` that names the path which cannot be made, and why.
func makeFolder(_ path: String) throws(Failure) {
    let ends = path.indices.filter { path[$0] == "/" && $0 > path.startIndex } + [path.endIndex]
    for end in ends {
        let part = String(path[..<end])
        var status = stat()
        if stat(part, &status) == 0 {
            guard status.st_mode & S_IFMT != S_IFDIR else { continue }
            throw Failure("\(printable(part)): cannot create this folder: a file has its name; choose another place")
        }
        // Another program may have made it meanwhile.
        guard mkdir(part, 0o777) == 0 || errno == EEXIST else {
            let reason = SystemError.text(errno)
            throw Failure("\(printable(part)): cannot create this folder: \(reason); choose another place")
        }
    }
}
