/// The operators of TFLite that a network or a head may have, by their numbers in the schema.
enum OperatorKind: Int {
    case add = 0
    case averagePool, concatenation, convolution, depthwiseConvolution
    case dequantize = 6
    case fullyConnected = 9
    case logistic = 14
    case maximumPool = 17
    case multiply, relu
    case relu6 = 21
    case reshape
    case softmax = 25
    case tanh = 28
    case pad = 34
    case transpose = 39
    case mean, subtract, divide, squeeze
    case stridedSlice = 45
    case exponential = 47
    case split = 49
    case cast = 53
    case maximum = 55
    case minimum = 57
    case less, negative
    case greater = 61
    case greaterEqual, lessEqual
    case expandDimensions = 70
    case logarithm = 73
    case sum, squareRoot, reciprocalRoot
    case power = 78
    case reduceMaximum = 82
    case pack
    case square = 92
    case leakyRelu = 98
    case squaredDifference
    case absolute = 101
    case splitV
    case quantize = 114
    case condition = 118
    case batchProduct = 126
    case callOnce = 129
    case varHandle = 142
    case readVariable, assignVariable

    var name: String { Self.name(rawValue) }

    /// The name and number of an operator, for messages.
    static func name(_ code: Int) -> String { names[code].map { "\($0) (number \(code))" } ?? "number \(code)" }

    private static let names = [
        0: "ADD", 1: "AVERAGE_POOL_2D", 2: "CONCATENATION", 3: "CONV_2D", 4: "DEPTHWISE_CONV_2D", 6: "DEQUANTIZE",
        9: "FULLY_CONNECTED", 14: "LOGISTIC", 17: "MAX_POOL_2D", 18: "MUL", 19: "RELU", 21: "RELU6", 22: "RESHAPE",
        25: "SOFTMAX", 28: "TANH", 34: "PAD", 36: "GATHER", 39: "TRANSPOSE", 40: "MEAN", 41: "SUB", 42: "DIV",
        43: "SQUEEZE", 44: "UNIDIRECTIONAL_SEQUENCE_LSTM", 45: "STRIDED_SLICE", 47: "EXP", 49: "SPLIT", 53: "CAST",
        55: "MAXIMUM", 57: "MINIMUM", 58: "LESS", 59: "NEG", 61: "GREATER", 62: "GREATER_EQUAL", 63: "LESS_EQUAL",
        65: "SLICE", 70: "EXPAND_DIMS", 73: "LOG", 74: "SUM", 75: "SQRT", 76: "RSQRT", 77: "SHAPE", 78: "POW",
        82: "REDUCE_MAX", 83: "PACK", 88: "UNPACK", 92: "SQUARE", 98: "LEAKY_RELU", 99: "SQUARED_DIFFERENCE",
        101: "ABS",
        102: "SPLIT_V", 114: "QUANTIZE", 117: "HARD_SWISH", 118: "IF", 119: "WHILE", 123: "SELECT_V2",
        126: "BATCH_MATMUL", 129: "CALL_ONCE", 142: "VAR_HANDLE", 143: "READ_VARIABLE", 144: "ASSIGN_VARIABLE",
        150: "GELU",
    ]
}

/// How a convolution moves over its input. Extents and distances are in elements: height is time, width is frequency.
struct ConvolutionOptions {
    var isPadded: Bool
    var stride: (height: Int, width: Int)
    var dilation: (height: Int, width: Int)
    var activation: Activation

    static func convolution(
        _ table: FlatBuffer.Table?,
        in buffer: FlatBuffer,
        depthwise: Bool
    ) throws(WakeWordError) -> ConvolutionOptions {
        guard let table else { throw .damaged.saying("a convolution has no options") }
        // A depth multiplier stands between the strides and the rest.
        let later = depthwise ? 1 : 0
        func extent(_ field: Int, default value: Int32) throws(WakeWordError) -> Int {
            let extent = Int(try buffer.number(Int32.self, table, field: field) ?? value)
            guard (1...1024).contains(extent) else {
                throw .damaged.saying("a convolution has a stride or dilation of \(extent)")
            }
            return extent
        }
        return ConvolutionOptions(
            isPadded: try buffer.number(Int8.self, table, field: 0) ?? 0 == 0,
            stride: (try extent(2, default: 0), try extent(1, default: 0)),
            dilation: (try extent(5 + later, default: 1), try extent(4 + later, default: 1)),
            activation: try Activation(number: try buffer.number(Int8.self, table, field: 3 + later) ?? 0)
        )
    }
}

extension ConvolutionOptions {
    /// Of a pool, with the extents of its window.
    static func pool(
        _ table: FlatBuffer.Table?,
        in buffer: FlatBuffer
    ) throws(WakeWordError) -> (ConvolutionOptions, window: (height: Int, width: Int)) {
        guard let table else { throw .damaged.saying("a pool has no options") }
        func extent(_ field: Int) throws(WakeWordError) -> Int {
            let extent = Int(try buffer.number(Int32.self, table, field: field) ?? 0)
            guard (1...1024).contains(extent) else { throw .damaged.saying("a pool has a window of \(extent)") }
            return extent
        }
        let options = ConvolutionOptions(
            isPadded: try buffer.number(Int8.self, table, field: 0) ?? 0 == 0,
            stride: (try extent(2), try extent(1)),
            dilation: (1, 1),
            activation: try Activation(number: try buffer.number(Int8.self, table, field: 5) ?? 0)
        )
        return (options, (try extent(4), try extent(3)))
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
