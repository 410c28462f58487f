import KernelInterface

/// See ``KernelSet/Convolve``.
@Sendable
func convolve(
    _ input: UnsafePointer<Float>,
    to output: UnsafeMutablePointer<Float>,
    columns: ColumnRun,
    packed: UnsafePointer<Float>,
    shape: ConvolutionShape,
    residual: UnsafePointer<Float>?,
    rectify: Bool
) {
    if shape.isDepthwise {
        convolveDepthwise(input, output, columns, packed, shape, residual, rectify)
        return
    }
    let inputs = shape.inputChannels / shape.groups
    let outputs = shape.outputChannels / shape.groups
    let patch = Patch(shape, columns, FloatPanel.self, atOnce: 1)
    let step = panelWidth * (1 + shape.kernel * inputs)
    let panels = (outputs + panelWidth - 1) / panelWidth
    for group in 0..<shape.groups {
        let first = group * outputs
        let outlet = Outlet(
            output: output + first,
            residual: residual.map { $0 + first },
            columnStep: columns.outputStep,
            width: outputs,
            rectify: rectify
        )
        let weights = PanelGroup(first: packed + group * panels * step, step: step)
        multiply(FloatPanel.self, input + group * inputs, columns.count, weights, panels, patch, outlet)
    }
}

/// All panels of a group of channels. How many panels and columns a tile has is what fills the registers: on AVX2 twelve
/// accumulators, two weights and a factor of sixteen, on AVX-512 twenty-four, four and one of thirty-two.
@inline(__always)
func multiply<Row: PanelRow>(
    _: Row.Type,
    _ input: UnsafePointer<Row.Input>,
    _ columns: Int,
    _ weights: PanelGroup,
    _ panels: Int,
    _ patch: Patch,
    _ outlet: Outlet
) {
    var panel = 0
    var weights = weights
    var outlet = outlet
    @inline(__always) func advance(_ count: Int) {
        panel += count
        weights.first += count * weights.step
        outlet.output += count * panelWidth
        if let residual = outlet.residual { outlet.residual = residual + count * panelWidth }
        outlet.width -= count * panelWidth
    }
    #if KERNEL_AVX512
    while panel + 4 <= panels {
        tiles(Pair<Pair<Row>>.self, input, columns, weights, patch, outlet)
        advance(4)
    }
    if panel + 2 <= panels {
        tiles(Pair<Row>.self, input, columns, weights, patch, outlet)
        advance(2)
    }
    #elseif KERNEL_AVX2
    if columns == 1 {
        while panel + 4 <= panels {
            tile(OneColumn<Pair<Pair<Row>>>.self, input, weights, patch, outlet)
            advance(4)
        }
    }
    if columns <= Row.columns / 2 {
        while panel + 2 <= panels {
            tiles(Pair<Row>.self, input, columns, weights, patch, outlet)
            advance(2)
        }
    }
    #else
    if columns == 1 {
        while panel + 2 <= panels {
            tile(OneColumn<Pair<Row>>.self, input, weights, patch, outlet)
            advance(2)
        }
    }
    #endif
    while panel < panels {
        tiles(Row.self, input, columns, weights, patch, outlet)
        advance(1)
    }
}

/// All columns of a group of panels, in tiles as equal as can be: eight columns are two tiles of four, not six and two.
@inline(__always)
private func tiles<Row: PanelRow>(
    _: Row.Type,
    _ input: UnsafePointer<Row.Input>,
    _ columns: Int,
    _ weights: PanelGroup,
    _ patch: Patch,
    _ outlet: Outlet
) {
    let most = Row.columns
    var left = columns
    var tilesLeft = (columns + most - 1) / most
    var input = input
    var outlet = outlet
    while left > 0 {
        let count = (left + tilesLeft - 1) / tilesLeft
        switch count {
        case 1: tile(OneColumn<Row>.self, input, weights, patch, outlet)
        case 2: tile(TwoColumns<Row>.self, input, weights, patch, outlet)
        case 3: tile(ThreeColumns<Row>.self, input, weights, patch, outlet)
        case 4 where most > 3: tile(FourColumns<Row>.self, input, weights, patch, outlet)
        case 5 where most > 3: tile(FiveColumns<Row>.self, input, weights, patch, outlet)
        default: if most > 3 { tile(SixColumns<Row>.self, input, weights, patch, outlet) }
        }
        input += count * patch.columnStep
        outlet.output += count * outlet.columnStep
        if let residual = outlet.residual { outlet.residual = residual + count * outlet.columnStep }
        left -= count
        tilesLeft -= 1
    }
}
