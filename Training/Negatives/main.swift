// negatives MODEL OUT SPEECH FILE…: the embeddings of talk, for the negative set that words of a user's own are compared with.
//
// It writes, for each hop of each file, one row of 32-bit floats: 1 where a word said alone could fire at this hop and else 0, the
// number of the file, the seconds since the last sound, and the embedding. The gate is the detector's, so that the words which it would let pass are those that are
// counted. To SPEECH it writes the frames of the speech embedding of each file, 96 floats each 80 ms, the first one after 296 samples, at
// the peak that second looks scale audio to. Each file is a stream of its own, with silence before and after it.

import Audio
import Core
import Foundation
import Inference
import Spotting
import WakeWords

private let arguments = CommandLine.arguments
guard arguments.count > 4 else {
    FileHandle.standardError.write(Data("usage: negatives MODEL OUT SPEECH FILE…\n".utf8))
    exit(2)
}

private let model = try Model(folder: arguments[1])
// Embeddings are computed only for a vocabulary with a word of its own; this one never fires.
private let never = [TaughtWord(name: "", threshold: 1, templates: [[1]], templateSpacing: 0, boundary: 2)].compactMap {
    $0
}
private let scored = Vocabulary(model, taught: never)
private let plain = Vocabulary(model)

guard let embeddingPath = ModelFolder.shippedSpeechEmbedding else {
    FileHandle.standardError.write(Data("negatives: no speech embedding\n".utf8))
    exit(1)
}
private let speech = EmbeddingStream(try SpeechEmbedding(path: embeddingPath))

/// The rows of one file, and its speech frames.
@MainActor
private func rows(of path: String, number: Int) throws -> (rows: [Float], frames: [Float]) {
    var settings = DetectorSettings(plain)
    settings.gate.mode = .command
    // No word of the model fires, which would end the utterance.
    settings.thresholds.setAll(2)
    var scorer = HopScorer(scored)
    var handler = PosteriorHandler(settings)
    var windows = try FileWindows(FileStream(path: path, mix: .mix))
    var (rows, samples): ([Float], [Float]) = ([], [])
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
        let hop = window.extracting(last: model.hopSamples)
        for index in hop.indices { samples.append(hop[index]) }
    }) {}
    return (rows, frames(of: samples))
}

@MainActor
private func frames(of samples: [Float]) -> [Float] {
    var frames: [Float] = []
    speech.reset()
    for sample in SpeechFrames.scaled(samples) where speech.add(sample) {
        frames += UnsafeBufferPointer(start: speech.newest, count: SpeechEmbedding.count)
    }
    return frames
}

private func create(_ path: String) -> FileHandle {
    FileManager.default.createFile(atPath: path, contents: nil)
    guard let file = FileHandle(forWritingAtPath: path) else {
        FileHandle.standardError.write(Data("negatives: \(path): cannot be written\n".utf8))
        exit(1)
    }
    return file
}
private let (rowsFile, framesFile) = (create(arguments[2]), create(arguments[3]))
for (number, path) in arguments.dropFirst(4).enumerated() {
    let (rows, frames) = try rows(of: path, number: number)
    try rows.withUnsafeBytes { try rowsFile.write(contentsOf: Data($0)) }
    try frames.withUnsafeBytes { try framesFile.write(contentsOf: Data($0)) }
}
