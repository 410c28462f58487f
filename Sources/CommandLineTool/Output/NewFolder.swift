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

/// Like ``makeFolder(_:)`` for a folder whose name the program makes: another program's link of this name is not followed.
func makeOwnFolder(_ path: String) throws(Failure) {
    var status = stat()
    guard lstat(FileName.cString(path), &status) != 0 || status.st_mode & S_IFMT != S_IFLNK else {
        throw Failure("\(printable(path)): cannot write into this folder: it is a symbolic link; remove the link")
    }
    try makeFolder(path)
}
