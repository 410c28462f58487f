import KernelInterface
import Kernels

/// A model's validated front end: computes the network's input columns, `[columns × channels]`, from samples.
///
/// It is stateless: a column depends only on the samples of its frame.
public final class FrontEnd: Sendable {
    /// Columns over the whole window.
    public let columns: Int
    let channels: Int
    /// Samples from one column to the next.
    public let hopSamples: Int
    /// Samples of one column's frame.
    public let frameSamples: Int
    private let scale: Float
    private let tables: LogMelTables?
    /// Centre frequencies of a log-mel front end's bands in hertz, ascending; empty for a waveform.
    public let bandHertz: [Double]
    /// Floats of scratch memory that `run` needs.
    let scratchCount: Int
    /// A hash of its parameters.
    let identity: UInt64

    init(_ description: ModelDescription, file: String) throws(ModelError) {
        identity = hash(Array(description.frontEnd.text.utf8)[...])
        switch description.frontEnd {
        case .waveform(let scale):
            guard scale.isFinite, Float(scale).isFinite else {
                throw .description.saying("\(file): key “frontEnd.scale”: \(scale) is not a finite number")
            }
            columns = description.windowSamples
            channels = 1
            hopSamples = 1
            frameSamples = 1
            self.scale = Float(scale)
            tables = nil
            bandHertz = []
            scratchCount = 0
        case .logMel(let numbers):
            let shape = try numbers.shape(
                sampleRate: description.sampleRate,
                windowSamples: description.windowSamples,
                place: file
            )
            columns = (description.windowSamples - shape.frameSamples) / shape.hopSamples + 1
            channels = shape.bands
            hopSamples = shape.hopSamples
            frameSamples = shape.frameSamples
            scale = 1
            tables = LogMelTables(shape: shape)
            bandHertz = Array(shape.filterBorders().dropFirst().dropLast())
            scratchCount = shape.scratchCount
        }
    }

    /// The range of a window's samples that its newest `count` columns depend on.
    func samples(ofNewest count: Int) -> Range<Int> {
        let first = (columns - count) * hopSamples
        return first..<first + (count - 1) * hopSamples + frameSamples
    }

    /// Computes the first `count` columns of `samples`, which must contain at least the frames of these columns.
    ///
    /// - Parameters:
    ///   - output: `[count × channels]`.
    ///   - scratch: `scratchCount` floats, 64-byte aligned.
    func run(
        _ samples: Span<Float>,
        columns count: Int,
        to output: UnsafeMutablePointer<Float>,
        scratch: UnsafeMutablePointer<Float>,
        kernels: KernelSet
    ) {
        precondition(count >= 1 && (count - 1) * hopSamples + frameSamples <= samples.count)
        samples.withUnsafeBufferPointer { samples in
            guard let base = samples.baseAddress else { return }
            switch tables {
            case .some(let tables):
                kernels.logMel(base, output, count, tables, scratch)
            case .none:
                Kernels.scale(base, by: scale, to: output, count: count)
            }
        }
    }
}

extension LogMelDescription {
    /// - Parameter place: the file, or a network in it, in error messages.
    func shape(sampleRate: Int, windowSamples: Int, place: String) throws(ModelError) -> LogMelShape {
        func wrong(_ key: String, _ what: String) -> ModelError {
            .description.saying("\(place): key “frontEnd.\(key)”: \(what); see Models/FORMAT.md")
        }
        guard (64...4096).contains(fftSize), fftSize & (fftSize - 1) == 0 else {
            throw wrong("fftSize", "\(fftSize) is not a power of two from 64 to 4096")
        }
        guard (2...fftSize).contains(frameSamples) else {
            throw wrong("frameSamples", "\(frameSamples) is not from 2 to fftSize \(fftSize)")
        }
        guard frameSamples <= windowSamples else {
            throw wrong("frameSamples", "\(frameSamples) is more than the window's \(windowSamples) samples")
        }
        guard (1...windowSamples).contains(hopSamples) else {
            throw wrong("hopSamples", "\(hopSamples) is not from 1 to the window's \(windowSamples)")
        }
        guard (1...Limits.bands).contains(bands) else {
            throw wrong("bands", "\(bands) is not from 1 to \(Limits.bands)")
        }
        guard lowHertz >= 0, lowHertz < highHertz else {
            throw wrong("lowHertz", "\(lowHertz) is not from 0 to below highHertz \(highHertz)")
        }
        guard highHertz <= Double(sampleRate) / 2 else {
            throw wrong("highHertz", "\(highHertz) is more than half the sample rate of \(sampleRate)")
        }
        guard Float(floor).isNormal, floor > 0 else {
            throw wrong("floor", "\(floor) is not a positive number that a float can hold")
        }
        guard Float(mean).isFinite else { throw wrong("mean", "\(mean) is not a finite number") }
        guard Float(deviation).isNormal, deviation > 0 else {
            throw wrong("deviation", "\(deviation) is not a positive number that a float can hold")
        }
        return LogMelShape(
            sampleRate: Double(sampleRate),
            frameSamples: frameSamples,
            hopSamples: hopSamples,
            fftSize: fftSize,
            bands: bands,
            lowHertz: lowHertz,
            highHertz: highHertz,
            floor: Float(floor),
            mean: Float(mean),
            deviation: Float(deviation)
        )
    }
}
