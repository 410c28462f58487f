/// Decides when a wake word with a model of its own fires: once each time that its score rises above its threshold.
struct WakeWordGate {
    /// How long a wake word takes, in seconds: no network tells where the word began.
    static let seconds = 1.0

    /// Index of its label.
    var label: Int
    private var isArmed = true
    /// Time of the newest detection, in seconds.
    private var fired = -Double.infinity
    /// The best score of an episode that may become a near miss, and its time.
    private var nearest: (score: Float, time: Double)?
    /// Whether the score is still that of a word that fired.
    private var hasFired = false
    /// Least share of the threshold that a near miss reaches, whatever the margin.
    private static let leastShare: Float = 0.5

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

    /// Adds a step to the search for near misses: the score rose to within a margin under its threshold, and fell again.
    ///
    /// - Parameters:
    ///   - score: as in ``step(_:threshold:time:refractory:)``, which is called before.
    ///   - threshold: nil if the word never fires.
    ///   - margin: below the threshold, at most half of it.
    ///   - time: of the step's end, in seconds.
    /// - Returns: the score and time of what may be a near miss; a ``NearMissFilter`` decides.
    mutating func nearMiss(
        _ score: Float,
        threshold: Float?,
        margin: Float,
        time: Double
    ) -> (score: Float, time: Double)? {
        guard let threshold, score <= threshold else {
            (nearest, hasFired) = (nil, threshold != nil)
            return nil
        }
        guard score < max(threshold - margin, threshold * Self.leastShare) else {
            if !hasFired, score > nearest?.score ?? 0 { nearest = (score, time) }
            return nil
        }
        hasFired = false
        return takeNearest()
    }

    /// What may be a near miss and has not fallen yet, where the audio ends.
    mutating func takeNearest() -> (score: Float, time: Double)? {
        defer { nearest = nil }
        return nearest
    }

    /// Forgets what may become a near miss, for example after a gap in the audio.
    mutating func flush() { nearest = nil }
}
