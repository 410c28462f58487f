import Audio

extension [Float] {
    /// The samples by the rule of files and pipes: pops are clipped, NaN and infinity count as 0.
    ///
    /// - Throws: ``SpotterError/audio`` where their full scale is not 1.
    func read(by reader: inout SampleReader) throws(SpotterError) -> [Float] {
        if let problem = scaleProblem { throw .audio.saying(problem) }
        var samples = map { $0.isFinite ? $0 : 0 }
        samples.withUnsafeMutableBufferPointer { reader.pass($0) }
        return samples
    }

    /// Why samples are not in −1…1: most of those that are not 0 are whole numbers, or far beyond 1. A pop is no problem, nor is speech
    /// that was amplified: it is clipped.
    private var scaleProblem: String? {
        var (sounds, wrong, highest) = (0, 0, Float(0))
        for sample in self where sample.isFinite && sample != 0 {
            sounds += 1
            let magnitude = abs(sample)
            guard magnitude >= 2, magnitude > 64 || magnitude == magnitude.rounded() else { continue }
            wrong += 1
            highest = Swift.max(highest, magnitude)
        }
        guard wrong >= 16, 2 * wrong > sounds else { return nil }
        return "the samples go to \(highest), but floats are in -1 to 1; "
            + "divide them by their full scale, which is 32768 for 16 bits"
    }
}
