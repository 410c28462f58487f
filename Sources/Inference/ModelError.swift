/// Why a model cannot be used.
///
/// Two errors are equal when they are of the same kind, whatever they say. `message` is one line that names the file,
/// tensor, layer or key, says what is wrong with it, and what to do next.
public struct ModelError: Error, Equatable, Sendable, CustomStringConvertible {
    private enum Code { case unreadable, description, layer, weights, tensor, size, kernels }

    private let code: Code
    public let message: String

    /// A file is missing or cannot be read.
    public static let unreadable = ModelError(code: .unreadable, message: "the model cannot be read")
    /// `model.json` is not JSON of the expected form, or one of its values is out of range.
    public static let description = ModelError(code: .description, message: "the description of the model is wrong")
    /// A layer does not fit its input, or names one that does not exist.
    public static let layer = ModelError(code: .layer, message: "a layer of the model does not fit")
    /// A safetensors file is damaged.
    public static let weights = ModelError(code: .weights, message: "the weights file is damaged")
    /// A tensor is missing, or has the wrong shape, type or values.
    public static let tensor = ModelError(code: .tensor, message: "a tensor does not fit")
    /// Something is larger than this program is willing to hold.
    public static let size = ModelError(code: .size, message: "the model is too large")

    /// The processor cannot run the kernels that are asked for.
    public static let kernels = ModelError(code: .kernels, message: "the kernels cannot run here")

    /// The same kind of error with a message of its own.
    func saying(_ message: String) -> ModelError { ModelError(code: code, message: message) }

    public var description: String { message }

    public static func == (left: ModelError, right: ModelError) -> Bool { left.code == right.code }
}

/// A name out of a file, in quotes, cut short and stripped of what would break a line or a terminal.
func quoted(_ name: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in name.unicodeScalars.prefix(60) {
        let printable = scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value)
        let breaks = scalar.value == 0x2028 || scalar.value == 0x2029
        scalars.append(printable && !breaks ? scalar : "\u{FFFD}")
    }
    let cut = name.unicodeScalars.count > 60
    return "“" + String(scalars) + (cut ? "…" : "") + "”"
}
