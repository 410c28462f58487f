import Core
public import Inference

/// Voice activity detection for one stream: by the model's activity layer, or by level if the model has none.
///
/// A posterior covers a whole window of one second, so it does not show when within the window a word was said. The
/// activity history does, in steps of about 25 ms. It gives detections their start and end times, and the gate its
/// pauses. It is not used to tell words apart.
public struct ActivityDetector {
    /// By the model's activity layer, which ignores unsteady noise and finds faint speech in steady noise, unlike the level; a step for
    /// each logit.
    private var byModel: ActivityHistory?
    private var byEnergy = EnergyActivityDetector()
    private var levels = LevelHistory()

    public init(of model: Model) {
        guard model.activityCount > 0 else { return }
        byModel = ActivityHistory(stepSeconds: HopScorer.hopSeconds(of: model) / Double(model.activityCount))
    }

    /// Activity up to and including the newest hop.
    public var history: ActivityHistory { byModel ?? byEnergy.history }

    /// Processes one hop.
    ///
    /// - Parameters:
    ///   - hop: `[hopSamples]` samples in [−1, 1].
    ///   - logits: output of the activity layer for the hop, oldest step first; unused if the model has none.
    public mutating func add(hop: Span<Float>, logits: [Float]) {
        guard byModel != nil else { return byEnergy.add(hop) }
        byModel?.append(logits: logits)
        levels.add(hop)
        byModel?.contrast = levels.contrast(.taughtWord)
        byModel?.confirmedContrast = levels.contrast(.confirmedWord)
    }

    /// Switches to another model. The history is kept if both models have the same step length.
    public mutating func update(_ model: Model) {
        let other = ActivityDetector(of: model)
        if byModel?.stepSeconds != other.byModel?.stepSeconds { self = other }
    }

    /// Resets to the initial state, for example after a gap in the audio.
    public mutating func flush() {
        byModel?.flush()
        levels.flush()
        byEnergy.flush()
    }
}

/// Sound activity from the level of each 25 ms step, for models without an activity layer.
///
/// A step is active if its level is more than 8 dB above the noise floor and above −65 dB FS. The noise floor is the
/// minimum level of the last 2.4 s. Noise whose level rises and falls counts as sound.
public struct EnergyActivityDetector {
    /// Length of a step, in samples at 16 kHz and in seconds.
    public static let stepSamples = 400
    public static let stepSeconds = 0.025

    /// Minimum level above the noise floor, in dB.
    private static let margin: Float = 8
    /// Minimum level, in dB FS.
    private static let leastLevel: Float = -65
    /// Steps over which the noise floor is the minimum: 2.4 s. No word lasts that long without a quiet step.
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

    /// Resets to the initial state, for example after a gap in the audio.
    public mutating func flush() {
        seen = 0
        history = ActivityHistory()
    }
}
