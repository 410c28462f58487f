/// Convolves channels-last columns with packed weights, adds the bias and rectifies when asked.
///
/// `input` holds at least `shape.inputColumns(for: columns)` columns, `output` room for `columns`; they do not
/// overlap. `packed` was filled by `packConvolution` and is 64-byte aligned.
public func convolve(
    _ input: UnsafePointer<Float>,
    to output: UnsafeMutablePointer<Float>,
    columns: Int,
    packed: UnsafePointer<Float>,
    shape: ConvolutionShape,
    rectify: Bool
) {
    if shape.isDepthwise {
        convolveDepthwise(input, to: output, columns: columns, packed: packed, shape: shape, rectify: rectify)
        return
    }
    let inputs = shape.inputChannels / shape.groups
    let outputs = shape.outputChannels / shape.groups
    // With neighbouring taps side by side in memory the whole patch is one run, and the convolution is a plain matrix
    // product whose rows overlap: nothing has to be gathered first.
    let contiguous = shape.dilation == 1 && shape.groups == 1
    let patch = Patch(
        runs: contiguous ? 1 : shape.kernel,
        length: contiguous ? shape.kernel * inputs : inputs,
        runStep: shape.dilation * shape.inputChannels,
        columnStep: shape.stride * shape.inputChannels,
        outputStep: shape.outputChannels
    )
    var panel = packed
    for group in 0..<shape.groups {
        var done = 0
        while done < outputs {
            multiply(
                input + group * inputs,
                to: output + group * outputs + done,
                columns: columns,
                panel: panel,
                patch: patch,
                width: outputs - done,
                rectify: rectify
            )
            panel += Width.panel * (1 + shape.kernel * inputs)
            done += Width.panel
        }
    }
}

/// Where the inputs of one output column lie: `runs` stretches of `length` floats.
private struct Patch {
    var runs: Int
    var length: Int
    var runStep: Int
    var columnStep: Int
    var outputStep: Int
}

/// All columns of one panel of output channels. Two columns at a time share each load of the weights; a last odd
/// column runs alone.
@inline(__always)
private func multiply(
    _ input: UnsafePointer<Float>,
    to output: UnsafeMutablePointer<Float>,
    columns: Int,
    panel: UnsafePointer<Float>,
    patch: Patch,
    width: Int,
    rectify: Bool
) {
    let bias = Row(panel)
    let weights = panel + Width.panel
    var column = 0
    while column + 2 <= columns {
        let source = input + column * patch.columnStep
        let target = output + column * patch.outputStep
        var first = bias
        var second = bias
        accumulateTwo(&first, &second, source, weights, patch)
        first.store(to: target, width: width, rectify: rectify)
        second.store(to: target + patch.outputStep, width: width, rectify: rectify)
        column += 2
    }
    if column < columns {
        var only = bias
        accumulateOne(&only, input + column * patch.columnStep, weights, patch)
        only.store(to: output + column * patch.outputStep, width: width, rectify: rectify)
    }
}

@inline(__always)
private func accumulateTwo(
    _ first: inout Row,
    _ second: inout Row,
    _ input: UnsafePointer<Float>,
    _ panel: UnsafePointer<Float>,
    _ patch: Patch
) {
    var weights = panel
    for run in 0..<patch.runs {
        let upper = input + run * patch.runStep
        let lower = upper + patch.columnStep
        for index in 0..<patch.length {
            let row = Row(weights)
            first.add(upper[index], times: row)
            second.add(lower[index], times: row)
            weights += Width.panel
        }
    }
}

/// Adds in the same order as `accumulateTwo`, so that a column comes out the same to the last bit whichever columns
/// are computed with it: that is what makes streaming equal to the whole window.
@inline(__always)
private func accumulateOne(
    _ total: inout Row,
    _ input: UnsafePointer<Float>,
    _ panel: UnsafePointer<Float>,
    _ patch: Patch
) {
    var weights = panel
    for run in 0..<patch.runs {
        let source = input + run * patch.runStep
        for index in 0..<patch.length {
            total.add(source[index], times: Row(weights))
            weights += Width.panel
        }
    }
}

/// The output channels of one panel at one column, as four named vectors: an array of them would live in memory.
private struct Row {
    var a = Vector.zero
    var b = Vector.zero
    var c = Vector.zero
    var d = Vector.zero

    @inline(__always) init() {}

    /// Reads a row of a packed panel, which is aligned.
    @inline(__always) init(_ source: UnsafePointer<Float>) {
        let vectors = UnsafeRawPointer(source).assumingMemoryBound(to: Vector.self)
        a = vectors[0]
        b = vectors[1]
        c = vectors[2]
        d = vectors[3]
    }

    @inline(__always) mutating func add(_ factor: Float, times row: Row) {
        let factors = Vector(repeating: factor)
        a = a + factors * row.a
        b = b + factors * row.b
        c = c + factors * row.c
        d = d + factors * row.d
    }

    /// Writes the first `width` channels; what the panel was padded with is dropped.
    @inline(__always) func store(to target: UnsafeMutablePointer<Float>, width: Int, rectify: Bool) {
        var row = self
        if rectify {
            row.a = rectified(a)
            row.b = rectified(b)
            row.c = rectified(c)
            row.d = rectified(d)
        }
        if width >= Width.panel {
            row.write(to: target)
        } else {
            row.writePart(to: target, width: width)
        }
    }

    @inline(__always) private func write(to target: UnsafeMutablePointer<Float>) {
        put(a, at: target)
        put(b, at: target + Width.vector)
        put(c, at: target + 2 * Width.vector)
        put(d, at: target + 3 * Width.vector)
    }

    @inline(never) private func writePart(to target: UnsafeMutablePointer<Float>, width: Int) {
        withUnsafeBytes(of: self) { bytes in
            let channels = bytes.assumingMemoryBound(to: Float.self)
            for channel in 0..<width { target[channel] = channels[channel] }
        }
    }
}
