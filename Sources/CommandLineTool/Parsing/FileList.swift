private import Core
private import Glibc
private import System

extension PathName {
    /// Whether a text names an audio file that exists, by its extension.
    static func isAudioFile(_ text: String) -> Bool {
        FileList.audioEndings.contains(PathName(text).ending.lowercased()) && access(FileName.cString(text), F_OK) == 0
    }
}

/// The files to process: the named files, and the audio files in the named folders.
struct FileList {
    private(set) var files: [String] = []
    /// One line for each named folder that gave no file or cannot be read.
    private(set) var problems: [String] = []
    /// One line for each named folder with sound files that cannot be read.
    private(set) var notes: [String] = []

    /// The file name extensions that are taken from folders; a file named by the user may have any.
    static let audioEndings: Set<String> = [
        "wav", "wave", "w64", "rf64", "flac", "ogg", "oga", "opus", "mp3", "aif", "aiff", "aifc", "au", "snd", "caf",
    ]

    /// The file name extensions of sound that is not read: libsndfile has no decoder for them.
    private static let otherEndings: Set<String> = [
        "m4a", "m4b", "mp4", "m4v", "mov", "aac", "ac3", "adts", "wma", "wmv", "asf", "webm", "mka", "mkv", "avi",
        "3gp", "amr", "ape", "wv", "mpc", "ra", "dsf", "dff", "spx", "tta",
    ]

    init(paths: [String]) {
        for path in paths { add(path) }
    }

    private mutating func add(_ path: String) {
        guard path.utf8.count < Self.longestName else {
            problems.append("\(Self.tooLong(path)); give one name per line")
            return
        }
        guard Self.kind(of: path) == S_IFDIR else {
            // A file that does not exist or is not audio is reported later, when it is opened.
            files.append(path)
            return
        }
        let before = (files: files.count, problems: problems.count)
        var others: [String: Int] = [:]
        search(path, &others)
        let count = others.values.reduce(0, +)
        let kinds = others.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ".\($0.key): \($0.value)" }
        let advice =
            "these cannot be read (\(kinds.joined(separator: ", "))); convert them, as with ffmpeg -i FILE FILE.wav"
        if files.count == before.files {
            let others = count == 0 ? "" : "; there are \(count) others, and " + advice
            guard problems.count == before.problems else { return }
            problems.append(
                "\(printable(path)): no audio files in this folder (wav, flac, ogg, opus, mp3, aiff, …)\(others)"
            )
        } else if count > 0 {
            notes.append("\(printable(path)): left out \(count) \(count == 1 ? "file" : "files"), because \(advice)")
        }
    }

    /// Adds the audio files of a folder and of those below it, sorted by name; hidden ones and links to folders are skipped.
    ///
    /// - Parameter others: counts by extension the sound files that cannot be read.
    private mutating func search(_ folder: String, _ others: inout [String: Int]) {
        guard let names = Self.names(inFolder: folder) else {
            problems.append("\(printable(folder)): cannot read this folder; check its permissions")
            return
        }
        for name in names.sorted() where !name.hasPrefix(".") {
            let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
            let ending = PathName(name).ending.lowercased()
            if Self.kind(of: path, followingLinks: false) == S_IFDIR {
                search(path, &others)
            } else if Self.audioEndings.contains(ending) {
                files.append(path)
            } else if Self.otherEndings.contains(ending) {
                others[ending, default: 0] += 1
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

    /// The names in a folder; nil if it cannot be read. By system calls, because names may have any bytes.
    private static func names(inFolder folder: String) -> [String]? {
        guard let stream = opendir(FileName.cString(folder)) else { return nil }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                FileName.text(Array(bytes.prefix { $0 != 0 }))
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// The type bits of a file's mode; nil if there is no such file.
    private static func kind(of path: String, followingLinks follows: Bool = true) -> mode_t? {
        var status = stat()
        let name = FileName.cString(path)
        guard (follows ? stat(name, &status) : lstat(name, &status)) == 0 else { return nil }
        return status.st_mode & S_IFMT
    }

    /// Splits a list from standard input; empty names are skipped.
    static func names(in data: [UInt8], nulSeparated: Bool) -> [String] {
        let separator: UInt8 = nulSeparated ? 0 : 10
        return data.split(separator: separator).map { part in
            // A list written on another system may end its lines with CR LF.
            let part = !nulSeparated && part.last == 13 ? part.dropLast() : part
            return FileName.text(part)
        }.filter { !$0.isEmpty }
    }

    /// The names in a list.
    ///
    /// - Parameter list: the list's file; `-` for standard input.
    static func names(listedIn list: String, nulSeparated: Bool) throws(Failure) -> [String] {
        // A pipe is fine, as bash's <(find …) is one.
        let file = FileDescriptor(list == "-" ? dup(STDIN_FILENO) : open(FileName.cString(list), O_RDONLY | O_CLOEXEC))
        let name = list == "-" ? "standard input" : printable(list)
        guard file.isOpen else {
            throw Failure("\(name): cannot read this list of files: \(SystemError.text(errno)); check the name")
        }
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try readAll(file.rawValue, most: longestList)
        } catch {
            throw Failure("\(name): cannot read this list of files: \(SystemError.text(error.number))")
        }
        guard bytes.count <= longestList else {
            throw Failure("\(name): a list of more than 64 MiB; give fewer names")
        }
        guard nulSeparated || !bytes.contains(0) else {
            let meant = list == "-" ? "beckon classify -" : "beckon classify \(name)"
            throw Failure("\(name): not a list of names by lines, as it has NUL bytes; did you mean \(meant), or -0?")
        }
        return names(in: bytes, nulSeparated: nulSeparated)
    }
}
