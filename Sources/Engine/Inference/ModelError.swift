private import Core

/// Why a model cannot be used.
///
/// Two errors are equal if they are of the same kind, whatever their messages. `message` is one line: the file, tensor,
/// layer or key, what is wrong with it, and what to do next.
public struct ModelError: Error, Equatable, Sendable, CustomStringConvertible {
    private enum Code { case unreadable, description, layer, weights, tensor, size, kernels }

    private let code: Code
    public let message: String

    /// A file is missing or cannot be read.
    public static let unreadable = ModelError(code: .unreadable, message: "the model cannot be read")
    /// `model.json` is not JSON of the expected form, or one of its values is out of range.
    public static let description = ModelError(code: .description, message: "the description of the model is wrong")
    /// A layer does not fit its input, or names an input that does not exist.
    public static let layer = ModelError(code: .layer, message: "a layer of the model does not fit")
    /// A safetensors file is damaged.
    public static let weights = ModelError(code: .weights, message: "the weights file is damaged")
    /// A tensor is missing, or has the wrong shape, type or values.
    public static let tensor = ModelError(code: .tensor, message: "a tensor does not fit")
    /// The model exceeds a limit of this program.
    public static let size = ModelError(code: .size, message: "the model is too large")
    /// The requested kernels or precision cannot run on this processor or with this model.
    public static let kernels = ModelError(code: .kernels, message: "the kernels cannot run here")

    /// The same kind of error with another message.
    package func saying(_ message: String) -> ModelError { ModelError(code: code, message: message) }

    public var description: String { message }

    public static func == (left: ModelError, right: ModelError) -> Bool { left.code == right.code }
}

/// A short description, without line breaks, of a JSON decoding error and its key.
func explain(_ error: any Error) -> String {
    guard let error = error as? DecodingError else { return "not valid JSON" }
    switch error {
    case .keyNotFound(let key, let context):
        return "\(keyPath(context.codingPath + [key])) is missing"
    case .typeMismatch(let type, let context):
        return "\(keyPath(context.codingPath)) is not \(kind(type))"
    case .valueNotFound(let type, let context):
        return "\(keyPath(context.codingPath)) is null, not \(kind(type))"
    case .dataCorrupted(let context):
        if context.codingPath.isEmpty { return "not valid JSON" }
        let reason = String(context.debugDescription.unicodeScalars.prefix(160))
        return "\(keyPath(context.codingPath)): \(printable(reason))"
    @unknown default:
        return "not valid JSON"
    }
}

/// A key path in readable form: `layers[3].kernel`.
private func keyPath(_ path: [any CodingKey]) -> String {
    var text = ""
    for key in path.prefix(8) {
        if let index = key.intValue {
            text += "[\(index)]"
        } else {
            text += (text.isEmpty ? "" : ".") + key.stringValue
        }
    }
    return text.isEmpty ? "the document" : "key " + quoted(text)
}

private func kind(_ type: any Any.Type) -> String {
    switch type {
    case is String.Type: "text"
    case is Bool.Type: "true or false"
    case is Int.Type: "a whole number"
    case is Double.Type, is Float.Type: "a number that fits"
    case is any Collection.Type: "a list or an object"
    default: "an object"
    }
}
