import KernelInterface

/// Turns logits into posteriors: softmax with temperature, summed by label, with the temperature and the prior of clips if requested.
struct Calibration: Sendable {
    private let softmax: KernelSet.Softmax
    private let scale: Float
    private let labelOfLogit: [Int]
    private let silence: Int
    /// Factor of each logit's probability, which is the same as a shift of the logit; empty for none.
    private let factors: [Float]

    init(_ model: Model, prior: Prior) {
        softmax = model.kernels.softmax
        scale = 1 / (prior == .clip ? model.clipTemperature : model.temperature)
        labelOfLogit = model.labelOfLogit
        silence = model.silenceIndex
        factors = prior == .clip ? model.clipFactors : []
    }

    /// Computes `posteriors`, `[labels]`, from `[logits]`; `scratch` holds one float per logit.
    ///
    /// - Returns: false where a logit is NaN or infinite; the posteriors are then 1 for silence and 0 otherwise.
    func apply(
        _ logits: UnsafePointer<Float>,
        to posteriors: inout [Float],
        scratch: UnsafeMutablePointer<Float>
    ) -> Bool {
        let isFinite = softmax(logits, scratch, labelOfLogit.count, scale)
        for index in posteriors.indices { posteriors[index] = 0 }
        guard isFinite else {
            posteriors[silence] = 1
            return false
        }
        for index in factors.indices { scratch[index] *= factors[index] }
        for index in labelOfLogit.indices { posteriors[labelOfLogit[index]] += scratch[index] }
        guard !factors.isEmpty else { return true }
        var total: Float = 0
        for index in posteriors.indices { total += posteriors[index] }
        guard total > 0, total.isFinite else { return true }
        for index in posteriors.indices { posteriors[index] /= total }
        return true
    }
}
