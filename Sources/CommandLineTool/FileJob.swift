import Audio
import Inference
import Spotting

/// One file through the whole chain: decode, mix, resample, blocks, ring, detector.
struct FileJob {
    struct Result {
        var succeeded: Bool
        /// Audio heard.
        var seconds: Double
    }

    let file: String
    let number: Int
    let options: ClassifyOptions
    let model: Model
    let thresholds: Thresholds
    let phrases: [Phrase]
    let destination: Destination
    let output: OrderedOutput
    let progress: Progress

    /// Seconds of a file in which `--clips` looks for its loudest one.
    private static let longestClip = 600.0

    func run() -> Result {
        var seconds = 0.0
        do {
            if options.clips { seconds = try label() } else { try spot(&seconds) }
            // A file that Ctrl-C cut short is not done.
            if !Interrupt.isRequested { progress.finish() }
            return Result(succeeded: true, seconds: seconds)
        } catch {
            output.put("beckon: \(error)\n", isError: true, file: number)
            progress.finish()
            return Result(succeeded: false, seconds: seconds)
        }
    }

    private var mix: ChannelMix { options.channel.map { .channel($0) } ?? .mix }

    // MARK: - Streams

    /// Hears the file hop by hop; `seconds` counts along, so that it is right after a failure in the middle too.
    private func spot(_ seconds: inout Double) throws {
        var blocks = try FileBlocks(path: file, mix: mix)
        var chain = try Chain(model: model, settings: options.gate, thresholds: thresholds, phrases: phrases)
        let expected = Double(blocks.expectedSamples ?? 0) / Double(FileBlocks.sampleRate)
        let sink = try destination.open(file: file)
        defer { sink.close() }
        var heard = 0
        func report(_ detection: Detection, _ name: String) {
            heard += 1
            put(destination.format.event(Event(detection, name: name, file: file, fileLength: seconds)), sink)
        }

        var block = [Float](repeating: 0, count: BlockRing.blockLength)
        while !Interrupt.isRequested {
            var span = block.mutableSpan
            guard let count = try blocks.next(into: &span) else { break }
            seconds += Double(count) / Double(FileBlocks.sampleRate)
            chain.hear(block, report: report)
            progress.report(file: file, seconds: seconds, of: expected)
        }
        // What was said last is decided in the quiet after it.
        for index in block.indices { block[index] = 0 }
        for _ in 0..<BlockRing.windowBlocks where !Interrupt.isRequested { chain.hear(block, report: report) }
        if heard == 0, !Interrupt.isRequested { put(destination.format.nothing(file: file), sink) }
    }

    private func put(_ text: String, _ sink: Destination.Sink) {
        if sink.isShared { output.put(text, file: number) } else { sink.write(text) }
    }

    // MARK: - Clips

    /// Gives the file its one label. Returns its length in seconds.
    private func label() throws -> Double {
        let samples = try FileBlocks.readClip(path: file, atMost: Self.longestClip, mix: mix)
        let window = Self.loudestWindow(of: samples, length: model.windowSamples, hop: model.hopSamples)
        var session = Session(model)
        session.scoreWhole(window: window.span)
        let scores = Array(zip(model.labels, session.posteriors))
        guard let best = scores.max(by: { $0.1 < $1.1 }) else { return 0 }
        let clip = ClipLabel(
            file: file,
            label: best.0,
            confidence: best.1,
            scores: scores.map { (label: $0.0, score: $0.1) }
        )
        output.put(destination.format.clip(clip), file: number)
        return Double(samples.count) / Double(FileBlocks.sampleRate)
    }

    /// One window: a shorter clip in the middle of silence, of a longer one the hop-aligned second with the most energy.
    static func loudestWindow(of samples: [Float], length: Int, hop: Int) -> [Float] {
        guard samples.count > length else {
            let before = (length - samples.count) / 2
            var window = [Float](repeating: 0, count: length)
            window.replaceSubrange(before..<before + samples.count, with: samples)
            return window
        }
        var best = (start: 0, energy: -Float.infinity)
        for start in stride(from: 0, through: samples.count - length, by: hop) {
            var energy: Float = 0
            for sample in samples[start..<start + length] { energy += sample * sample }
            if energy > best.energy { best = (start, energy) }
        }
        return Array(samples[best.start..<best.start + length])
    }
}
