package import KernelInterface
import Kernels

extension ExecutionPlan {
    /// Runs all steps, after the front end has written the input columns.
    ///
    /// - Parameters:
    ///   - state: `count` floats of each stream, 64-byte aligned.
    ///   - streams: number of states; each layer runs over all of them before the next, so that its weights are read once.
    ///   - streamStride: floats from one stream's state to the next.
    package func run(
        _ state: UnsafeMutablePointer<Float>,
        weights: UnsafePointer<Float>,
        kernels: borrowing KernelSet,
        streams: Int = 1,
        streamStride: Int = 0
    ) {
        let memory = Memory(
            state: UnsafeMutableRawPointer(state),
            weights: weights,
            streams: streams,
            streamStride: 4 * streamStride
        )
        // Columns may be marked that an earlier run marked, or this one.
        var mayBeMarked = hasHistory
        // Counts indices: an array's iterator allocates in builds without optimisation, and tests require that these builds do not
        // allocate either.
        for index in steps.indices {
            let step = steps[index]
            if case .convolution(let convolution) = step.operation {
                convolve(step, convolution, memory, kernels, isFinite: !mayBeMarked)
                if convolution.bands > 1 {
                    convolveFurtherBands(step, convolution, memory, kernels)
                } else if mayBeMarked, convolution.isQuantised {
                    propagateNonFinite(step, convolution, memory, kernels.quantisedLayout.inputBytes)
                }
                continue
            }
            for stream in 0..<streams {
                let state = memory.state + stream * memory.streamStride
                let input = UnsafePointer(floats(state, step.input))
                let count = step.columns * step.channels
                switch step.operation {
                case .add(let right, let bands, let relu, let output):
                    for band in 0..<bands {
                        let target = floats(state, output) + band * count
                        kernels.add(input + band * count, floats(state, right), target, count, relu)
                    }
                case .mean(let width, let output):
                    kernels.mean(input, floats(state, output), step.columns, width, step.channels)
                case .quantise(let quantiser, let output):
                    if !kernels.quantise(input, state + output, count, quantiser) {
                        markNonFinite(input, state + output, step, kernels.quantisedLayout)
                        mayBeMarked = true
                    }
                case .silu: kernels.silu(floats(state, step.input), count)
                case .gelu: gelu(floats(state, step.input), count)
                case .normalise(let scale, let output):
                    let scale = scale.map { weights + $0 }
                    normalise(input, to: floats(state, output), step.columns, step.channels, scale)
                case .gate(let output, let scratch):
                    let scratch = floats(state, scratch)
                    gate(input, to: floats(state, output), step.columns, step.channels, scratch, kernels)
                case .attention(let attention, let output, let scratch):
                    attention.run(input, to: floats(state, output), floats(state, scratch), kernels)
                case .surround(let surround, let output): surround.copy(input, to: state + output)
                case .convolution: break
                }
            }
        }
    }

    private struct Memory {
        var state: UnsafeMutableRawPointer
        var weights: UnsafePointer<Float>
        var streams: Int
        /// In bytes.
        var streamStride: Int
    }

    private func floats(_ state: UnsafeMutableRawPointer, _ offset: Int) -> UnsafeMutablePointer<Float> {
        (state + offset).assumingMemoryBound(to: Float.self)
    }

    /// One stream: all columns in one call. Several: one call per column, for that column of all streams.
    ///
    /// Where the columns that are computed as one do not divide all columns, the last ones overlap those before.
    ///
    /// - Parameter isFinite: whether no column is marked as not finite, as the fast algorithm requires.
    private func convolve(
        _ step: Step,
        _ convolution: Convolution,
        _ memory: Memory,
        _ kernels: borrowing KernelSet,
        isFinite: Bool
    ) {
        let folded = convolution.foldedColumns
        let (whole, rest) = step.columns.quotientAndRemainder(dividingBy: folded)
        if memory.streams > 1 {
            let inputBytes = convolution.isQuantised ? kernels.quantisedLayout.inputBytes : 4
            let stride = memory.streamStride
            var streams = convolution.shape.adjacentColumns(memory.streams)
            (streams.inputStride, streams.outputStride) = (stride / inputBytes, stride / 4)
            for index in 0..<whole {
                convolve(step, convolution, from: index * folded, streams, quantisedStride: stride, memory, kernels)
            }
            if rest > 0 {
                let first = step.columns - folded
                convolve(step, convolution, from: first, streams, quantisedStride: stride, memory, kernels)
            }
        } else if isFinite, let weights = convolution.fastWeights, let kernel = kernels.convolveFast {
            let stride = convolution.shape.outputChannels * kernels.quantisedLayout.inputBytes
            kernel(
                memory.state + step.input,
                output(convolution, from: 0, quantisedStride: stride, memory, kernels),
                step.columns,
                memory.weights + convolution.weights,
                memory.weights + weights,
                convolution.shape,
                convolution.residual.map { UnsafePointer(floats(memory.state, $0)) },
                convolution.relu,
                memory.state + 4 * layout.count
            )
        } else {
            let shape = convolution.shape.folded(folded)
            let stride = shape.outputChannels * kernels.quantisedLayout.inputBytes
            let columns = shape.adjacentColumns(whole)
            convolve(step, convolution, from: 0, columns, quantisedStride: stride, memory, kernels)
            if rest > 0 {
                let last = shape.adjacentColumns(1)
                let first = step.columns - folded
                convolve(step, convolution, from: first, last, quantisedStride: stride, memory, kernels)
            }
        }
    }

    /// The bands after the first one, of a plan for one stream.
    private func convolveFurtherBands(
        _ step: Step,
        _ convolution: Convolution,
        _ memory: Memory,
        _ kernels: borrowing KernelSet
    ) {
        var (step, convolution) = (step, convolution)
        let bytes = kernels.quantisedLayout.inputBytes
        let outputs = step.columns * convolution.shape.outputChannels
        for _ in 1..<convolution.bands {
            step.input += convolution.bandStride * (convolution.isQuantised ? bytes : 4)
            convolution.residual = convolution.residual.map { $0 + 4 * outputs }
            convolution.floats = convolution.floats.map { $0 + 4 * outputs }
            convolution.quantised = convolution.quantised.map { $0 + bytes * outputs }
            convolve(step, convolution, memory, kernels, isFinite: true)
        }
    }

    /// One call of the kernel, beginning with the step's column `first`.
    private func convolve(
        _ step: Step,
        _ convolution: Convolution,
        from first: Int,
        _ columns: StridedColumns,
        quantisedStride: Int,
        _ memory: Memory,
        _ kernels: borrowing KernelSet
    ) {
        let quantisedBytes = kernels.quantisedLayout.inputBytes
        let adjacent = convolution.shape.adjacentColumns(1)
        let shape = convolution.shape.folded(convolution.foldedColumns)
        let target = first * adjacent.outputStride
        let inputBytes = convolution.isQuantised ? quantisedBytes : 4
        let input = memory.state + step.input + first * adjacent.inputStride * inputBytes
        let residual = convolution.residual.map { UnsafePointer(floats(memory.state, $0) + target) }
        let output = output(convolution, from: target, quantisedStride: quantisedStride, memory, kernels)
        let (weights, relu) = (memory.weights + convolution.weights, convolution.relu)
        if convolution.isQuantised {
            kernels.convolveQuantised(input, output, columns, weights, shape, residual, relu)
        } else if let result = output.floats {
            kernels.convolve(floats(input, 0), result, columns, weights, shape, residual, relu)
        }
    }

    /// Where a call writes its results, beginning with the float `target` of the output.
    private func output(
        _ convolution: Convolution,
        from target: Int,
        quantisedStride: Int,
        _ memory: Memory,
        _ kernels: borrowing KernelSet
    ) -> QuantisedOutput {
        var output = QuantisedOutput()
        output.quantisedStride = quantisedStride
        if let quantiser = convolution.quantiser { output.quantiser = quantiser }
        if let offset = convolution.floats { output.floats = floats(memory.state, offset) + target }
        if let offset = convolution.quantised {
            output.quantised = memory.state + offset + target * kernels.quantisedLayout.inputBytes
        }
        return output
    }

    // Integers cannot represent NaN and infinity. A quantised column that holds one has all bits of its first channel set, which
    // the quantiser never makes, and every column that depends on it is marked the same way, or NaN.

    /// Marks the quantised columns whose floats are not all finite.
    private func markNonFinite(
        _ input: UnsafePointer<Float>,
        _ output: UnsafeMutableRawPointer,
        _ step: Step,
        _ layout: QuantisedLayout
    ) {
        for column in 0..<step.columns {
            guard firstNonFinite(input + column * step.channels, count: step.channels) != nil else { continue }
            mark(output + column * step.channels * layout.inputBytes, layout.inputBytes)
        }
    }

    private func mark(_ column: UnsafeMutableRawPointer, _ inputBytes: Int) {
        for byte in 0..<inputBytes { column.storeBytes(of: 0xFF, toByteOffset: byte, as: UInt8.self) }
    }

    /// Whether a quantised column is marked.
    private func isMarked(_ column: UnsafeRawPointer) -> Bool { column.load(as: UInt8.self) > 127 }

    /// Marks each output column that depends on a marked one.
    private func propagateNonFinite(
        _ step: Step,
        _ convolution: Convolution,
        _ memory: Memory,
        _ inputBytes: Int
    ) {
        for stream in 0..<memory.streams {
            propagateNonFinite(step, convolution, in: memory.state + stream * memory.streamStride, inputBytes)
        }
    }

    private func propagateNonFinite(
        _ step: Step,
        _ convolution: Convolution,
        in state: UnsafeMutableRawPointer,
        _ inputBytes: Int
    ) {
        let shape = convolution.shape
        let input = state + step.input
        let columnBytes = shape.inputChannels * inputBytes
        let residual = convolution.residual.map { floats(state, $0) }
        var isFinite = true
        for column in 0..<shape.inputColumns(for: step.columns) where isMarked(input + column * columnBytes) {
            isFinite = false
        }
        if let residual {
            for column in 0..<step.columns where !residual[column * step.channels].isFinite { isFinite = false }
        }
        guard !isFinite else { return }
        for column in 0..<step.columns {
            var isMarked = residual.map { !$0[column * step.channels].isFinite } ?? false
            for tap in 0..<shape.kernel {
                let place = column * shape.stride + tap * shape.dilation
                if self.isMarked(input + place * columnBytes) { isMarked = true }
            }
            guard isMarked else { continue }
            if let offset = convolution.floats {
                for channel in 0..<step.channels { floats(state, offset)[column * step.channels + channel] = .nan }
            }
            if let offset = convolution.quantised {
                mark(state + offset + column * step.channels * inputBytes, inputBytes)
            }
        }
    }
}

extension ExecutionPlan.Surround {
    /// - Parameter target: memory for the tensor with the zeros.
    func copy(_ input: UnsafeRawPointer, to target: UnsafeMutableRawPointer) {
        let (padded, padding) = (convolution.padded(from), convolution.padding)
        if inputBytes == 2 {
            target.initializeMemory(as: Int16.self, repeating: Int16(truncatingIfNeeded: zero), count: padded.count)
        } else {
            let zero = UInt8(truncatingIfNeeded: zero)
            target.initializeMemory(as: UInt8.self, repeating: zero, count: padded.count * inputBytes)
        }
        let bandBytes = from.frames * from.channels * inputBytes
        for band in 0..<from.bands {
            let column = (band + padding.bands) * padded.frames + padding.frames
            let place = target + column * from.channels * inputBytes
            place.copyMemory(from: input + band * bandBytes, byteCount: bandBytes)
        }
    }
}
