public import Inference

/// Voice activity detection for one stream: by the model's activity layer, or by level if the model has none.
///
/// A posterior covers a whole window of one second, so it cannot tell when within the window a word was said. The
/// activity history can, in steps of some 25 ms. It serves the start and end times of detections and the gate's rules
/// about pauses; it takes no part in telling words apart.
public struct ActivityDetector {
    private var byModel: ModelActivityDetector?
    private var byEnergy = EnergyActivityDetector()

    public init(of model: Model) { byModel = ModelActivityDetector(of: model) }

    /// Activity up to and including the newest hop.
    public var history: ActivityHistory { byModel?.history ?? byEnergy.history }

    /// Processes one hop.
    ///
    /// - Parameters:
    ///   - hop: samples of the hop, in [−1, 1].
    ///   - logits: output of the activity layer for the hop, oldest step first; unused if the model has none.
    public mutating func add(hop: Span<Float>, logits: [Float]) {
        if byModel == nil { byEnergy.add(hop) } else { byModel?.add(logits) }
    }

    /// Switches to another model. The history is kept if both models have the same step length.
    public mutating func apply(_ model: Model) {
        let other = ActivityDetector(of: model)
        if byModel?.history.stepSeconds != other.byModel?.history.stepSeconds { self = other }
    }

    /// Forgets everything, for example after a gap in the audio.
    public mutating func flush() {
        byModel?.flush()
        byEnergy.flush()
    }
}

/// Speech activity from the logits of a model's activity layer, one step for each logit.
///
/// Unlike the ``EnergyActivityDetector`` it ignores unsteady noise and finds faint speech in steady noise.
public struct ModelActivityDetector {
    /// Activity up to and including the newest step.
    public private(set) var history: ActivityHistory

    /// - Parameter stepSeconds: length of a step: the hop's length divided by the logits per hop.
    public init(stepSeconds: Double) { history = ActivityHistory(stepSeconds: stepSeconds) }

    /// - Returns: nil if the model has no activity layer.
    init?(of model: Model) {
        guard model.activityCount > 0 else { return nil }
        self.init(stepSeconds: HopScorer.hopSeconds(of: model) / Double(model.activityCount))
    }

    /// Processes the logits of one hop, oldest first.
    ///
    /// A step is active if P(speech) ≥ 0.5, that is logit ≥ 0. A logit that is not finite, as it follows from samples that
    /// are not finite, counts as inactive; the posteriors then say silence too.
    public mutating func add(_ logits: [Float]) {
        for index in logits.indices { history.append(isActive: logits[index] >= 0 && logits[index].isFinite) }
    }

    /// Forgets everything, for example after a gap in the audio.
    public mutating func flush() { history = ActivityHistory(stepSeconds: history.stepSeconds) }
}

/// Sound activity from the level of steps of 25 ms, for models without an activity layer.
///
/// A step is active if its level exceeds the noise floor by 8 dB and −65 dBFS. The noise floor is the minimum over the last
/// 2.4 s. Noise that swells and dies down counts as sound.
public struct EnergyActivityDetector {
    /// Length of a step, in samples at 16 kHz and in seconds.
    public static let stepSamples = 400
    public static let stepSeconds = 0.025

    /// Least distance from the noise floor, in dB.
    private static let margin: Float = 8
    /// Least level, in dB relative to full scale.
    private static let leastLevel: Float = -65
    /// Steps of the noise floor: 2.4 s, longer than any word without a closure in it.
    private static let floorSteps = 96

    /// Activity up to and including the newest step.
    public private(set) var history = ActivityHistory()
    private var levels = [Float](repeating: 0, count: floorSteps)
    private var seen = 0

    public init() {}

    /// Processes any number of samples in [−1, 1]. A remainder shorter than a step is ignored.
    public mutating func add(_ samples: Span<Float>) {
        var begin = 0
        while begin + Self.stepSamples <= samples.count {
            var energy: Float = 0
            for index in begin..<begin + Self.stepSamples { energy += samples[index] * samples[index] }
            addStep(decibels(energy / Float(Self.stepSamples)))
            begin += Self.stepSamples
        }
    }

    private mutating func addStep(_ level: Float) {
        levels[seen % Self.floorSteps] = level
        seen += 1
        var floor = level
        for index in 0..<min(seen, Self.floorSteps) { floor = min(floor, levels[index]) }
        history.append(isActive: level > max(floor + Self.margin, Self.leastLevel))
    }

    /// Forgets everything, for example after a gap in the audio.
    public mutating func flush() {
        seen = 0
        history = ActivityHistory()
    }
}
