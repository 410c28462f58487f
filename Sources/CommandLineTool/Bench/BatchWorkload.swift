import Audio
import Inference
import Spotting

/// A hop of each of many streams at once, as a server with many microphones hears them.
final class BatchWork: Workload {
    private let model: Model
    private var batch: StreamBatch
    private var handlers: [PosteriorHandler]
    private var trackers: [ActivityDetector]
    private let sound: [Float]
    /// Two windows a stream: a block is written to both, so that the newest window is always in one piece.
    private let memory: UnsafeMutableBufferPointer<Float>
    private var turn = 0
    private(set) var detections = 0

    /// - Returns: nil where the model does not stream.
    init?(_ recipe: DetectorRecipe, count: Int) {
        model = recipe.model
        guard let batch = StreamBatch(recipe.model, streams: count) else { return nil }
        self.batch = batch
        let handler = PosteriorHandler(Vocabulary(model), settings: recipe.gate, thresholds: recipe.thresholds)
        handlers = Array(repeating: handler, count: count)
        trackers = Array(repeating: ActivityDetector(of: model), count: count)
        sound = HopWork.sound(model)
        memory = .allocate(capacity: count * 2 * BlockRing.windowLength)
        memory.initialize(repeating: 0)
    }

    deinit { memory.deallocate() }

    var units: Int { handlers.count }

    func run() {
        guard let memory = memory.baseAddress else { return }
        let (block, window) = (BlockRing.blockLength, BlockRing.windowLength)
        let place = turn % BlockRing.windowBlocks * block
        turn += 1
        hear(at: place)
        batch.score { stream in
            UnsafeBufferPointer(start: memory + stream * 2 * window + place + block, count: window)
        }
        for stream in handlers.indices { decide(stream, newest: memory + stream * 2 * window + place) }
    }

    /// Each stream's next block; no two streams hear the same at a time.
    private func hear(at place: Int) {
        let (block, window) = (BlockRing.blockLength, BlockRing.windowLength)
        let last = sound.count - block
        sound.withUnsafeBufferPointer { sound in
            guard let source = sound.baseAddress, let memory = memory.baseAddress else { return }
            for stream in handlers.indices {
                let target = memory + stream * 2 * window + place
                let audio = source + (turn * block + stream * 997) % last
                target.update(from: audio, count: block)
                (target + window).update(from: audio, count: block)
            }
        }
    }

    private func decide(_ stream: Int, newest: UnsafePointer<Float>) {
        let (labels, steps) = (model.labels.count, model.activityCount)
        trackers[stream].add(
            hop: UnsafeBufferPointer(start: newest, count: BlockRing.blockLength).span,
            logits: Array(batch.activity[stream * steps..<(stream + 1) * steps])
        )
        handlers[stream].process(
            HopScores(posteriors: Array(batch.posteriors[stream * labels..<(stream + 1) * labels])),
            activity: trackers[stream].history
        ) { _ in detections += 1 }
    }
}
