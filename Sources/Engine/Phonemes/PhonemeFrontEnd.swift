import Glibc
import Inference
import KernelInterface

/// Logarithms of the energy in 80 bands, of frames of 25 ms each 10 ms, centred on every hop; the waveform is mirrored at both ends.
///
/// The spectrum of 400 samples is two matrices: cosines of sums, and sines of differences, of samples that lie the same way from the middle.
struct PhonemeFrontEnd: ~Copyable, Sendable {
    static let hopSamples = 160
    static let frameSamples = 400
    /// The lowest energy whose logarithm is taken.
    private static let floor: Float = 1e-10
    private static let half = frameSamples / 2
    /// Those that bands have; the lowest two and those above 7.6 kHz have none.
    private static let bins = 188
    private static let firstBin = 2

    private static let bands = PhonemeLayers.bands
    private static let spectrum = ConvolutionShape(inputChannels: half, outputChannels: bins)
    private static let bandSums = ConvolutionShape(inputChannels: bins, outputChannels: bands)

    private let weights: Arena
    private let cosines: Arena.Region
    private let sines: Arena.Region
    private let mel: Arena.Region
    /// The Hann window from its second sample to its middle.
    private let window: Arena.Region

    /// - Parameter file: has the filters of the bands.
    init(_ file: SafeTensors) throws(ModelError) {
        let filters = try file.floats("mel", shape: [Self.bands, Self.half + 1])
        var layout = Arena.Layout()
        cosines = layout.reserve(packedConvolutionCount(Self.spectrum))
        sines = layout.reserve(packedConvolutionCount(Self.spectrum))
        mel = layout.reserve(packedConvolutionCount(Self.bandSums))
        window = layout.reserve(Self.half)
        weights = Arena(layout)
        var used: [Float] = []
        for band in 0..<Self.bands {
            let first = band * (Self.half + 1) + Self.firstBin
            used += filters[first..<first + Self.bins]
        }
        let none = [Float](repeating: 0, count: Self.bins)
        packConvolution(weights: used, bias: none, shape: Self.bandSums, into: weights[mel])
        for (region, function) in [(cosines, cos), (sines, sin)] as [(Arena.Region, (Double) -> Double)] {
            var numbers: [Float] = []
            for bin in Self.firstBin..<Self.firstBin + Self.bins {
                for sample in 1...Self.half {
                    numbers.append(Float(function(2 * .pi * Double(bin * sample % Self.frameSamples) / 400)))
                }
            }
            packConvolution(weights: numbers, bias: none, shape: Self.spectrum, into: weights[region])
        }
        for sample in 1...Self.half {
            weights[window][sample - 1] = Float(0.5 - 0.5 * cos(2 * .pi * Double(sample) / Double(Self.frameSamples)))
        }
    }

    /// Frames of so many samples.
    static func frames(_ samples: Int) -> Int { samples / hopSamples + 1 }

    /// Memory for windows of at most so many samples.
    struct Scratch {
        let samples: Arena.Region
        let sums: Arena.Region
        let differences: Arena.Region
        let real: Arena.Region
        let imaginary: Arena.Region

        init(samples count: Int, _ layout: inout Arena.Layout) {
            let frames = PhonemeFrontEnd.frames(count)
            samples = layout.reserve(count + PhonemeFrontEnd.frameSamples)
            sums = layout.reserve(frames * PhonemeFrontEnd.half)
            differences = layout.reserve(frames * PhonemeFrontEnd.half)
            real = layout.reserve(frames * PhonemeFrontEnd.bins)
            imaginary = layout.reserve(frames * PhonemeFrontEnd.bins)
        }
    }

    /// Computes the bands, `[frames × 80]`, of more than 200 samples.
    func run(
        _ samples: UnsafeBufferPointer<Float>,
        to output: UnsafeMutablePointer<Float>,
        _ scratch: Scratch,
        _ memory: borrowing Arena,
        _ kernels: borrowing KernelSet
    ) {
        guard let base = samples.baseAddress, samples.count > Self.half else { return }
        let (half, count) = (Self.half, samples.count)
        let padded = memory[scratch.samples]
        (padded + half).update(from: base, count: count)
        for index in 0..<half {
            padded[index] = base[half - index]
            padded[half + count + index] = base[count - 2 - index]
        }
        let frames = Self.frames(count)
        fold(padded, memory[scratch.sums], memory[scratch.differences], frames, weights[window])
        let (real, imaginary) = (memory[scratch.real], memory[scratch.imaginary])
        let columns = Self.spectrum.adjacentColumns(frames)
        let (sums, differences) = (memory[scratch.sums], memory[scratch.differences])
        kernels.convolve(sums, real, columns, weights[cosines], Self.spectrum, nil, false)
        kernels.convolve(differences, imaginary, columns, weights[sines], Self.spectrum, nil, false)
        for index in 0..<frames * Self.bins {
            real[index] = real[index] * real[index] + imaginary[index] * imaginary[index]
        }
        let rows = Self.bandSums.adjacentColumns(frames)
        kernels.convolve(real, output, rows, weights[mel], Self.bandSums, nil, false)
        for index in 0..<frames * Self.bands { output[index] = logf(max(output[index], Self.floor)) }
    }

    /// Sums and differences of the windowed samples of each frame.
    private func fold(
        _ samples: UnsafePointer<Float>,
        _ sums: UnsafeMutablePointer<Float>,
        _ differences: UnsafeMutablePointer<Float>,
        _ frames: Int,
        _ window: UnsafePointer<Float>
    ) {
        let half = Self.half
        for frame in 0..<frames {
            let (first, place) = (samples + frame * Self.hopSamples, frame * half)
            for index in 0..<half - 1 {
                let (near, far) = (first[index + 1], first[Self.frameSamples - 1 - index])
                sums[place + index] = window[index] * (near + far)
                differences[place + index] = window[index] * (near - far)
            }
            // The middle has no opposite.
            sums[place + half - 1] = window[half - 1] * first[half]
            differences[place + half - 1] = 0
        }
    }
}
