private import Core
import Corpus
private import Glibc
private import System

extension PathName {
    /// Whether a text names an audio file that exists, by its extension.
    static func isAudioFile(_ text: String) -> Bool {
        FileWalk.audioEndings.contains(PathName(text).ending.lowercased()) && fileExists(text)
    }

    /// Whether a text may name a file or a folder: one that exists, or what looks like one.
    static func mayBePath(_ text: String) -> Bool {
        text.utf8.contains(0x2F) || !PathName(text).ending.isEmpty || fileExists(text)
    }

    /// Whether a text may name a file, but not a folder: one that exists, or what looks like one.
    static func mayBeFile(_ text: String) -> Bool {
        if text.utf8.contains(0x2F) || !PathName(text).ending.isEmpty { return true }
        return fileExists(text) && !isFolder(text)
    }
}

/// All files of a command that needs them at once: the named files, and the audio files in the named folders.
struct FileList {
    private(set) var files: [String] = []
    /// One line for each named folder that gave no file or cannot be read.
    private(set) var problems: [String] = []
    /// One line for each named folder with sound files that cannot be read.
    private(set) var notes: [String] = []

    init(paths: [String]) {
        var walk = FileWalk(paths: paths)
        while let item = walk.next() {
            switch item {
            case .file(let name): files.append(name)
            case .problem(let line): problems.append(line)
            case .note(let line): notes.append(line)
            }
        }
    }

    /// The longest list of names, in bytes.
    private static let longestList = 64 << 20

    /// The names of a list in a file; empty ones are skipped.
    static func names(inFile path: String) throws(Failure) -> [String] {
        let bytes: [UInt8]
        do throws(ReadFileError) {
            bytes = try readFile(path, limit: longestList).bytes
        } catch {
            throw Failure("\(printable(path)): cannot read this list of clips, a text file of at most 64 MiB")
        }
        // A list written on another system may end its lines with CR LF.
        let names = Array(bytes.withoutByteOrderMark).split(separator: 10).map { line in
            FileName.text(line.last == 13 ? line.dropLast() : line)
        }.filter { !$0.isEmpty }
        guard let name = names.first(where: { $0.utf8.count >= NameList.longestName }) else { return names }
        throw Failure(
            "\(printable(path)): \(printable(String(name.prefix(40))))…: \(name.utf8.count) bytes, longer than the name of a "
                + "file can be; is it a list of clips?"
        )
    }
}
