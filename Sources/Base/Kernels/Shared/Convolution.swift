import KernelInterface

/// See ``KernelSet/Convolve``.
@Sendable
func convolve(
    _ input: UnsafePointer<Float>,
    to output: UnsafeMutablePointer<Float>,
    columns: StridedColumns,
    packed: UnsafePointer<Float>,
    shape: ConvolutionShape,
    residual: UnsafePointer<Float>?,
    relu: Bool
) {
    if shape.isDepthwise {
        convolveDepthwise(input, output, columns, packed, shape, residual, relu)
        return
    }
    let inputs = shape.inputChannels / shape.groups
    let outputs = shape.outputChannels / shape.groups
    let tileInput = TileInput(shape, columns, FloatPanel.self, inputsPerLane: 1)
    let stride = panelWidth * (1 + shape.depth)
    let panels = (outputs + panelWidth - 1) / panelWidth
    for group in 0..<shape.groups {
        let first = group * outputs
        let tileOutput = TileOutput(
            floats: output + first,
            residual: residual.map { $0 + first },
            columnStride: columns.outputStride,
            width: outputs,
            relu: relu
        )
        let weights = PanelGroup(first: packed + group * panels * stride, stride: stride)
        let groupInput = input + group * inputs
        #if KERNEL_AVX2 || KERNEL_AVX512
        multiply(FloatPanel.self, groupInput, columns.count, weights, panels, tileInput, tileOutput)
        #else
        // Of the last panel of 24 or 72 channels, only one half exists.
        let hasHalf = outputs % panelWidth != 0 && outputs % panelWidth <= panelWidth / 2
        let full = hasHalf ? panels - 1 : panels
        multiply(FloatPanel.self, groupInput, columns.count, weights, full, tileInput, tileOutput)
        guard hasHalf else { continue }
        var halfOutput = tileOutput
        halfOutput.advance(panels: full)
        tiles(HalfPanel.self, groupInput, columns.count, weights.skipping(full), tileInput, halfOutput)
        #endif
    }
}

/// Computes all panels of a group of channels.
///
/// Tiles have as many panels and columns as fit the registers. AVX2 has 16: for 12 accumulators, 2 weights and 1
/// factor. AVX-512 has 32: for 24 accumulators, 4 weights and 1 factor.
///
/// With one to three columns, weights are used so seldom that reading them takes longer than multiplying: more panels at once keep more
/// reads under way.
@inline(__always)
func multiply<Row: TileRow>(
    _: Row.Type,
    _ input: UnsafePointer<Row.Input>,
    _ columns: Int,
    _ weights: PanelGroup,
    _ panels: Int,
    _ tileInput: TileInput,
    _ tileOutput: TileOutput
) {
    var panel = 0
    var weights = weights
    var tileOutput = tileOutput
    @inline(__always) func advance(_ count: Int) {
        panel += count
        weights.first += count * weights.stride
        tileOutput.advance(panels: count)
    }
    #if KERNEL_AVX512
    if columns <= EightPanels<Row>.columns {
        while panel + 8 <= panels {
            // Not `tiles`, so that wider tiles of eight panels, which do not fit the registers, are not compiled.
            narrowTile(EightPanels<Row>.self, input, columns, weights, tileInput, tileOutput)
            advance(8)
        }
    }
    while panel + 4 <= panels {
        tiles(FourPanels<Row>.self, input, columns, weights, tileInput, tileOutput)
        advance(4)
    }
    if columns == 1, panel + 3 <= panels {
        tile(OneColumn<ThreePanels<Row>>.self, input, weights, tileInput, tileOutput)
        advance(3)
    }
    if panel + 2 <= panels {
        tiles(TwoPanels<Row>.self, input, columns, weights, tileInput, tileOutput)
        advance(2)
    }
    #elseif KERNEL_AVX2
    if columns == 1 {
        while panel + 4 <= panels {
            tile(OneColumn<FourPanels<Row>>.self, input, weights, tileInput, tileOutput)
            advance(4)
        }
    }
    if columns <= Row.columns / 2 {
        while panel + 2 <= panels {
            tiles(TwoPanels<Row>.self, input, columns, weights, tileInput, tileOutput)
            advance(2)
        }
    }
    #else
    if columns == 1 {
        while panel + 2 <= panels {
            tile(OneColumn<TwoPanels<Row>>.self, input, weights, tileInput, tileOutput)
            advance(2)
        }
    }
    #endif
    while panel < panels {
        tiles(Row.self, input, columns, weights, tileInput, tileOutput)
        advance(1)
    }
}

/// Computes all columns of a group of panels, in tiles of nearly equal size: eight columns are two tiles of four, not six and two.
///
/// Not inlined, as narrow tiles are not: the compiler would optimise each tile once more in every function around it.
@inline(never)
private func tiles<Row: TileRow>(
    _: Row.Type,
    _ input: UnsafePointer<Row.Input>,
    _ columns: Int,
    _ weights: PanelGroup,
    _ tileInput: TileInput,
    _ tileOutput: TileOutput
) {
    let limit = Row.columns
    var remaining = columns
    var tilesLeft = (columns + limit - 1) / limit
    var input = input
    var tileOutput = tileOutput
    while remaining > 0 {
        let count = (remaining + tilesLeft - 1) / tilesLeft
        switch count {
        case 1...3: narrowTile(Row.self, input, count, weights, tileInput, tileOutput)
        case 4 where limit > 3: tile(FourColumns<Row>.self, input, weights, tileInput, tileOutput)
        case 5 where limit > 3: tile(FiveColumns<Row>.self, input, weights, tileInput, tileOutput)
        default: if limit > 3 { tile(SixColumns<Row>.self, input, weights, tileInput, tileOutput) }
        }
        input += count * tileInput.columnStride
        tileOutput.advance(columns: count)
        remaining -= count
        tilesLeft -= 1
    }
}

/// Computes one tile of one to three columns.
@inline(never)
private func narrowTile<Row: TileRow>(
    _: Row.Type,
    _ input: UnsafePointer<Row.Input>,
    _ columns: Int,
    _ weights: PanelGroup,
    _ tileInput: TileInput,
    _ tileOutput: TileOutput
) {
    switch columns {
    case 1: tile(OneColumn<Row>.self, input, weights, tileInput, tileOutput)
    case 2: tile(TwoColumns<Row>.self, input, weights, tileInput, tileOutput)
    default: tile(ThreeColumns<Row>.self, input, weights, tileInput, tileOutput)
    }
}
