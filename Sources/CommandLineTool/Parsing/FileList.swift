private import Core
private import FoundationEssentials
private import Glibc
private import System

/// The files to process: the named files, and the audio files in the named folders.
struct FileList {
    private(set) var files: [String] = []
    /// One line for each named folder that gave no file or cannot be read.
    private(set) var problems: [String] = []

    /// The file name extensions that are taken from folders; a file named by the user may have any.
    static let audioEndings: Set<String> = [
        "wav", "wave", "w64", "rf64", "flac", "ogg", "oga", "opus", "mp3", "aif", "aiff", "aifc", "au", "snd", "caf",
    ]

    init(paths: [String]) {
        for path in paths { add(path) }
    }

    private mutating func add(_ path: String) {
        guard path.utf8.count < Self.longestName else {
            problems.append("\(Self.tooLong(path)); give one name per line")
            return
        }
        var isFolder = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder else {
            // A file that does not exist or is not audio is reported later, when it is opened.
            files.append(path)
            return
        }
        let before = files.count
        search(path)
        if files.count == before {
            problems.append("\(path): no audio files in this folder (wav, flac, ogg, opus, mp3, aiff, …)")
        }
    }

    /// Adds the audio files of a folder and of those below it, sorted by name; hidden ones and links to folders are skipped.
    private mutating func search(_ folder: String) {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder)
        } catch {
            problems.append("\(folder): cannot read this folder; check its permissions")
            return
        }
        for name in names.sorted() where !name.hasPrefix(".") {
            let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
            let kind = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
            if kind == .typeDirectory {
                search(path)
            } else if Self.audioEndings.contains(PathName(name).ending.lowercased()) {
                files.append(path)
            }
        }
    }

    /// Bytes of a path that no file can have, as the end of its C string counts (PATH_MAX).
    static let longestName = 4096
    /// The longest list of names, in bytes.
    private static let longestList = 64 << 20

    private static func tooLong(_ name: String) -> String {
        "\(printable(String(name.prefix(40))))…: \(name.utf8.count) bytes, longer than the name of a file can be"
    }

    /// The names of a list in a file.
    static func names(inFile path: String) throws(Failure) -> [String] {
        let bytes: [UInt8]
        do throws(ReadFileError) {
            bytes = try readFile(path, limit: longestList).bytes
        } catch {
            throw Failure("\(printable(path)): cannot read this list of clips, a text file of at most 64 MiB")
        }
        let names = names(in: bytes, nulSeparated: false)
        if let name = names.first(where: { $0.utf8.count >= longestName }) {
            throw Failure("\(printable(path)): \(tooLong(name)); is it a list of clips?")
        }
        return names
    }

    /// Splits a list from standard input; empty names are skipped.
    static func names(in data: [UInt8], nulSeparated: Bool) -> [String] {
        let separator: UInt8 = nulSeparated ? 0 : 10
        return data.split(separator: separator).map { part in
            // A list written on another system may end its lines with CR LF.
            let part = !nulSeparated && part.last == 13 ? part.dropLast() : part
            return String(decoding: part, as: UTF8.self)
        }.filter { !$0.isEmpty }
    }

    /// All of standard input.
    static func standardInput() throws(Failure) -> [UInt8] {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try readAll(STDIN_FILENO, most: longestList)
        } catch {
            throw Failure("cannot read standard input: \(SystemError.text(error.number))")
        }
        guard bytes.count <= longestList else {
            throw Failure("standard input: a list of more than 64 MiB; give fewer names")
        }
        return bytes
    }
}
