import Audio
private import Core
import Evaluation
import Inference
import Spotting

/// `beckon evaluate DIR`: clips of one second in folders by what is said in them.
extension Evaluate {
    func runClips() throws -> Int32 {
        let folder = try ClipFolder(path: options.paths.first ?? "", list: options.list)
        Interrupt.watch()
        let batch = Batch(files: folder.clips.map(\.path), problems: folder.problems, jobs: options.listening.jobs)
        let clips = batch.collect { number in try score(folder.clips[number]) }.flatMap { $0 }
        let status = batch.finish()
        guard status != 130 else { return status }
        guard !clips.isEmpty else {
            // What was wrong with all of them has been said, unless none was asked for.
            guard status == 0 else { return status }
            throw Failure("\(printable(options.list ?? folder.path)): names no clip, so there is nothing to measure")
        }
        let report = ClipReport(clips, labels: labels, thresholds: thresholds.values)
        try show(report, text: ClipReportTables(report).text) {
            ClipReportPage(report, name: folder.path, model: model.name).html
        }
        return status
    }

    /// One clip, or those of silence that a long recording of the background gives.
    private func score(_ file: ClipFolder.Clip) throws -> [ScoredClip] {
        var scorer = ClipScorer(vocabulary)
        let truth = labels.label(ofFolder: file.folder)
        func clip(_ name: String, _ posteriors: [Float]) -> ScoredClip {
            ScoredClip(name: name, said: file.folder, truth: truth, posteriors: posteriors)
        }
        guard file.folder == LabelSet.backgroundFolder else {
            return [clip(file.name, try scorer.score(file: file.path, mix: options.listening.mix).posteriors)]
        }
        var clips: [ScoredClip] = []
        var blocks = try FileBlocks(path: file.path, mix: options.listening.mix)
        var window = [Float](repeating: 0, count: model.windowSamples)
        while !Interrupt.isRequested {
            var span = window.mutableSpan
            guard try blocks.next(into: &span) == model.windowSamples else { break }
            clips.append(clip("\(file.name), second \(clips.count)", scorer.score(window)))
        }
        guard !clips.isEmpty || Interrupt.isRequested else {
            throw Failure("\(printable(file.path)): shorter than the one second that a clip of silence takes")
        }
        return clips
    }
}
