import Inference

/// The layers of the phoneme network: a convolution that halves the frames, blocks of a Conformer, a layer of outputs.
struct PhonemeLayers {
    static let bands = 80
    static let input = "features"
    private static let width = 144
    private static let inner = 576
    private static let heads = 4
    private static let blocks = 4
    private static let taps = 31

    private(set) var layers: [LayerDescription] = []
    private var newest = input

    init(outputs: Int) {
        convolve("stem", PlaneConvolution(Self.bands, Self.width, kernel: 3, stride: 2, padding: 1), .gelu)
        for number in 0..<Self.blocks { addBlock("blocks.\(number)") }
        convolve("output", PlaneConvolution(Self.width, outputs))
    }

    /// Half a feed-forward layer, attention, convolution, half a feed-forward layer, a normalisation.
    private mutating func addBlock(_ name: String) {
        let width = Self.width
        addFeedForward(name + ".ffn1")
        addResidual(name + ".attention") { layers, name in
            layers.convolve(name + ".in", PlaneConvolution(width, 3 * width))
            layers.add(name + ".heads", .attention(heads: Self.heads))
            layers.convolve(name + ".out", PlaneConvolution(width, width))
        }
        addResidual(name + ".conv") { layers, name in
            layers.convolve(name + ".in", PlaneConvolution(width, 2 * width))
            layers.add(name + ".gate", .gate)
            let depthwise = PlaneConvolution(
                width,
                width,
                kernel: Self.taps,
                padding: Self.taps / 2,
                isDepthwise: true
            )
            layers.convolve(name + ".depthwise", depthwise, .silu)
            layers.convolve(name + ".out", PlaneConvolution(width, width))
        }
        addFeedForward(name + ".ffn2")
        add(name + ".norm", .normalise(isScaled: true))
    }

    private mutating func addFeedForward(_ name: String) {
        addResidual(name) { layers, name in
            layers.convolve(name + ".in", PlaneConvolution(Self.width, Self.inner), .silu)
            layers.convolve(name + ".out", PlaneConvolution(Self.inner, Self.width))
        }
    }

    /// Layers on what is normalised, whose result is added to what was there before.
    private mutating func addResidual(_ name: String, _ body: (inout PhonemeLayers, String) -> Void) {
        let before = newest
        add(name + ".normalised", .normalise(isScaled: false))
        body(&self, name)
        layers.append(LayerDescription(name + ".sum", sum: (before, newest)))
        newest = name + ".sum"
    }

    private mutating func convolve(
        _ name: String,
        _ convolution: PlaneConvolution,
        _ activation: LayerDescription.Activation = .none
    ) { add(name, .convolution(convolution, activation)) }

    private mutating func add(_ name: String, _ operation: LayerDescription.Operation) {
        layers.append(LayerDescription(name, of: newest, operation))
        newest = name
    }
}
