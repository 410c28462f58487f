import Core

/// Where results go and how they are printed: all to standard output, or one label track per file.
struct Destination: Sendable {
    let format: any ReportFormat
    private let folder: String?
    private let clips: Bool
    private let labels: [String]
    /// The name of each file's track within the folder.
    private let tracks: [String: String]

    /// - Parameter files: the names, or the first ones; all of them if each gets a label track.
    init(options: ClassifyOptions, files: [String], labels: [String]) {
        format =
            switch options.format {
            case .table:
                Table(
                    files: files,
                    words: labels,
                    phrases: options.clips ? [] : options.phrases,
                    colour: Terminal.usesColour,
                    room: Terminal.outputRoom
                )
            case .json: JSONLines()
            case .csv: CSV()
            case .audacity: AudacityLabels()
            case .records: Records()
            }
        folder = options.format == .audacity ? options.output : nil
        clips = options.clips
        self.labels = labels
        tracks = folder == nil ? [:] : Self.trackNames(files)
    }

    /// The text before all results.
    var header: String { format.header(clips: clips, labels: labels) }

    /// The label track of a file; nil if all results go to standard output.
    func track(file: String) throws -> TrackWriter? {
        guard let folder, let name = tracks[file] else { return nil }
        try makeFolder(folder)
        return TrackWriter(path: "\(folder)/\(name)")
    }

    /// `talk.wav` → `talk.txt`; files of the same name in different folders get their folders' names too.
    private static func trackNames(_ files: [String]) -> [String: String] {
        let stems = files.map { PathName($0).stem }
        let counts = Dictionary(stems.map { ($0, 1) }, uniquingKeysWith: +)
        var names: [String: String] = [:]
        for (file, stem) in zip(files, stems) {
            let whole = file.split(separator: "/").joined(separator: "_")
            names[file] = (counts[stem] == 1 ? stem : whole) + ".txt"
        }
        return names
    }
}
