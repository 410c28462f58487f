/// What a session expects to hear: how often something that is no command.
public enum Prior: Sendable {
    /// Hours of talk and noise, and a command now and then: what the network was trained on.
    case stream
    /// Single words, most of them commands, as in folders of clips: the model's `clipShifts` count.
    case clip
}

/// One stream of audio through a model: the old columns that the layers still need, and the newest answer.
///
/// All its memory is allocated at the start; `score`, `scoreWhole` and `reset` allocate nothing, as long as nobody
/// keeps a copy of `logits`, `posteriors`, `embedding` or `activity` from one call to the next (read them through
/// `.span`). A session may move between threads but serves one at a time. It starts as a stream that has heard
/// digital silence for ever.
public struct Session: ~Copyable, Sendable {
    public let model: Model
    /// What the network says, before any calibration.
    public private(set) var logits: [Float]
    /// Probability of each label: the calibrated softmax of the logits, summed by label.
    public private(set) var posteriors: [Float]
    /// The layer that the model names as its embedding; empty where it names none, or nobody asked for it.
    public private(set) var embedding: [Float]
    /// Logits that somebody speaks, one for each equal part of the newest hop, oldest first; empty where the model has
    /// no activity layer. Like `logits` they may hold NaN or infinities after such samples.
    public private(set) var activity: [Float]
    /// Probability of each label after the hop that `foresee` was given, and the embedding then.
    public private(set) var foreseen: [Float]
    public private(set) var foreseenEmbedding: [Float]
    /// False when the newest logits held NaN or an infinity, as after such a sample: the posteriors then say silence.
    ///
    /// A stream recovers by itself once the broken samples have left the window.
    public private(set) var isFinite = true

    /// The stream's columns, a copy of them after endless silence, another to look ahead in, a whole window, then scratch
    /// memory.
    private let arena: AlignedBuffer
    private let schedules: Schedules
    private let silence: Int
    private let future: Int
    private let window: Int
    private let scratch: Int
    private let probabilities: Int
    private let calibration: Calibration
    private let silentLogits: [Float]
    private let silentEmbedding: [Float]
    private let silentActivity: [Float]

    /// - Parameter embeds: whether embeddings are computed, for which a model may have layers of their own.
    public init(_ model: Model, prior: Prior = .stream, embeds: Bool = false) {
        self.model = model
        let schedules = embeds ? model.embedding : model.answering
        self.schedules = schedules
        calibration = Calibration(model, prior: prior)
        let outputs = model.labelOfLogit.count
        silence = aligned(schedules.hop?.count ?? 0)
        future = 2 * silence
        window = 3 * silence
        scratch = window + aligned(schedules.window.count)
        // The front end and the layers take turns.
        let layers = max(schedules.window.scratchCount, schedules.hop?.scratchCount ?? 0)
        probabilities = scratch + aligned(max(model.frontEnd.scratchCount, layers))
        arena = AlignedBuffer(count: probabilities + aligned(outputs))
        logits = Array(repeating: 0, count: outputs)
        posteriors = Array(repeating: 0, count: model.labels.count)
        foreseen = posteriors
        embedding = Array(repeating: 0, count: embeds ? model.embeddingCount : 0)
        foreseenEmbedding = embedding
        activity = Array(repeating: 0, count: model.activityCount)

        // The silence is heard once; `reset` only copies what came of it.
        let zeros = [Float](repeating: 0, count: model.windowSamples)
        Session.runWindow(model, schedules, zeros.span, arena: arena.base, window: window, scratch: scratch)
        let answer = arena.base + window + schedules.window.output
        silentLogits = Array(UnsafeBufferPointer(start: answer, count: outputs))
        let vector = arena.base + window + schedules.window.embedding
        silentEmbedding = Array(UnsafeBufferPointer(start: vector, count: embedding.count))
        let steps = arena.base + window + schedules.window.activity
        silentActivity = Array(UnsafeBufferPointer(start: steps, count: model.activityCount))
        (arena.base + silence).update(from: arena.base, count: silence)
        reset()
    }

    /// Hears the next hop, given the newest `windowSamples` samples, and brings the answer up to date.
    ///
    /// A streaming model reads only the end of the window: the hop and what the front end's frames overlap. Calls must
    /// then follow each other hop by hop; after a gap, call `scoreWhole` or `reset`. Any other model computes the
    /// whole window.
    public mutating func score(window samples: Span<Float>) {
        guard let hop = schedules.hop else { return scoreWhole(window: samples) }
        precondition(samples.count == model.windowSamples, "a window has \(model.windowSamples) samples")
        runHop(hop, samples, at: 0)
        answer(hop, at: 0)
    }

    /// Computes in `foreseen` what the next hop would say if `samples` were the window then; the stream stays where it is.
    public mutating func foresee(window samples: Span<Float>) {
        precondition(samples.count == model.windowSamples, "a window has \(model.windowSamples) samples")
        let schedule: Schedule
        let start: Int
        if let hop = schedules.hop {
            (arena.base + future).update(from: arena.base, count: silence)
            runHop(hop, samples, at: future)
            (schedule, start) = (hop, future)
        } else {
            Session.runWindow(model, schedules, samples, arena: arena.base, window: window, scratch: scratch)
            (schedule, start) = (schedules.window, window)
        }
        let block = arena.base + start
        _ = calibration.apply(block + schedule.output, to: &foreseen, powers: arena.base + probabilities)
        for index in foreseenEmbedding.indices { foreseenEmbedding[index] = block[schedule.embedding + index] }
    }

    /// Computes the whole window of `windowSamples` samples, and leaves a stream as if it had heard them hop by hop.
    public mutating func scoreWhole(window samples: Span<Float>) {
        precondition(samples.count == model.windowSamples, "a window has \(model.windowSamples) samples")
        Session.runWindow(model, schedules, samples, arena: arena.base, window: window, scratch: scratch)
        answer(schedules.window, at: window)
    }

    /// Goes back to a stream that has heard digital silence for ever.
    public mutating func reset() {
        arena.base.update(from: arena.base + silence, count: silence)
        for index in logits.indices { logits[index] = silentLogits[index] }
        for index in embedding.indices { embedding[index] = silentEmbedding[index] }
        for index in activity.indices { activity[index] = silentActivity[index] }
        calibrate()
    }

    /// Copies the stream's columns to memory laid out as the model's hop.
    func copyStream(to target: UnsafeMutablePointer<Float>) {
        target.update(from: arena.base, count: schedules.hop?.count ?? 0)
    }

    /// Brings the stream at `start` of the arena one hop further.
    private func runHop(_ hop: Schedule, _ samples: Span<Float>, at start: Int) {
        let base = arena.base + start
        hop.age(base)
        model.frontEnd.run(
            samples,
            newest: hop.inputColumns,
            to: base + hop.inputOffset,
            scratch: arena.base + scratch,
            kernels: model.kernels
        )
        hop.run(base, weights: model.weights.buffer.base, kernels: model.kernels, scratch: arena.base + scratch)
    }

    /// Computes a window, then hands the newest columns to the stream.
    private static func runWindow(
        _ model: Model,
        _ schedules: Schedules,
        _ samples: Span<Float>,
        arena: UnsafeMutablePointer<Float>,
        window: Int,
        scratch: Int
    ) {
        let base = arena + window
        let schedule = schedules.window
        model.frontEnd.run(
            samples,
            newest: schedule.inputColumns,
            to: base + schedule.inputOffset,
            scratch: arena + scratch,
            kernels: model.kernels
        )
        schedule.run(base, weights: model.weights.buffer.base, kernels: model.kernels, scratch: arena + scratch)
        guard let hop = schedules.hop else { return }
        for index in hop.slots.indices {
            let whole = schedule.slots[index]
            let slot = hop.slots[index]
            let count = slot.kept + slot.fresh
            (arena + slot.offset).update(from: base + whole.offset + whole.fresh - count, count: count)
        }
    }

    /// Reads what a schedule left that ran over the block at `start` of the arena.
    private mutating func answer(_ schedule: Schedule, at start: Int) {
        let block = arena.base + start
        for index in logits.indices { logits[index] = block[schedule.output + index] }
        for index in embedding.indices { embedding[index] = block[schedule.embedding + index] }
        for index in activity.indices { activity[index] = block[schedule.activity + index] }
        calibrate()
    }

    private mutating func calibrate() {
        isFinite = calibration.apply(logits, to: &posteriors, powers: arena.base + probabilities)
    }
}
