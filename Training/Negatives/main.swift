// negatives MODEL OUT FILE…: the embeddings of talk, for the negative set that words of a user's own are compared with.
//
// It writes, for each hop of each file, one row of 32-bit floats: 1 where a word said alone could fire at this hop and else 0, the
// number of the file, the seconds since the last sound, and the embedding. The gate is the detector's, so that the words which it would let pass are those that are
// counted. Each file is a stream of its own, with silence before and after it.

import Audio
import Core
import Foundation
import Inference
import Spotting

private let arguments = CommandLine.arguments
guard arguments.count > 3 else {
    FileHandle.standardError.write(Data("usage: negatives MODEL OUT FILE…\n".utf8))
    exit(2)
}

private let model = try Model(folder: arguments[1])
// Embeddings are computed only for a vocabulary with a word of its own; this one never fires.
private let never = [TaughtWord(name: "", threshold: 1, templates: [[1]], templateSpacing: 0, boundary: 2)].compactMap {
    $0
}
private let scored = Vocabulary(model, taught: never)
private let plain = Vocabulary(model)

/// The rows of one file.
private func rows(of path: String, number: Int) throws -> [Float] {
    var settings = DetectorSettings(plain)
    settings.gate.mode = .command
    // No word of the model fires, which would end the utterance.
    settings.thresholds.setAll(2)
    var scorer = HopScorer(scored)
    var handler = PosteriorHandler(settings)
    var windows = try FileWindows(FileStream(path: path, mix: .mix))
    var rows: [Float] = []
    var mayFireNext = false
    while try windows.next({ window in
        scorer.score(window: window)
        handler.process(HopScores(posteriors: scorer.scores.posteriors), activity: scorer.activity) { _ in }
        // Later, less and less of the word is in the window, and the hops before were more like it.
        let mayFire =
            handler.gate.mayFireCommand(scorer.activity) && scorer.activity.quietSeconds <= settings.gate.lookahead
        // By lookahead a word is decided one hop before it is heard whole.
        rows.append(mayFire || mayFireNext ? 1 : 0)
        mayFireNext = mayFire
        rows.append(Float(number))
        rows.append(Float(scorer.activity.quietSeconds))
        rows += scorer.embedding
    }) {}
    return rows
}

private let output = arguments[2]
FileManager.default.createFile(atPath: output, contents: nil)
guard let file = FileHandle(forWritingAtPath: output) else {
    FileHandle.standardError.write(Data("negatives: \(output): cannot be written\n".utf8))
    exit(1)
}
for (number, path) in arguments.dropFirst(3).enumerated() {
    try rows(of: path, number: number).withUnsafeBytes { try file.write(contentsOf: Data($0)) }
}
