import KernelInterface

/// From logits to posteriors: the calibrated softmax, summed by label.
struct Calibration: Sendable {
    private let softmax: KernelSet.Softmax
    private let scale: Float
    private let labelOfLogit: [Int]
    private let silence: Int
    /// What multiplies each output's share of the posteriors; empty where nothing does.
    private let factors: [Float]

    init(_ model: Model, prior: Prior) {
        softmax = model.kernels.softmax
        scale = 1 / model.temperature
        labelOfLogit = model.labelOfLogit
        silence = model.silenceIndex
        factors = prior == .clip ? model.clipFactors : []
    }

    /// Fills `posteriors`, one a label; `powers` is scratch for as many floats as there are logits.
    ///
    /// - Returns: false where a logit is NaN or infinite; the posteriors then say silence.
    func apply(
        _ logits: UnsafePointer<Float>,
        to posteriors: inout [Float],
        powers: UnsafeMutablePointer<Float>
    ) -> Bool {
        let isFinite = softmax(logits, powers, labelOfLogit.count, scale)
        for index in posteriors.indices { posteriors[index] = 0 }
        guard isFinite else {
            posteriors[silence] = 1
            return false
        }
        // A shift of logits is a factor of what they come to.
        for index in factors.indices { powers[index] *= factors[index] }
        for index in labelOfLogit.indices { posteriors[labelOfLogit[index]] += powers[index] }
        guard !factors.isEmpty else { return true }
        var total: Float = 0
        for index in posteriors.indices { total += posteriors[index] }
        guard total > 0, total.isFinite else { return true }
        for index in posteriors.indices { posteriors[index] /= total }
        return true
    }
}
