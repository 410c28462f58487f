import Core
private import Enrollment
import Evaluation
private import Inference
import JSON
import Reports
import Spotting
private import System

/// `beckon evaluate DIR` and `--stream`: measures a model on labelled recordings.
struct EvaluateRun {
    private let options: EvaluateOptions
    private let vocabulary: Vocabulary
    /// For streams, a gate for each mode with its thresholds; for clips, which pass no gate, the thresholds of `command`.
    private let settings: [StreamEvaluation.Setting]
    private let page: ReportFile?
    /// Where the results go for other programs, and the proposed thresholds.
    private let results: ReportFile?
    private let proposals: ReportFile?

    /// Loads the model, and checks first that the report can be written.
    init(_ options: EvaluateOptions) throws {
        self.options = options
        vocabulary = try options.listening.loadVocabulary()
        settings = try Self.settings(options, vocabulary)
        page = try options.html.map { try ReportFile($0, option: "--html") }
        results = try options.output.map { try ReportFile($0, option: "--output") }
        proposals = try options.configuration.map { try ReportFile($0, option: "--write-config") }
    }

    /// Runs the command. Returns the exit status.
    func run() throws -> Int32 { try options.stream ? runStreams() : runClips() }

    // MARK: - Clips

    /// `beckon evaluate DIR`: clips of one second, in one folder for each word.
    private func runClips() throws -> Int32 {
        let (folder, problems) = try clipFolder()
        Interrupt.watch()
        let batch = Batch(files: folder.clips.map(\.path), problems: problems, jobs: options.listening.jobs)
        let evaluation = ClipEvaluation(vocabulary, mix: options.listening.mix)
        let clips = batch.collect { number, _ in
            try evaluation.score(folder.clips[number]) { !Interrupt.isRequested }
        }.flatMap { $0 }
        let status = batch.finish()
        guard status != 130 else { return status }
        guard !clips.isEmpty else {
            // The batch has printed why no clip could be used, unless the list was empty.
            guard status == 0 else { return status }
            throw Failure("\(printable(options.list ?? folder.path)): names no clip, so there is nothing to measure")
        }
        let thresholds = settings.first?.detector.thresholds.values ?? []
        var report = ClipReport(clips, labels: evaluation.labels, thresholds: thresholds)
        if let target = options.target {
            let all = ThresholdProposal.all(
                clips,
                labels: evaluation.labels,
                thresholds: thresholds,
                target: target.value
            )
            report.proposals = all
            try write(all, mode: .command)
        }
        let text = ClipReportTables(report).text(room: Terminal.outputRoom, errors: options.errors) + targetNote
        try show(report, text: text, rows: ClipRows(clips, evaluation.labels)) {
            ClipReportPage(report, name: folder.path, model: vocabulary.model.name).html
        }
        return status
    }

    /// The clips to measure, and one line for each file or folder that is left out.
    private func clipFolder() throws -> (ClipFolder, problems: [String]) {
        let path = options.paths.first ?? ""
        guard fileExists(path) else {
            throw Failure("\(printable(path)): no such folder")
        }
        guard isFolder(path) else {
            throw Failure(
                "\(printable(path)): not a folder; evaluate takes one with a folder for each word, or recordings with --stream"
            )
        }
        let names = try options.list.map { ClipList(try FileList.names(inFile: $0)) }
        let found = FileList(paths: [path])
        for note in found.notes { Output.report(.notice, note) }
        let folder = ClipFolder(path: path, files: found.files, list: names, listName: options.list ?? "")
        let labels = Labels(vocabulary.labels)
        if !folder.isSorted(by: labels), options.list == nil, !found.files.isEmpty {
            if found.files.lazy.map(Self.trackPath(of:)).contains(where: fileExists) {
                throw Failure(Unsorted(path, found.files, labels).withTracks)
            }
            if folder.clips.isEmpty { throw Failure(Unsorted(path, found.files, labels).withoutTracks) }
        }
        if let note = folder.othersNote(labels) { Output.report(.notice, note) }
        return (folder, found.problems + folder.problems)
    }

    // MARK: - Recordings

    /// `beckon evaluate --stream FILE|DIR…`: long recordings, each with a label track in the same folder.
    private func runStreams() throws -> Int32 {
        let list = FileList(paths: options.paths)
        for note in list.notes { Output.report(.notice, note) }
        let (files, unlabelled) = try withTracks(list.files)
        Interrupt.watch()
        let batch = Batch(files: files, problems: list.problems + unlabelled, jobs: options.listening.jobs)
        let evaluation = StreamEvaluation(
            vocabulary,
            settings: settings,
            tolerance: options.tolerance,
            mix: options.listening.mix
        )
        let measurements = batch.collect { _, file in
            let trackPath = Self.trackPath(of: file)
            let track = try Self.track(trackPath, of: file)
            return try evaluation.measure(file, track: track, trackName: printable(trackPath), spare: batch.spare) {
                batch.progress.report(file: file, seconds: $0, of: $1)
                return !Interrupt.isRequested
            }
        }
        let status = batch.finish()
        // If nothing could be measured, the batch has printed the error of each file.
        guard status != 130, var report = evaluation.report(measurements) else { return status }
        if let target = options.target {
            for index in report.settings.indices {
                let all = ThresholdProposal.all(report.settings[index], seconds: report.seconds, target: target.value)
                report.settings[index].proposals = all
            }
            // Of both modes that of a service, unless one was chosen.
            let mode = options.listening.mode ?? .command
            let all = report.settings.first { $0.mode == mode.rawValue }?.proposals
            if let all { try write(all, mode: mode) }
        }
        let html = options.html ?? ""
        // A stream, such as /dev/stdout, has no folder for further pages.
        let limit = NamedFile.kind(html) == .other ? 0 : options.pages
        let pages = ErrorPages(report, page: html, limit: limit)
        let text = StreamReportTables(report).text(room: Terminal.outputRoom, errors: options.errors) + targetNote
        try show(report, text: text) {
            let page = StreamReportPage(report, model: vocabulary.model.name, pages: pages) {
                [options, settings] part in
                options.inspectCommand(part, mode: settings[part.setting].detector.gate.mode)
            }
            return page.html
        }
        guard page != nil, !pages.isEmpty else { return status }
        let written = try writeErrorPages(pages, beside: html)
        return written == 0 ? status : written
    }

    /// The recordings that have a label track, or are the only one without, and one line for all that have none.
    ///
    /// - Throws: a ``Failure`` if none has one.
    private func withTracks(_ files: [String]) throws(Failure) -> (files: [String], problems: [String]) {
        let bare = files.filter { file in
            (try? FileStatus(path: file)) != nil && (try? FileStatus(path: Self.trackPath(of: file))) == nil
        }
        guard let first = bare.first, bare.count > 1 else { return (files, []) }
        let missing = "such as \(printable(Self.trackPath(of: first)))"
        guard bare.count < files.count else {
            guard options.paths.count == 1, let folder = options.paths.first, isFolder(folder) else {
                throw Failure(
                    "none of \(counted(files.count, "recording")) has a label track, \(missing); \(Unsorted.trackAdvice)"
                )
            }
            throw Failure(Unsorted(folder, files, Labels(vocabulary.labels)).withoutTracks)
        }
        let kept = Set(bare)
        return (
            files.filter { !kept.contains($0) },
            ["\(bare.count) of \(counted(files.count, "recording")) have no label track, \(missing), and are left out"]
        )
    }

    static func trackPath(of file: String) -> String { PathName(file).withoutEnding + ".txt" }

    /// Writes the pages that show the errors, one pass over each recording and setting.
    ///
    /// - Returns: 130 if the user interrupted it; some links of the report then lead nowhere.
    private func writeErrorPages(_ pages: ErrorPages, beside report: String) throws -> Int32 {
        let parent = report.lastIndex(of: "/").map { String(report[...$0]) } ?? ""
        let folder = parent + pages.folder
        try makeOwnFolder(folder)
        let written = pages.parts.filter { $0.name != nil }
        let groups = Dictionary(grouping: written) { Group(path: $0.path, setting: $0.setting) }
        let progress = Progress(files: groups.count, isShown: Terminal.errorIsTerminal)
        for (group, parts) in groups.sorted(by: { ($0.key.setting, $0.key.path) < ($1.key.setting, $1.key.path) }) {
            let traces = try RecordingTrace.traces(
                parts.map { part in
                    RecordingTrace.Settings(
                        file: part.path,
                        settings[group.setting].detector,
                        mix: options.listening.mix,
                        from: part.from,
                        to: part.to
                    )
                }
            ) {
                progress.report(file: group.path, seconds: $0, of: $1)
                return !Interrupt.isRequested
            }
            if Interrupt.isRequested {
                progress.clear()
                Output.report(.error, "interrupted; some pages of errors were not written")
                return 130
            }
            for (part, trace) in zip(parts, traces) {
                guard let name = part.name else { continue }
                var page = InspectPage(InspectReport(trace))
                page.explain(part, of: pages)
                page.hasSound = options.audio
                try ReportFile(made: "\(folder)/\(name)", option: "--html").write(page.html())
            }
        }
        progress.clear()
        return 0
    }

    /// Parts that one pass traces.
    private struct Group: Hashable {
        let path: String
        let setting: Int
    }

    /// The settings to measure: for streams both modes, unless the user chose one.
    private static func settings(
        _ options: EvaluateOptions,
        _ vocabulary: Vocabulary
    ) throws -> [StreamEvaluation.Setting] {
        let modes = options.listening.mode.map { [$0] } ?? (options.stream ? DetectionMode.allCases : [.command])
        var settings: [StreamEvaluation.Setting] = []
        for mode in modes {
            var gate = options.listening.gate
            gate.mode = mode
            let sensitivities = Sensitivity.allCases.compactMap { sensitivity in
                var choices = ThresholdChoices()
                choices.all = .sensitivity(sensitivity)
                // A model without thresholds for a sensitivity has no such point.
                return (try? choices.thresholds(of: vocabulary, mode: mode)).map { (sensitivity, $0) }
            }
            settings.append(
                StreamEvaluation.Setting(
                    try options.listening.detector(vocabulary, gate: gate),
                    sensitivities: options.stream ? sensitivities : []
                )
            )
        }
        return settings
    }

    /// The label track of a recording.
    private static func track(_ path: String, of file: String) throws -> LabelTrack {
        guard (try? FileStatus(path: file)) != nil else { throw Failure("\(printable(file)): no such file") }
        guard (try? FileStatus(path: path)) != nil else {
            throw Failure(
                "\(printable(file)): no label track for it; create \(printable(path)) with lines of "
                    + "start, end and word, separated by tabs (an empty file if no word is said)"
            )
        }
        return try LabelTrack(path: path)
    }

    // MARK: - Output

    /// Prints a report as text or for programs, and writes the files that the user asked for. With a file for programs the text is printed.
    private func show(_ report: some Encodable, text: String, rows: ClipRows? = nil, html: () -> String) throws {
        let data =
            switch options.format {
            case .text: text
            case .json: try encodedJSON(report)
            case .csv: rows?.text ?? text
            }
        if let results {
            try results.write(data)
            Output.writeText(text)
        } else if options.format == .text {
            Output.writeText(text)
        } else {
            Output.write(data)
        }
        try page?.write(html())
    }

    /// What a proposal rests on.
    private var targetNote: String {
        guard options.target != nil else { return "" }
        let rest =
            options.stream
            ? "" : " An hour of clips is 3600 of them, one after another; what talk does, evaluate --stream measures."
        return "\nProposed: of the thresholds that reach the target the one that finds the word most often.\(rest)\n"
    }

    /// Writes proposed thresholds as a configuration.
    private func write(_ proposals: [ThresholdProposal], mode: DetectionMode) throws {
        guard let file = self.proposals, let target = options.target else { return }
        try file.write(ThresholdConfiguration(proposals: proposals, mode: mode, target: target.text).text)
    }
}
