private import Glibc

/// How far something stands out of a clip's background, as a word does, and babble or steady noise do not.
///
/// The contrast of a window is the loudest 75 ms over the median, in decibels, of the energy in all bands. The power of a column is
/// the sum of its mel energies; runs of ``run`` columns are averaged.
struct ClipContrast: Sendable {
    /// Columns that are averaged.
    static let run = 6
    /// Added to each power, so that digital silence has a contrast of 0.
    private static let least: Float = 1e-10

    /// Contrasts in dB at which something begins to stand out, and does so fully.
    let range: (from: Float, to: Float)
    /// The front end's normalization: a feature is (ln(energy + floor) − mean) / deviation.
    let mean: Float
    let deviation: Float
    let floor: Float

    /// 0…1; 0 where a feature is not finite.
    ///
    /// - Parameters:
    ///   - features: `[columns × bands]`.
    ///   - powers: scratch memory, `[columns]`.
    func foreground(
        of features: UnsafePointer<Float>,
        columns: Int,
        bands: Int,
        powers: UnsafeMutablePointer<Float>
    ) -> Float {
        let count = columns - Self.run + 1
        guard count > 0 else { return 0 }
        for column in 0..<columns {
            var power = Self.least
            for band in 0..<bands {
                power += max(0, exp(features[column * bands + band] * deviation + mean) - floor)
            }
            powers[column] = power
        }
        for index in 0..<count {
            var sum: Float = 0
            for column in index..<index + Self.run { sum += powers[column] }
            powers[index] = sum / Float(Self.run)
        }
        // Insertion sort: there are some seventy, and an array would be an allocation.
        for index in 1..<max(count, 1) {
            let value = powers[index]
            var place = index
            while place > 0, powers[place - 1] > value {
                powers[place] = powers[place - 1]
                place -= 1
            }
            powers[place] = value
        }
        let contrast = 10 * log10(powers[count - 1] / powers[count / 2])
        guard contrast.isFinite else { return 0 }
        return min(1, max(0, (contrast - range.from) / (range.to - range.from)))
    }
}

extension ModelDescription {
    /// The contrast of clips of a validated description.
    var contrastOfClips: ClipContrast? {
        guard let range = clipContrast, range.count == 2, case .logMel(let frontEnd) = frontEnd else { return nil }
        return ClipContrast(
            range: (Float(range[0]), Float(range[1])),
            mean: Float(frontEnd.mean),
            deviation: Float(frontEnd.deviation),
            floor: Float(frontEnd.floor)
        )
    }
}
