/// Decides when a wake word with a model of its own fires: once each time that its score rises above its threshold.
struct WakeWordGate: Equatable {
    /// How long a wake word takes, in seconds: no network tells where the word began.
    static let seconds = 1.0

    /// Index of its label.
    var label: Int
    private var isArmed = true
    /// Time of the newest detection, in seconds.
    private var fired = -Double.infinity

    init(label: Int) { self.label = label }

    /// Adds a step.
    ///
    /// - Parameters:
    ///   - score: what its newest probabilities come to, 0…1; see `WakeWordDetector`.
    ///   - threshold: nil if the word never fires.
    ///   - time: of the step's end, in seconds.
    ///   - refractory: the shortest time between two detections, in seconds; in between, the score must also fall to the threshold.
    /// - Returns: whether the word fires.
    mutating func step(_ score: Float, threshold: Float?, time: Double, refractory: Double) -> Bool {
        guard let threshold, score > threshold else {
            if time - fired >= refractory { isArmed = true }
            return false
        }
        guard isArmed else { return false }
        (isArmed, fired) = (false, time)
        return true
    }
}
