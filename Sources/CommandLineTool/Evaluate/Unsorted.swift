import Core
import Evaluation
private import System

/// A folder of recordings that `evaluate` cannot measure as it was called: what is missing, and the command that goes on.
struct Unsorted {
    private let folder: String
    private let files: [String]
    private let labels: Labels

    /// How recordings get label tracks.
    static let trackAdvice = "create them, with lines of start, end and word, separated by tabs"

    init(_ folder: String, _ files: [String], _ labels: Labels) {
        (self.folder, self.files, self.labels) = (folder, files, labels)
    }

    private var shown: String { printable(folder) }
    private var argument: String { ShellWord.quoted(shown) }

    /// Recordings with label tracks, but without `--stream`.
    var withTracks: String {
        let track = files.map(EvaluateRun.trackPath(of:)).first(where: fileExists) ?? ""
        return
            "\(shown): recordings with label tracks, such as \(printable(track)), not clips in a folder for each word; "
            + "did you mean beckon evaluate --stream \(argument)?"
    }

    /// Neither clips in folders of words nor label tracks, or clips in folders with `--stream`.
    var withoutTracks: String {
        let (count, first) = (counted(files.count, "recording"), files.first ?? "")
        if ClipFolder(path: folder, files: files).isSorted(by: labels) {
            return "\(shown): \(count) without label tracks, in folders for each word; did you mean beckon evaluate "
                + "\(argument)?"
        }
        if let parent = parentOfWord {
            return "\(shown): \(count) in the folder of one word; did you mean beckon evaluate "
                + "\(ShellWord.quoted(printable(parent)))?"
        }
        let track = printable(EvaluateRun.trackPath(of: first))
        return
            "\(shown): \(count), neither in a folder for each word (\(shown)/\(labels.words.first ?? "yes")/…) nor with label "
            + "tracks (\(track)); sort short clips into folders, or label long recordings: beckon classify -f audacity -o "
            + "\(argument) \(argument) writes tracks to correct, and then beckon evaluate --stream \(argument) measures"
    }

    /// The folder above, where this one has the name of a word.
    private var parentOfWord: String? {
        var path = folder[...]
        while path.hasSuffix("/"), path.count > 1 { path = path.dropLast() }
        let slash = path.lastIndex(of: "/")
        let name = slash.map { path[path.index(after: $0)...] } ?? path
        guard labels.label(ofFolder: String(name)) != labels.unknownIndex else { return nil }
        return slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }
}
