private import Glibc
import KernelInterface

/// Turns logits into posteriors: softmax with temperature, summed by label, with the temperature and the prior of clips if requested.
struct Calibration: Sendable {
    private let softmax: KernelSet.Softmax
    private let scale: Float
    private let labelOfLogit: [Int]
    private let silence: Int
    /// Subtracted from the logits, over the temperature, where a word stands out of the background, and where nothing does; empty for
    /// none.
    private let shifts, backgroundShifts: [Float]

    init(_ model: Model, prior: Prior) {
        softmax = model.kernels.softmax
        scale = 1 / (prior == .clip ? model.clipTemperature : model.temperature)
        labelOfLogit = model.labelOfLogit
        silence = model.silenceIndex
        shifts = prior == .clip ? model.clipShifts : []
        backgroundShifts = prior == .clip ? model.backgroundShifts : []
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
        for index in shifts.indices {
            scratch[index] *= exp(-foreground * shifts[index] - (1 - foreground) * backgroundShifts[index])
        }
        for index in labelOfLogit.indices { posteriors[labelOfLogit[index]] += scratch[index] }
        guard !shifts.isEmpty else { return true }
        var total: Float = 0
        for index in posteriors.indices { total += posteriors[index] }
        guard total > 0, total.isFinite else { return true }
        for index in posteriors.indices { posteriors[index] /= total }
        return true
    }
}
