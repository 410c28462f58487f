private import Core
private import FoundationEssentials

/// The file that a command writes its HTML page to.
struct ReportFile {
    private let path: String
    /// The option that names it, for messages.
    private let option: String

    /// Checks that the file can be written, so that no work is wasted.
    init(_ path: String, option: String) throws {
        self.path = path
        self.option = option
        var isFolder = false
        let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard !isFolder, FileManager.default.isWritableFile(atPath: exists ? path : folder) else {
            throw Failure(
                "\(printable(path)): cannot write the report here; give \(option) a file in a folder that exists and may be "
                    + "written to"
            )
        }
    }

    func write(_ html: String) throws {
        // A regular file is replaced atomically; a device or a pipe cannot be replaced and is written in place.
        let kind = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
        do {
            let isWhole = kind == nil || kind == .typeRegular
            try Data(html.utf8).write(to: URL(fileURLWithPath: path), options: isWhole ? .atomic : [])
        } catch {
            throw Failure("\(printable(path)): cannot write the report; check free space and permissions")
        }
    }
}
