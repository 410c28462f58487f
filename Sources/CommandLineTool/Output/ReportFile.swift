private import Core
private import FoundationEssentials

/// The file that a command writes a page to.
struct ReportFile {
    private let path: String
    /// The option that names it, for messages.
    private let option: String

    /// Checks that the file can be written, before any work is done.
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
        // A file is replaced as a whole or not at all; a device or a pipe cannot be replaced.
        let kind = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
        do {
            let isWhole = kind == nil || kind == .typeRegular
            try Data(html.utf8).write(to: URL(fileURLWithPath: path), options: isWhole ? .atomic : [])
        } catch {
            throw Failure("\(printable(path)): cannot write the report; is there room left, and may it be written to?")
        }
    }
}
