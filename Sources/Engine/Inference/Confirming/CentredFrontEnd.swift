import KernelInterface
import Kernels

/// The front end of a confirming network: log-mel bands of frames centred on every hop, and their slopes.
///
/// Frame i is centred on sample `i · hopSamples`; beyond the window's edges the waveform is mirrored. The slope of a band at a frame is
/// Σ k · x[k] / 10 over the frames k = −2…2 around it, with the edges repeated; a further slope is that of the slope.
final class CentredFrontEnd: Sendable {
    /// Shape of the features.
    let plane: Plane
    let windowSamples: Int
    /// Floats of scratch memory that `run` needs.
    let scratchCount: Int
    private let tables: LogMelTables
    private let frames: Int
    private let bands: Int
    private let channels: Int
    private let axis: CentredFrontEndDescription.Axis
    /// Where the log-mel values, and the kernel's own scratch, begin in the scratch memory, after the mirrored waveform.
    private let melOffset: Int
    private let kernelOffset: Int

    /// - Parameter place: the file and the network in it, in error messages.
    init(
        _ description: CentredFrontEndDescription,
        sampleRate: Int,
        windowSamples: Int,
        place: String
    ) throws(ModelError) {
        func wrong(_ key: String, _ what: String) -> ModelError {
            .description.saying("\(place): key “frontEnd.\(key)”: \(what); see Models/FORMAT.md")
        }
        let shape = try description.logMel.shape(sampleRate: sampleRate, windowSamples: windowSamples, place: place)
        guard shape.frameSamples % 2 == 0 else { throw wrong("frameSamples", "\(shape.frameSamples) is not even") }
        let slopes = description.axis == .bands ? 0...2 : 0...0
        guard slopes.contains(description.slopes) else {
            throw wrong("slopes", "\(description.slopes) is not from 0 to \(slopes.upperBound)")
        }
        self.windowSamples = windowSamples
        frames = windowSamples / shape.hopSamples + 1
        bands = shape.bands
        channels = 1 + description.slopes
        axis = description.axis
        plane =
            axis == .bands
            ? Plane(bands: bands, frames: frames, channels: channels) : Plane(bands: 1, frames: frames, channels: bands)
        guard plane.count <= Limits.activations else {
            throw .size.saying("\(place): the features of the window exceed the limit; make the model smaller")
        }
        tables = LogMelTables(shape: shape)
        melOffset = Arena.aligned(windowSamples + shape.frameSamples)
        kernelOffset = melOffset + Arena.aligned(frames * bands)
        scratchCount = kernelOffset + Arena.aligned(shape.scratchCount)
    }

    /// Computes the features of a window.
    ///
    /// - Parameters:
    ///   - samples: `[windowSamples]`.
    ///   - output: `[plane]`.
    ///   - scratch: `scratchCount` floats, 64-byte aligned.
    func run(
        _ samples: UnsafePointer<Float>,
        to output: UnsafeMutablePointer<Float>,
        scratch: UnsafeMutablePointer<Float>,
        kernels: borrowing KernelSet
    ) {
        mirror(samples, to: scratch)
        switch axis {
        case .channels: kernels.logMel(scratch, output, frames, tables, scratch + kernelOffset)
        case .bands:
            let mel = scratch + melOffset
            kernels.logMel(scratch, mel, frames, tables, scratch + kernelOffset)
            for band in 0..<bands {
                let row = output + band * frames * channels
                for frame in 0..<frames { row[frame * channels] = mel[frame * bands + band] }
                for channel in 1..<max(channels, 1) { slope(row + channel - 1, to: row + channel) }
            }
        }
    }

    /// The waveform with half a frame of its mirror image at both ends.
    private func mirror(_ samples: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>) {
        let half = tables.shape.frameSamples / 2
        for index in 0..<half {
            // A short window is mirrored again and again.
            target[index] = samples[mirrored(index - half)]
            target[half + windowSamples + index] = samples[mirrored(windowSamples + index)]
        }
        (target + half).update(from: samples, count: windowSamples)
    }

    private func mirrored(_ place: Int) -> Int {
        guard windowSamples > 1 else { return 0 }
        let period = 2 * (windowSamples - 1)
        let index = (place % period + period) % period
        return min(index, period - index)
    }

    /// The slope of one band over its frames, `channels` floats from one to the next.
    private func slope(_ source: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>) {
        for frame in 0..<frames {
            var sum: Float = 0
            for distance in 1...2 {
                let (before, after) = (max(0, frame - distance), min(frames - 1, frame + distance))
                sum += Float(distance) * (source[after * channels] - source[before * channels])
            }
            target[frame * channels] = sum / 10
        }
    }
}
