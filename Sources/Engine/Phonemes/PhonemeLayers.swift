import Inference
import KernelInterface

/// The shape of the phoneme network: a convolution that halves the frames, blocks of a Conformer, a layer of outputs.
enum PhonemeShape {
    static let bands = 80
    static let width = 144
    static let inner = 576
    static let heads = 4
    static let headWidth = width / heads
    static let blocks = 4
    static let taps = 31
}

/// A convolution of the network, and where its packed weights are.
struct PhonemeLayer {
    let shape: ConvolutionShape
    let weights: Arena.Region

    init(_ shape: ConvolutionShape, _ layout: inout Arena.Layout) {
        self.shape = shape
        weights = layout.reserve(packedConvolutionCount(shape))
    }

    /// A layer without neighbours: a matrix.
    init(_ inputs: Int, _ outputs: Int, _ layout: inout Arena.Layout) {
        self.init(ConvolutionShape(inputChannels: inputs, outputChannels: outputs), &layout)
    }
}

/// A block of a Conformer: half a feed-forward layer, attention, convolution, half a feed-forward layer, a normalisation.
struct PhonemeBlock {
    /// A feed-forward layer.
    struct Forward {
        let inner: PhonemeLayer
        let outer: PhonemeLayer

        init(_ layout: inout Arena.Layout) {
            inner = PhonemeLayer(PhonemeShape.width, PhonemeShape.inner, &layout)
            outer = PhonemeLayer(PhonemeShape.inner, PhonemeShape.width, &layout)
        }

        func read(_ weights: PhonemeWeights, _ name: String, _ memory: borrowing Arena) throws(ModelError) {
            let (width, inside) = (PhonemeShape.width, PhonemeShape.inner)
            try weights.read(inner, name + ".in", [inside, width], memory)
            try weights.read(outer, name + ".out", [width, inside], memory)
        }
    }

    let before: Forward
    /// Queries, keys and values of all heads.
    let attention: PhonemeLayer
    let attended: PhonemeLayer
    /// Numbers and their gates.
    let gated: PhonemeLayer
    let depthwise: PhonemeLayer
    let convolved: PhonemeLayer
    let after: Forward
    /// The scale of the normalisation at the end, then its shift.
    let norm: Arena.Region

    init(_ layout: inout Arena.Layout) {
        let width = PhonemeShape.width
        before = Forward(&layout)
        attention = PhonemeLayer(width, 3 * width, &layout)
        attended = PhonemeLayer(width, width, &layout)
        gated = PhonemeLayer(width, 2 * width, &layout)
        depthwise = PhonemeLayer(
            ConvolutionShape(
                inputChannels: width,
                outputChannels: width,
                kernel: PhonemeShape.taps,
                groups: width
            ),
            &layout
        )
        convolved = PhonemeLayer(width, width, &layout)
        after = Forward(&layout)
        norm = layout.reserve(2 * width)
    }

    func read(_ weights: PhonemeWeights, _ name: String, _ memory: borrowing Arena) throws(ModelError) {
        let width = PhonemeShape.width
        try before.read(weights, name + ".ffn1", memory)
        try weights.read(attention, name + ".attention.in", [3 * width, width], memory)
        try weights.read(attended, name + ".attention.out", [width, width], memory)
        try weights.read(gated, name + ".conv.in", [2 * width, width], memory)
        try weights.read(depthwise, name + ".conv.depthwise", [width, PhonemeShape.taps], memory)
        try weights.read(convolved, name + ".conv.out", [width, width], memory)
        try after.read(weights, name + ".ffn2", memory)
        for (part, first) in [(".norm.weight", 0), (".norm.bias", width)] {
            let numbers = try weights.floats(name + part, [width])
            for index in numbers.indices { memory[norm][first + index] = numbers[index] }
        }
    }
}

extension PhonemeWeights {
    /// Reads `NAME.weight` and `NAME.bias` into a layer.
    func read(
        _ layer: PhonemeLayer,
        _ name: String,
        _ dimensions: [Int],
        _ memory: borrowing Arena
    ) throws(ModelError) {
        try pack(name + ".weight", bias: name + ".bias", layer.shape, dimensions, into: memory[layer.weights])
    }
}
