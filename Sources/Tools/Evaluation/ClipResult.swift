public import Core

/// What became of one clip, as reports keep it.
public struct ClipResult: Sendable, Equatable, Codable {
    /// The path within the folder.
    public let file: String
    /// What was said: the name of its folder.
    public let said: String
    /// The label that this stands for.
    public let label: String
    /// The label that was given.
    public let heard: String
    /// The highest score, 0…1.
    public let confidence: Double
    /// By how much it is higher than the second.
    public let margin: Double
    /// Who says it; nil where it is not known.
    public let speaker: String?

    /// Whether the right label was given.
    public var isRight: Bool { heard == label }
}

extension ClipResult {
    /// What the report keeps of a clip.
    public init(_ clip: ScoredClip, labels: Labels) {
        file = clip.name
        said = clip.said
        label = labels.name(of: clip.truth)
        heard = labels.name(of: clip.answer)
        confidence = rounded(clip.confidence)
        margin = rounded(clip.margin)
        speaker = clip.speaker
    }
}

private func rounded(_ value: Double) -> Double { (value * 10_000).rounded() / 10_000 }

/// The clips of a list: a name a line, with the speaker behind a tab, or a table with a header.
public struct ClipList: Sendable, Equatable {
    public private(set) var names: [String] = []
    /// By ``ClipFolder/key(_:)``.
    private(set) var speakers: [String: String] = [:]

    private static let fileColumns: Set<String> = ["file", "path", "clip", "name", "filename"]
    private static let speakerColumns: Set<String> = ["speaker", "speaker_id", "client_id"]

    /// - Parameter lines: without line ends and without empty ones. A first line that names a column of files makes it a table, with commas
    ///   or tabs between the columns.
    public init(_ lines: [String]) {
        guard let first = lines.first else { return }
        let separator: Character = first.contains("\t") ? "\t" : ","
        let header = Self.fields(first, separator).map { $0.lowercased() }
        if header.count > 1, let file = header.firstIndex(where: Self.fileColumns.contains) {
            let speaker = header.firstIndex(where: Self.speakerColumns.contains)
            for line in lines.dropFirst() {
                let fields = Self.fields(line, separator)
                guard fields.indices.contains(file) else { continue }
                add(fields[file], speaker.flatMap { fields.indices.contains($0) ? fields[$0] : nil })
            }
        } else {
            for line in lines {
                let fields = line.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false).map(
                    String.init
                )
                add(fields.first ?? line, fields.count > 1 ? fields[1] : nil)
            }
        }
    }

    private mutating func add(_ name: String, _ speaker: String?) {
        names.append(name)
        if let speaker, !speaker.isEmpty { speakers[ClipFolder.key(name)] = speaker }
    }

    /// The fields of a line, some of them in quotes.
    private static func fields(_ line: String, _ separator: Character) -> [String] {
        var fields = [""]
        var isQuoted = false
        for character in line {
            switch character {
            case "\"": isQuoted.toggle()
            case separator where !isQuoted: fields.append("")
            default: fields[fields.count - 1].append(character)
            }
        }
        return fields
    }
}

extension ClipFolder.Clip {
    /// The speaker that its name has, as in Speech Commands: `0a2b400e_nohash_1.wav`.
    var speakerOfName: String? {
        guard let mark = PathName(name).stem.firstRange(of: "_nohash_") else { return nil }
        let speaker = PathName(name).stem[..<mark.lowerBound]
        return speaker.isEmpty ? nil : String(speaker)
    }
}
