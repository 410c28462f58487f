private import Core
private import Glibc
import KernelInterface

/// Turns logits into posteriors: softmax with temperature, summed by label, with the temperature and the prior of clips if requested.
struct Calibration: Sendable {
    private let softmax: KernelSet.Softmax
    private let scale: Float
    private let labelOfLogit: [Int]
    private let silence: Int
    /// Labels before this one are words.
    private let wordCount: Int
    /// Subtracted from the logits, over the temperature; empty for none.
    private let shifts: [Float]
    private let contrast: ClipContrast?

    init(_ model: Model, prior: Prior) {
        softmax = model.kernels.softmax
        scale = 1 / (prior == .clip ? model.clipTemperature : model.temperature)
        labelOfLogit = model.labelOfLogit
        silence = model.silenceIndex
        wordCount = Labels(model.labels).wordIndices.count
        shifts = prior == .clip ? model.clipShifts : []
        contrast = prior == .clip ? model.clipContrast : nil
    }

    /// Computes `posteriors`, `[labels]`, from `[logits]`; `scratch` holds one float per logit.
    ///
    /// - Parameter foreground: how far something stands out of the background, 0…1.
    /// - Returns: false where a logit is NaN or infinite; the posteriors are then 1 for silence and 0 otherwise.
    func apply(
        _ logits: UnsafePointer<Float>,
        to posteriors: inout [Float],
        foreground: Float = 1,
        scratch: UnsafeMutablePointer<Float>
    ) -> Bool {
        let isFinite = softmax(logits, scratch, labelOfLogit.count, scale)
        for index in posteriors.indices { posteriors[index] = 0 }
        guard isFinite else {
            posteriors[silence] = 1
            return false
        }
        // A factor of the probability is the same as a shift of the logit.
        for index in shifts.indices { scratch[index] *= exp(-shifts[index]) }
        if let contrast, foreground < 1 { lower(scratch, by: contrast, logits, foreground) }
        for index in labelOfLogit.indices { posteriors[labelOfLogit[index]] += scratch[index] }
        guard !shifts.isEmpty || contrast != nil else { return true }
        var total: Float = 0
        for index in posteriors.indices { total += posteriors[index] }
        guard total > 0, total.isFinite else { return true }
        for index in posteriors.indices { posteriors[index] /= total }
        return true
    }

    /// Lowers the probabilities of words where nothing stands out of the background and none leads by enough.
    private func lower(
        _ probabilities: UnsafeMutablePointer<Float>,
        by contrast: ClipContrast,
        _ logits: UnsafePointer<Float>,
        _ foreground: Float
    ) {
        var best = -Float.infinity
        for index in labelOfLogit.indices where labelOfLogit[index] < wordCount { best = max(best, logits[index]) }
        let factor = exp(-scale * contrast.penalty(logits, best: best, foreground: foreground))
        for index in labelOfLogit.indices where labelOfLogit[index] < wordCount { probabilities[index] *= factor }
    }
}
