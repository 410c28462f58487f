private import Glibc

/// Contrasts in dB at which something begins to stand out of a clip's background, and does so fully.
struct ContrastRange: Sendable {
    let from: Float
    let to: Float

    /// - Parameter wrong: the error for numbers that are no range.
    init(_ from: Double, _ to: Double, wrong: (_ what: String) -> ModelError) throws(ModelError) {
        guard from >= 0, from < to, to <= 100 else {
            throw wrong("\(from) and \(to) are not two rising numbers of decibels from 0 to 100")
        }
        (self.from, self.to) = (Float(from), Float(to))
    }

    /// How far something stands out, 0…1.
    func foreground(_ decibels: Float) -> Float { min(1, max(0, (decibels - from) / (to - from))) }
}

/// How far something stands out of a clip's background, as a word does, and babble or steady noise do not.
///
/// The contrast of a window is the loudest 75 ms over the median, in decibels, of the energy in all bands. Of each band's energies a
/// low quantile is subtracted first, so that hum and the noise of a fan do not count. The power of a column is the sum of what is
/// left; runs of ``run`` columns are averaged.
///
/// Where nothing stands out, a word must lead another output, that of babble, by a distance of logits: what its lead lacks is subtracted from
/// the logits of words.
struct ClipContrast: Sendable {
    /// Columns that are averaged.
    static let run = 6
    /// A band's background is the energy that one column in so many is below.
    static let quantile = 10
    /// Added to each power, so that digital silence has a contrast of 0.
    private static let least: Float = 1e-10

    let range: ContrastRange
    /// The output that words must lead where nothing stands out.
    let over: Int
    /// How far the largest logit of a word must be above that of ``over``.
    let lead: Float
    /// The front end's normalization: a feature is (ln(energy + floor) − mean) / deviation.
    let mean: Float
    let deviation: Float
    let floor: Float

    /// The contrast in dB; 0 where a feature is not finite.
    ///
    /// - Parameters:
    ///   - features: `[columns × bands]`; energies when it returns.
    ///   - powers: scratch memory, `[columns]`.
    func decibels(
        of features: UnsafeMutablePointer<Float>,
        columns: Int,
        bands: Int,
        powers: UnsafeMutablePointer<Float>
    ) -> Float {
        let count = columns - Self.run + 1
        guard count > 0 else { return 0 }
        for band in 0..<bands { subtractBackground(features + band, columns: columns, bands: bands, smallest: powers) }
        for column in 0..<columns {
            var power = Self.least
            for band in 0..<bands { power += features[column * bands + band] }
            powers[column] = power
        }
        for index in 0..<count {
            var sum: Float = 0
            for column in index..<index + Self.run { sum += powers[column] }
            powers[index] = sum / Float(Self.run)
        }
        for index in 0..<count { Self.insert(powers[index], at: index, into: powers) }
        let contrast = 10 * log10(powers[count - 1] / powers[count / 2])
        return contrast.isFinite ? contrast : 0
    }

    /// What is subtracted from the logits of words, 0…`lead`.
    ///
    /// - Parameters:
    ///   - best: the largest logit of a word.
    ///   - foreground: how far something stands out, 0…1.
    func penalty(_ logits: UnsafePointer<Float>, best: Float, foreground: Float) -> Float {
        (1 - foreground) * min(lead, max(0, lead - (best - logits[over])))
    }

    /// Turns the features of one band into energies over its background.
    private func subtractBackground(
        _ features: UnsafeMutablePointer<Float>,
        columns: Int,
        bands: Int,
        smallest: UnsafeMutablePointer<Float>
    ) {
        let kept = columns / Self.quantile + 1
        for column in 0..<columns {
            let energy = max(0, exp(features[column * bands] * deviation + mean) - floor)
            features[column * bands] = energy
            if column < kept {
                Self.insert(energy, at: column, into: smallest)
            } else if energy < smallest[kept - 1] {
                Self.insert(energy, at: kept - 1, into: smallest)
            }
        }
        let background = smallest[kept - 1]
        for column in 0..<columns { features[column * bands] = max(0, features[column * bands] - background) }
    }

    /// Puts a value in its place among the first `count` values, which are sorted, and overwrites the next one. There are few, and an
    /// array would be an allocation.
    private static func insert(_ value: Float, at count: Int, into values: UnsafeMutablePointer<Float>) {
        var place = count
        while place > 0, values[place - 1] > value {
            values[place] = values[place - 1]
            place -= 1
        }
        values[place] = value
    }
}

extension ModelDescription {
    /// The contrast of clips of a validated description.
    func contrastOfClips(file: String) throws(ModelError) -> ClipContrast? {
        guard let clipContrast, case .logMel(let frontEnd) = frontEnd else { return nil }
        return ClipContrast(
            range: try ContrastRange(clipContrast.from, clipContrast.to) { wrong("clipContrast", $0, file) },
            over: clipContrast.over,
            lead: Float(clipContrast.lead),
            mean: Float(frontEnd.mean),
            deviation: Float(frontEnd.deviation),
            floor: Float(frontEnd.floor)
        )
    }
}
