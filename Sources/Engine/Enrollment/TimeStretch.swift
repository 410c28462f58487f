private import Glibc
private import KernelInterface
private import Kernels

extension ArraySlice<Float> {
    /// The samples played at a speed, `[count / speed]`, with their pitch kept: pieces of the audio are overlapped and added, each moved to
    /// where it continues the one before. Source: waveform-similarity overlap-add (Verhelst and Roelands, 1993).
    ///
    /// - Parameters:
    ///   - speed: above 1 is faster.
    ///   - hop: samples from one piece to the next, half of a piece; 16 ms at 16 kHz, two periods of a low voice.
    func stretched(speed: Double, hop: Int = 256) -> [Float] {
        guard speed != 1 else { return Array(self) }
        let wanted = Int(Double(count) / speed)
        // A raised cosine and its shifted copy add up to 1.
        let window = (0..<2 * hop).map { 0.5 - 0.5 * cos(Float.pi * Float($0) / Float(hop)) }
        var output = [Float](repeating: 0, count: wanted + 2 * hop)
        var continuation: Int?
        for place in stride(from: -hop, to: wanted, by: hop) {
            var start = startIndex + Int(Double(place) * speed)
            if let next = continuation { start = mostAlike(to: next, around: start, reach: hop / 2) }
            for index in window.indices where place + index >= 0 {
                output[place + index] += window[index] * sample(start + index)
            }
            continuation = start + hop
        }
        return Array(output.prefix(wanted))
    }

    /// The sample at an index; 0 outside the audio.
    private func sample(_ index: Int) -> Float { indices.contains(index) ? self[index] : 0 }

    /// Start of the piece near `place` whose `2 * reach` samples are most alike to those at `other`.
    private func mostAlike(to other: Int, around place: Int, reach: Int) -> Int {
        let length = 2 * reach
        let reference = (other..<other + length).map(sample)
        let candidates = (place - reach..<place + reach + length).map(sample)
        let products = KernelSet.preferred.correlation(of: reference, with: candidates)
        let squares = candidates.map { Double($0) * Double($0) }
        var power = squares[..<length].reduce(0, +)
        var (best, start) = (-Double.infinity, place)
        for (candidate, product) in products.enumerated() {
            let likeness = Double(product) / Swift.max(power, 1e-9).squareRoot()
            if likeness > best { (best, start) = (likeness, place - reach + candidate) }
            if candidate + length < squares.count { power += squares[candidate + length] - squares[candidate] }
        }
        return start
    }
}
