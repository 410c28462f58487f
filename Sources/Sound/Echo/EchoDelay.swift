import Glibc

/// How much later an echo is than its reference: found in the first seconds with sound, then kept, also where the two have clocks of their own.
///
/// Each half second it estimates the room's response to the reference: cross-spectrum over the reference's power, averaged over some seconds. Its
/// peak is the delay. After that the whole response is compared with the one at the beginning, because single peaks of a room change places: by how
/// much it has moved tells the drift, which is followed to a fraction of a sample. Nothing allocates after `init`.
struct EchoDelay {
    /// What the reader of the reference should do.
    enum Change: Equatable {
        /// Read the reference so many samples later than now.
        case jump(Int)
        /// Read it so many samples a second later.
        case rate(Double)
    }

    private static let window = 1 << 14
    /// Samples between two estimates: half a second.
    private static let step = 8000
    /// Lags that are searched.
    private static let lags = -4000..<8000
    /// Where in the adaptive filter the echo begins after a jump.
    static let target = 80
    /// Part of the average that the past keeps at each estimate.
    private static let past: Float = 0.6
    /// Bins below 500 Hz say little of small movements, and are left out once the delay is found.
    private static let lowest = 512
    /// Estimates that an average needs before it is used, and successive peaks that must be equal to be believed, within some samples.
    private static let settled = 4, equal = 4, tolerance = 24
    /// Part of the response that is compared, before and after its peak, and how far it may have moved since the last estimate.
    private static let before = 40, after = 240, reach = 16
    /// Below this correlation, the response is another one: the loudspeaker or the delay was changed.
    private static let alike: Float = 0.35
    /// Estimates with another response, after which it is searched anew.
    private static let patience = 8
    /// Gains of the loop that follows the drift; its largest rate is 1000 parts per million.
    private static let proportional = 0.45, integral = 0.0225, fastest = 16.0
    /// Movement in samples from which a reference that was never moved has another clock.
    private static let moved = 0.75

    private let fourier: FourierTransform
    private let hann: [Float]
    private var heard: [Float]
    private var played: [Float]
    private var real: [Float]
    private var imaginary: [Float]
    private var crossReal: [Float]
    private var crossImaginary: [Float]
    private var power: [Float]
    /// The response that the newest one is compared with.
    private var template: [Float]
    private var hasTemplate = false
    /// The response's beginning in `real`, relative to the peak's lag.
    private var peak = Self.target

    private var total = 0
    private var sinceEstimate = 0
    private var averaged = 0
    private var candidates = InlineArray<4, Int>(repeating: 0)
    private var candidateCount = 0
    private var others = 0
    private(set) var isFound = false
    private var followsDrift = false
    /// Samples a second by which the reference's clock is slower, and the first errors, whose slope gives it.
    private var drift = 0.0
    private var firstErrors = InlineArray<4, Double>(repeating: 0)
    private var errors = 0
    /// How much later than now the reference is read, without the drift since.
    private var later = 0
    /// The largest lag that needs no jump.
    private let nearest: Int

    /// - Parameter filter: samples of the adaptive filter; nil where nothing will be added, which takes no memory.
    init(filter: Int?) {
        let window = filter == nil ? 0 : Self.window
        nearest = (filter ?? 0) / 3
        fourier = FourierTransform(size: window)
        hann = (0..<window).map { Float(0.5 - 0.5 * cos(2 * .pi * Double($0) / Double(window))) }
        heard = [Float](repeating: 0, count: window)
        (played, real, imaginary) = (heard, heard, heard)
        power = [Float](repeating: 0, count: filter == nil ? 0 : window / 2 + 1)
        (crossReal, crossImaginary) = (power, power)
        template = [Float](repeating: 0, count: filter == nil ? 0 : Self.before + Self.after)
    }

    /// - Parameter later: samples by which the reference of a device is read later than it could be; nil for one with the microphone's
    ///   clock.
    mutating func reset(later: Int? = nil) {
        (total, sinceEstimate, self.later, isFound, followsDrift) = (0, 0, later ?? 0, false, later != nil)
        forget()
    }

    /// Takes audio, and the reference as it is read now.
    ///
    /// - Returns: what to change; nil for nothing.
    mutating func add(_ microphone: Span<Float>, _ reference: [Float]) -> Change? {
        let new = microphone.count
        for index in 0..<Self.window - new {
            heard[index] = heard[index + new]
            played[index] = played[index + new]
        }
        for index in 0..<new {
            heard[Self.window - new + index] = microphone[index]
            played[Self.window - new + index] = reference[index]
        }
        total += new
        sinceEstimate += new
        guard sinceEstimate >= Self.step, total >= Self.window else { return nil }
        sinceEstimate = 0
        guard estimate() else { return nil }
        return isFound ? follow() : search()
    }

    /// Estimates the response into `real`; lag n is at n, or at n plus the window's length. False where there is too little to say.
    private mutating func estimate() -> Bool {
        var energy: Float = 0
        for index in 0..<Self.window {
            real[index] = heard[index] * hann[index]
            imaginary[index] = played[index] * hann[index]
            energy += imaginary[index] * imaginary[index]
        }
        guard energy > 1e-8 * Float(Self.window) else { return false }
        // Both spectra by one transform.
        fourier.transform(&real, &imaginary)
        var mean: Float = 0
        for bin in 0...Self.window / 2 {
            let mirrored = (Self.window - bin) & (Self.window - 1)
            let (a, b) = ((real[bin] + real[mirrored]) / 2, (imaginary[bin] - imaginary[mirrored]) / 2)
            let (c, d) = ((imaginary[bin] + imaginary[mirrored]) / 2, (real[mirrored] - real[bin]) / 2)
            crossReal[bin] = Self.past * crossReal[bin] + a * c + b * d
            crossImaginary[bin] = Self.past * crossImaginary[bin] + b * c - a * d
            power[bin] = Self.past * power[bin] + c * c + d * d
            mean += power[bin]
        }
        averaged += 1
        guard averaged >= Self.settled else { return false }
        // Bins without sound in the reference say nothing.
        let floor = 0.001 * mean / Float(Self.window / 2 + 1) + 1e-12
        for bin in 0...Self.window / 2 {
            let (re, im) = (crossReal[bin] / (power[bin] + floor), crossImaginary[bin] / (power[bin] + floor))
            let mirrored = (Self.window - bin) & (Self.window - 1)
            let isLeftOut = isFound && bin < Self.lowest
            (real[bin], imaginary[bin]) = isLeftOut ? (0, 0) : (re, im)
            (real[mirrored], imaginary[mirrored]) = (real[bin], -imaginary[bin])
        }
        fourier.transform(&imaginary, &real)
        return true
    }

    private func response(at lag: Int) -> Float { real[lag & (Self.window - 1)] }

    /// The lag with the largest response.
    private var largest: Int {
        var (best, value) = (0, Float(-1))
        for lag in Self.lags where abs(response(at: lag)) > value { (best, value) = (lag, abs(response(at: lag))) }
        return best
    }

    private mutating func search() -> Change? {
        guard let lag = believed(largest) else { return nil }
        isFound = true
        return place(lag)
    }

    /// The mean of the newest peaks, if they are equal.
    private mutating func believed(_ lag: Int) -> Int? {
        candidates[candidateCount % Self.equal] = lag
        candidateCount += 1
        guard candidateCount >= Self.equal else { return nil }
        var (low, high, sum) = (Int.max, Int.min, 0)
        for index in 0..<Self.equal {
            (low, high, sum) = (min(low, candidates[index]), max(high, candidates[index]), sum + candidates[index])
        }
        return high - low <= Self.tolerance ? sum / Self.equal : nil
    }

    /// Brings the echo to the beginning of the filter, unless it is near enough.
    private mutating func place(_ lag: Int) -> Change? {
        forget()
        // Between two samples, the reference is read with those after them.
        let jump = max(lag - Self.target, ReferenceLine.taps - later)
        // A reference that comes later than its echo is of no use.
        guard followsDrift || lag > nearest, lag >= jump else {
            peak = lag
            return nil
        }
        peak = lag - jump
        later += jump
        followsDrift = true
        // What was read before the jump does not count.
        (total, sinceEstimate) = (0, 0)
        return .jump(jump)
    }

    /// Begins other averages.
    private mutating func forget() {
        (averaged, hasTemplate, candidateCount, others, drift, errors) = (0, false, 0, 0, 0, 0)
        for bin in power.indices { (crossReal[bin], crossImaginary[bin], power[bin]) = (0, 0, 0) }
    }

    private mutating func follow() -> Change? {
        let count = Self.before + Self.after
        guard hasTemplate else {
            guard averaged >= Self.settled + 2 else { return nil }
            for index in 0..<count { template[index] = response(at: peak - Self.before + index) }
            hasTemplate = true
            return nil
        }
        var (best, value, below, above) = (0, -Float.infinity, Float(0), Float(0))
        for shift in -Self.reach...Self.reach {
            let product = product(shift)
            if product > value { (best, value) = (shift, product) }
        }
        (below, above) = (product(best - 1), product(best + 1))
        var (norm, own) = (Float(0), Float(0))
        for index in 0..<count {
            let sample = response(at: peak - Self.before + index + best)
            norm += template[index] * template[index]
            own += sample * sample
        }
        guard value > Self.alike * max((norm * own).squareRoot(), norm) else { return searchAnew() }
        (others, candidateCount) = (0, 0)
        let curve = below - 2 * value + above
        let error = Double(best) + (curve < 0 ? Double((below - above) / (2 * curve)) : 0)
        if abs(error) < 0.5 {
            for index in 0..<count {
                template[index] += 0.05 * (response(at: peak - Self.before + index) - template[index])
            }
        }
        guard followsDrift else { return abs(error) < Self.moved ? nil : begin(error) }
        guard errors >= Self.equal else {
            firstErrors[errors] = error
            errors += 1
            if errors == Self.equal { drift = (error - firstErrors[0]) / (0.5 * Double(Self.equal - 1)) }
            return nil
        }
        drift += Self.integral * error
        return .rate(max(-Self.fastest, min(Self.fastest, Self.proportional * error + drift)))
    }

    /// The reference has another clock: from now on it is read between its samples, for which it must be later than those.
    private mutating func begin(_ error: Double) -> Change? {
        followsDrift = true
        let change = place(peak + Int(error.rounded()))
        followsDrift = change != nil
        return change
    }

    private func product(_ shift: Int) -> Float {
        var sum: Float = 0
        for index in 0..<Self.before + Self.after {
            sum += template[index] * response(at: peak - Self.before + index + shift)
        }
        return sum
    }

    private mutating func searchAnew() -> Change? {
        let (lag, before) = (largest, others)
        others += 1
        guard let believed = believed(lag), before >= Self.patience else { return nil }
        guard abs(believed - peak) > Self.reach else {
            // Its level is another one.
            forget()
            return nil
        }
        return place(believed)
    }
}
