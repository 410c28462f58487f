/// The operators of TFLite that a network may have, by their numbers in the schema.
enum OperatorKind: Int {
    case concatenation = 2
    case convolution = 3
    case depthwiseConvolution = 4
    case fullyConnected = 9
    case logistic = 14
    case reshape = 22
    case stridedSlice = 45
    case splitV = 102
    case quantize = 114
    case callOnce = 129
    case varHandle = 142
    case readVariable = 143
    case assignVariable = 144

    /// - Throws: `WakeWordError.unsupported` for any other operator.
    init(code: Int) throws(WakeWordError) {
        guard let kind = OperatorKind(rawValue: code) else {
            let name = Self.others[code].map { "\($0) (number \(code))" } ?? "number \(code)"
            throw .unsupported.saying(
                "the operator \(name) is not supported; use a model that microWakeWord exported, quantised to 8 bits"
            )
        }
        self = kind
    }

    /// Names of operators that models of the same kind may have, for messages.
    private static let others = [
        0: "ADD", 1: "AVERAGE_POOL_2D", 6: "DEQUANTIZE", 17: "MAX_POOL_2D", 18: "MUL", 19: "RELU", 25: "SOFTMAX",
        28: "TANH", 34: "PAD",
        36: "GATHER", 39: "TRANSPOSE", 40: "MEAN", 41: "SUB", 42: "DIV", 43: "SQUEEZE", 49: "SPLIT", 55: "MAXIMUM",
        70: "EXPAND_DIMS",
        76: "RSQRT", 83: "PACK", 98: "LEAKY_RELU", 117: "HARD_SWISH", 118: "IF", 119: "WHILE",
    ]
}

/// How a convolution moves over its input. Extents and distances are in elements: height is time, width is frequency.
struct ConvolutionOptions {
    var isPadded: Bool
    var stride: (height: Int, width: Int)
    var dilation: (height: Int, width: Int)
    var activation: Activation

    init(_ table: FlatBuffer.Table?, in buffer: FlatBuffer, depthwise: Bool) throws(WakeWordError) {
        guard let table else { throw .damaged.saying("a convolution has no options") }
        // A depth multiplier stands between the strides and the rest.
        let later = depthwise ? 1 : 0
        isPadded = try buffer.number(Int8.self, table, field: 0) ?? 0 == 0
        func extent(_ field: Int, default value: Int32) throws(WakeWordError) -> Int {
            let extent = Int(try buffer.number(Int32.self, table, field: field) ?? value)
            guard (1...1024).contains(extent) else {
                throw .damaged.saying("a convolution has a stride or dilation of \(extent)")
            }
            return extent
        }
        stride = (try extent(2, default: 0), try extent(1, default: 0))
        dilation = (try extent(5 + later, default: 1), try extent(4 + later, default: 1))
        activation = try Activation(number: try buffer.number(Int8.self, table, field: 3 + later) ?? 0)
    }
}

/// A function that clamps the output of a layer.
enum Activation: Int8 {
    case none = 0
    case relu
    case relu1
    case relu6

    init(number: Int8) throws(WakeWordError) {
        guard let activation = Activation(rawValue: number) else {
            throw .unsupported.saying(
                "a layer has the activation number \(number), which is not supported; only ReLU is"
            )
        }
        self = activation
    }

    /// The range of outputs as integers of 8 bits.
    func range(scale: Double, zeroPoint: Int32) -> ClosedRange<Int32> {
        func quantised(_ value: Double) -> Int32 {
            Int32(min(max(Double(zeroPoint) + (value / scale).rounded(), -128), 127))
        }
        return switch self {
        case .none: -128...127
        case .relu: quantised(0)...127
        case .relu1: quantised(-1)...quantised(1)
        case .relu6: quantised(0)...quantised(6)
        }
    }
}
