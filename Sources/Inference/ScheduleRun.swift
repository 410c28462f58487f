import KernelInterface
import Kernels

extension Schedule {
    /// Runs all steps over the block at `base`; the front end has filled the input.
    ///
    /// Like `age` it counts by index: an iterator over an array allocates in builds without optimisation, and the
    /// tests hold those too to allocating nothing.
    ///
    /// - Parameters:
    ///   - scratch: `scratchCount` floats for each stream, 64-byte aligned.
    ///   - streams: blocks of as many streams, which every layer goes through before the next, so that its weights are
    ///     read once for all.
    ///   - apart: floats from one stream's block to the next.
    func run(
        _ base: UnsafeMutablePointer<Float>,
        weights: UnsafePointer<Float>,
        kernels: borrowing KernelSet,
        scratch: UnsafeMutablePointer<Float>,
        streams: Int = 1,
        apart: Int = 0
    ) {
        for index in steps.indices {
            let step = steps[index]
            let input = UnsafePointer(base + step.input)
            let output = base + step.output
            switch step.work {
            case .convolution(let work):
                let memory = Memory(base: base, weights: weights, scratch: scratch, streams: streams, apart: apart)
                convolve(step, work, memory, kernels)
            case .add(let right, let rectify):
                for offset in stride(from: 0, through: (streams - 1) * apart, by: max(apart, 1)) {
                    kernels.add(
                        input + offset,
                        base + right + offset,
                        output + offset,
                        step.columns * step.channels,
                        rectify
                    )
                }
            case .mean(let run):
                for offset in stride(from: 0, through: (streams - 1) * apart, by: max(apart, 1)) {
                    kernels.mean(input + offset, output + offset, step.columns, run, step.channels)
                }
            }
        }
    }

    private struct Memory {
        var base: UnsafeMutablePointer<Float>
        var weights: UnsafePointer<Float>
        var scratch: UnsafeMutablePointer<Float>
        var streams: Int
        var apart: Int
    }

    /// All columns of one stream in one call, or one column of all streams in each.
    private func convolve(_ step: Step, _ work: Convolution, _ memory: Memory, _ kernels: borrowing KernelSet) {
        let shape = work.shape
        let input = UnsafePointer(memory.base + step.input)
        let output = memory.base + step.output
        let packed = memory.weights + work.weights
        let along = shape.run(of: step.columns)
        var run = along
        var rounds = 1
        if memory.streams > 1 {
            run = ColumnRun(count: memory.streams, inputStep: memory.apart, outputStep: memory.apart)
            rounds = step.columns
        }
        guard let quantiser = work.quantiser else {
            for round in 0..<rounds {
                let place = step.output + round * along.outputStep
                let added = work.residual.map { UnsafePointer(memory.base + $0 + round * along.outputStep) }
                let source = input + round * along.inputStep
                kernels.convolve(source, memory.base + place, run, packed, shape, added, work.rectify)
            }
            return
        }
        let count = shape.inputColumns(for: step.columns) * shape.inputChannels
        let bytes = kernels.quantisedLayout.inputBytes
        let rounded = UnsafeMutableRawPointer(memory.scratch)
        var isFinite = true
        for stream in 0..<memory.streams {
            let target = rounded + 4 * stream * scratchCount
            if !kernels.quantise(input + stream * memory.apart, target, count, quantiser) { isFinite = false }
        }
        if memory.streams > 1 { run.inputStep = 4 * scratchCount / bytes }
        for round in 0..<rounds {
            let place = round * along.outputStep
            let added = work.residual.map { UnsafePointer(memory.base + $0 + place) }
            let source = UnsafeRawPointer(rounded + round * along.inputStep * bytes)
            kernels.convolveQuantised(source, output + place, run, packed, shape, added, work.rectify)
        }
        guard !isFinite else { return }
        for stream in 0..<memory.streams {
            let start = stream * memory.apart
            spread(input + start, output + start, step.columns, shape)
        }
    }

    /// Makes every column NaN that comes of a number that is NaN or infinite: whole numbers know neither.
    private func spread(
        _ input: UnsafePointer<Float>,
        _ output: UnsafeMutablePointer<Float>,
        _ columns: Int,
        _ shape: ConvolutionShape
    ) {
        let run = shape.run(of: columns)
        for column in 0..<columns {
            let patch = input + column * run.inputStep
            guard firstNonFinite(patch, count: shape.span * shape.inputChannels) != nil else { continue }
            for channel in 0..<shape.outputChannels { output[column * run.outputStep + channel] = .nan }
        }
    }
}
