private import Core
private import Glibc
private import System

/// A file that a command writes its HTML page to.
struct ReportFile {
    private let path: String
    /// The option that names it, or its folder, for messages.
    private let option: String
    /// Whether the user named the file: a link is then the user's own, and is followed.
    private let isNamed: Bool

    /// A file that the user named. Checks that it can be written, so that no work is wasted.
    init(_ path: String, option: String) throws {
        (self.path, self.option, isNamed) = (path, option, true)
        let kind = NamedFile.kind(path)
        let folder = parentFolder(path)
        guard kind != .folder, access(FileName.cString(kind == .missing ? folder : path), W_OK) == 0 else {
            throw Failure(
                "\(printable(path)): cannot write the report here; give \(option) a file in a folder that exists and may be "
                    + "written to"
            )
        }
    }

    /// A file whose name the program makes: what lies there under the name is replaced, and a link is not followed.
    ///
    /// - Parameter option: the option that names the folder.
    init(made path: String, option: String) { (self.path, self.option, isNamed) = (path, option, false) }

    func write(_ html: String) throws(Failure) {
        do {
            let bytes = Array(html.utf8)
            if isNamed {
                try NamedFile.write(bytes, to: path)
            } else {
                try replaceFile(path, mode: nil, durable: false, bytes)
            }
        } catch {
            let reason = (error as? SystemError).map { SystemError.text($0.number) } ?? "\(error)"
            throw Failure(
                "\(printable(path)): cannot write the report; check free space and permissions (\(reason))"
            )
        }
    }
}
