public import Core

/// What the folders of clips stand for that have no word's name: somebody may have misspelt one, or meant a word that is not taught yet.
extension ClipFolder {
    /// Most folders that a message names.
    private static let mostNamed = 12

    /// Names of folders that mean other speech without being a word.
    private static let unknownNames: Set<String> = [Labels.unknown, "unknown"]

    /// Whether any folder has a word's name, or one for silence or other speech: whether the clips are sorted.
    public func isSorted(by labels: Labels) -> Bool {
        clips.contains {
            labels.label(ofFolder: $0.folder) != labels.unknownIndex || Self.unknownNames.contains($0.folder)
        }
    }

    /// The folders whose clips count as other speech because no word has their name, each once, those near to a word's name first.
    public func others(_ labels: Labels) -> [(name: String, meant: String?)] {
        var seen: Set<String> = Self.unknownNames
        let others = clips.map(\.folder).filter {
            seen.insert($0).inserted && labels.label(ofFolder: $0) == labels.unknownIndex
        }
        let known = labels.words + ["silence", "unknown", Labels.silence, Labels.unknown, Labels.backgroundFolder]
        let named = others.map { (name: $0, meant: nearestName(to: $0, of: known)) }
        return named.filter { $0.meant != nil } + named.filter { $0.meant == nil }
    }

    /// One line on these folders; nil without any.
    public func othersNote(_ labels: Labels) -> String? {
        let others = others(labels)
        guard !others.isEmpty else { return nil }
        let names = others.prefix(Self.mostNamed).map { other in
            printable(other.name) + (other.meant.map { " (did you mean \(printable($0))?)" } ?? "")
        }
        let rest = others.count > names.count ? " and \(others.count - names.count) more" : ""
        let words = labels.words.prefix(Self.mostNamed).map(printable).joined(separator: ", ")
        let none = isSorted(by: labels) ? "" : "; no folder is named by a word, such as \(words)"
        return "taken for other speech: \(names.joined(separator: ", "))\(rest)\(none)"
    }
}
