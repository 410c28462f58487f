private import Core
private import JSON
import Reports
import Spotting
private import Synchronization

/// `beckon inspect FILE|DIR…`: a page for each of several recordings, and an index page that leads to them.
struct InspectPages {
    let options: InspectOptions
    let detector: DetectorSettings

    /// Runs the command. Returns the exit status.
    func run() throws -> Int32 {
        let list = FileList(paths: options.paths)
        for note in list.notes { Output.report(.notice, note) }
        let paths = options.json ? [] : pagePaths(list.files)
        if !paths.isEmpty {
            if options.output == nil { try makeOwnFolder(options.folder) } else { try makeFolder(options.folder) }
        }
        Interrupt.watch()
        let batch = Batch(files: list.files, problems: list.problems, jobs: options.listening.jobs)
        let entries = Mutex<[Int: InspectIndex.Entry]>([:])
        batch.run { number, file in
            do {
                guard let trace = try trace(file, batch), !Interrupt.isRequested else { return }
                let report = InspectReport(trace)
                if options.json {
                    batch.output.put(report.json.line, file: number)
                } else {
                    let (path, mark) = paths[number]
                    try ReportFile(made: path, option: "--output").write(mark.marked(html(report)))
                    let entry = InspectIndex.Entry(report, page: Self.name(path), problem: trace.problem)
                    entries.withLock { $0[number] = entry }
                }
                if let note = report.note {
                    let line = Output.marked(.notice, "\(printable(file)): \(note)")
                    batch.output.put(line, isError: true, file: number)
                }
                if let problem = trace.problem { throw Failure(problem) }
            } catch {
                entries.withLock { entries in
                    if entries[number] == nil { entries[number] = .init(file: file, problem: "\(error)") }
                }
                throw error
            }
        }
        if !options.json { try writeIndex(entries.withLock { $0.sorted { $0.key < $1.key }.map(\.value) }) }
        return batch.finish()
    }

    private func trace(_ file: String, _ batch: Batch) throws -> RecordingTrace? {
        try RecordingTrace(options.traceSettings(detector, file: file)) {
            batch.progress.report(file: file, seconds: $0, of: $1)
            return !Interrupt.isRequested
        }
    }

    private func html(_ report: InspectReport) throws -> String {
        var page = InspectPage(report)
        page.hasSound = options.audio
        page.back = ("all recordings", Self.name(indexPath))
        return try page.html()
    }

    /// Writes the index of what was looked at, also after Ctrl-C, and prints its path.
    private func writeIndex(_ entries: [InspectIndex.Entry]) throws {
        guard entries.contains(where: \.hasPage) else { return }
        let path = indexPath
        try ReportFile(made: path, option: "--output").write(InspectPagePath.index.marked(InspectIndex(entries).html))
        Output.write("\(printable(path))\n")
    }

    private var indexPath: String { InspectPagePath.index.firstFree("\(options.folder)/index.html") }

    /// The page of each file. Files of the same name in different folders get their folders' names too.
    private func pagePaths(_ files: [String]) -> [(path: String, mark: InspectPagePath)] {
        let stems = files.map { PathName($0).stem }
        let counts = Dictionary(stems.map { ($0, 1) }, uniquingKeysWith: +)
        var taken: Set<String> = [indexPath, "\(options.folder)/index.html"]
        return zip(files, stems).map { file, stem in
            let whole = file.split(separator: "/").joined(separator: "_")
            let name = FileName.shown(counts[stem] == 1 ? stem : whole)
            let mark = InspectPagePath(file)
            let path = mark.firstFree("\(options.folder)/\(name).html", besides: taken)
            taken.insert(path)
            return (path, mark)
        }
    }

    /// The last part of a path.
    private static func name(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }
}
