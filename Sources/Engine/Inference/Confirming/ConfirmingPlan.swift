import KernelInterface
import Kernels

/// The steps of one run through a confirming network, with every address resolved to an offset into one block of memory.
///
/// Tensors are `[bands × frames × channels]`; each lives from the step that computes it to the last one that reads it, and then gives
/// its memory to others. A convolution with zeros around its input, or in int8, reads a copy of it.
struct ConfirmingPlan: Sendable {
    private struct Convolution: Sendable {
        var convolution: PlaneConvolution
        var shape: ConvolutionShape
        /// Floats from the start of the weights.
        var weights: Int
        /// Nil for a layer that computes in floats.
        var quantiser: Quantiser?
        var activation: ConfirmingLayerDescription.Activation

        /// Whether all columns of all bands are adjacent, as of a kernel of one number.
        var isPointwise: Bool {
            convolution.kernel == Extent(bands: 1, frames: 1) && convolution.stride == Extent(bands: 1, frames: 1)
                && !convolution.isPadded
        }
    }

    private enum Operation: Sendable {
        case convolution(Convolution)
        /// A depthwise convolution with a kernel of 1, whose weights differ by part of the bands.
        case bandScale(ConvolutionShape, weights: Int, partStride: Int, parts: Int)
        case meanBands
        case meanFrames
        /// - Parameter first: the first frame that is kept.
        case middleFrames(first: Int)
        /// - Parameters:
        ///   - right: offset of the other addend.
        ///   - isBand: whether that has one band, which is added to every band.
        case add(right: Int, isBand: Bool, relu: Bool)
    }

    private struct Step: Sendable {
        var operation: Operation
        /// Offset and shape of the input, and of the output.
        var input: Int
        var from: Plane
        var output: Int
        var to: Plane
    }

    private var steps: [Step] = []
    /// Floats of the memory.
    private(set) var count = 0
    /// Offset of the features.
    private(set) var input = 0
    /// Offset of the logits.
    private(set) var output = 0
    private(set) var multiplyAdds = 0
    /// Offset of the copies that convolutions read.
    private var copy = 0

    init(_ layers: PlaneLayers, weights: borrowing ConfirmingWeights) {
        let memory = PlaneMemory(layers)
        input = memory.offset(of: 0)
        var copyCount = 0
        for (index, layer) in layers.layers.enumerated() {
            let (from, to) = (layers.planes[layer.inputs[0]], layers.planes[index + 1])
            let source = memory.offset(of: layer.inputs[0])
            let target = memory.offset(of: index + 1)
            func append(_ operation: Operation, input: Int? = nil) {
                steps.append(Step(operation: operation, input: input ?? source, from: from, output: target, to: to))
            }
            switch layer.operation {
            case .convolution(let convolution, let activation):
                let packed = weights.layers[index]
                let shape = convolution.shape(of: from)
                append(
                    .convolution(
                        Convolution(
                            convolution: convolution,
                            shape: shape,
                            weights: packed.offset,
                            quantiser: packed.quantiser,
                            activation: activation
                        )
                    )
                )
                // As many floats suffice for integers; kernels may read some inputs beyond the last one.
                if convolution.isPadded || packed.quantiser != nil {
                    copyCount = max(copyCount, convolution.padded(from).count + quantisedGroupSize)
                }
                multiplyAdds += shape.weightCount * to.bands * to.frames
            case .bandScale(let channels, let parts):
                let shape = ConvolutionShape(inputChannels: channels, outputChannels: channels, groups: channels)
                let packed = weights.layers[index]
                append(.bandScale(shape, weights: packed.offset, partStride: packed.partStride, parts: parts))
            case .meanBands: append(.meanBands)
            case .meanFrames: append(.meanFrames)
            case .middleFrames: append(.middleFrames(first: (from.frames - to.frames) / 2))
            case .add(let activation):
                let others = layer.inputs.dropFirst()
                for (number, other) in others.enumerated() {
                    let isLast = number + 1 == others.count
                    append(
                        .add(
                            right: memory.offset(of: other),
                            isBand: layers.planes[other].bands == 1,
                            relu: isLast && activation == .relu
                        ),
                        input: number == 0 ? source : target
                    )
                }
            }
        }
        output = memory.offset(of: layers.output)
        copy = memory.count
        count = copy + Arena.aligned(copyCount)
    }

    /// Runs all steps, after the front end has written the features.
    ///
    /// - Parameter memory: `count` floats, 64-byte aligned.
    func run(_ memory: UnsafeMutablePointer<Float>, weights: UnsafePointer<Float>, kernels: borrowing KernelSet) {
        // Counts indices: an array's iterator allocates in builds without optimisation, and tests require that these builds do not
        // allocate either.
        for index in steps.indices {
            let step = steps[index]
            let (from, to) = (step.from, step.to)
            let input = UnsafePointer(memory + step.input)
            let output = memory + step.output
            switch step.operation {
            case .convolution(let convolution):
                convolve(convolution, step, memory, weights + convolution.weights, kernels)
            case .bandScale(let shape, let offset, let partStride, let parts):
                let size = from.count / parts
                let columns = shape.adjacentColumns(from.bands / parts * from.frames)
                for part in 0..<parts {
                    let packed = weights + offset + part * partStride
                    kernels.convolve(input + part * size, output + part * size, columns, packed, shape, nil, false)
                }
            case .meanBands: kernels.mean(input, output, 1, from.bands, from.bandCount)
            case .meanFrames: kernels.mean(input, output, 1, from.frames, from.channels)
            case .middleFrames(let first): output.update(from: input + first * from.channels, count: to.count)
            case .add(let right, let isBand, let relu):
                let other = UnsafePointer(memory + right)
                guard isBand else {
                    kernels.add(input, other, output, to.count, relu)
                    continue
                }
                for band in 0..<to.bands {
                    let place = band * to.bandCount
                    kernels.add(input + place, other, output + place, to.bandCount, relu)
                }
            }
        }
    }

    private func convolve(
        _ layer: Convolution,
        _ step: Step,
        _ memory: UnsafeMutablePointer<Float>,
        _ packed: UnsafePointer<Float>,
        _ kernels: borrowing KernelSet
    ) {
        let (from, to) = (step.from, step.to)
        let output = memory + step.output
        let padded = layer.convolution.padded(from)
        let relu = layer.activation == .relu
        // A pointwise layer computes all bands at once.
        let calls = layer.isPointwise ? 1 : to.bands
        let columns = layer.shape.adjacentColumns(layer.isPointwise ? to.bands * to.frames : to.frames)
        let callStride = layer.convolution.stride.bands * padded.bandCount
        if let quantiser = layer.quantiser {
            let bytes = kernels.quantisedLayout.inputBytes
            let copy = UnsafeMutableRawPointer(memory + self.copy)
            quantise(memory + step.input, from, layer.convolution, quantiser, to: copy, kernels)
            var target = QuantisedOutput()
            for call in 0..<calls {
                target.floats = output + call * to.bandCount
                kernels.convolveQuantised(
                    copy + call * callStride * bytes,
                    target,
                    columns,
                    packed,
                    layer.shape,
                    nil,
                    relu
                )
            }
        } else {
            var input = UnsafePointer(memory + step.input)
            if layer.convolution.isPadded {
                surround(input, from, layer.convolution, to: memory + copy)
                input = UnsafePointer(memory + copy)
            }
            for call in 0..<calls {
                let target = output + call * to.bandCount
                kernels.convolve(input + call * callStride, target, columns, packed, layer.shape, nil, relu)
            }
        }
        if layer.activation == .silu { kernels.silu(output, to.count) }
    }

    /// Copies a tensor with zeros around it.
    private func surround(
        _ input: UnsafePointer<Float>,
        _ plane: Plane,
        _ convolution: PlaneConvolution,
        to target: UnsafeMutablePointer<Float>
    ) {
        let padded = convolution.padded(plane)
        target.update(repeating: 0, count: padded.count)
        for band in 0..<plane.bands {
            let place =
                (band + convolution.padding.bands) * padded.bandCount + convolution.padding.frames * plane.channels
            (target + place).update(from: input + band * plane.bandCount, count: plane.bandCount)
        }
    }

    /// Quantises a tensor, with zeros around it. Features are finite, and so are all tensors.
    private func quantise(
        _ input: UnsafePointer<Float>,
        _ plane: Plane,
        _ convolution: PlaneConvolution,
        _ quantiser: Quantiser,
        to target: UnsafeMutableRawPointer,
        _ kernels: borrowing KernelSet
    ) {
        guard convolution.isPadded else {
            _ = kernels.quantise(input, target, plane.count, quantiser)
            return
        }
        let padded = convolution.padded(plane)
        let bytes = kernels.quantisedLayout.inputBytes
        switch bytes {
        case 1:
            let zeros = target.assumingMemoryBound(to: UInt8.self)
            zeros.update(repeating: UInt8(quantiser.zeroPoint), count: padded.count)
        default:
            let zeros = target.assumingMemoryBound(to: Int16.self)
            zeros.update(repeating: Int16(quantiser.zeroPoint), count: padded.count)
        }
        for band in 0..<plane.bands {
            let place =
                (band + convolution.padding.bands) * padded.bandCount + convolution.padding.frames * plane.channels
            _ = kernels.quantise(input + band * plane.bandCount, target + place * bytes, plane.bandCount, quantiser)
        }
    }
}

/// Where each tensor of a confirming network lies, in memory that tensors share which are not needed at the same time.
private struct PlaneMemory {
    private var offsets: [Int] = []
    /// Floats of all.
    private(set) var count = 0

    init(_ layers: PlaneLayers) {
        // The last layer that reads each tensor; the logits are read after all of them.
        var lastUse = Array(layers.planes.indices)
        for (index, layer) in layers.layers.enumerated() {
            for input in layer.inputs { lastUse[input] = index + 1 }
        }
        lastUse[layers.output] = layers.planes.count
        var taken: [(range: Range<Int>, lastUse: Int)] = []
        for (index, plane) in layers.planes.enumerated() {
            taken.removeAll { $0.lastUse < index }
            taken.sort { $0.range.lowerBound < $1.range.lowerBound }
            let size = Arena.aligned(plane.count)
            var offset = 0
            for entry in taken where entry.range.lowerBound < offset + size {
                offset = max(offset, entry.range.upperBound)
            }
            offsets.append(offset)
            taken.append((offset..<offset + size, lastUse[index]))
            count = max(count, offset + size)
        }
    }

    func offset(of index: Int) -> Int { offsets[index] }
}
