private import Core

/// Why a wake-word model cannot be used.
///
/// Two errors are equal if they are of the same kind, whatever their messages. `message` is one line: the file, what is wrong with it, and
/// what to do next.
public struct WakeWordError: Error, Equatable, Sendable, CustomStringConvertible {
    private enum Code { case unreadable, manifest, damaged, unsupported, size }

    private let code: Code
    public let message: String

    /// A file is missing or cannot be read.
    public static let unreadable = WakeWordError(code: .unreadable, message: "the model cannot be read")
    /// The manifest is not JSON of the expected form, or one of its values is out of range.
    public static let manifest = WakeWordError(code: .manifest, message: "the manifest is wrong")
    /// The model is not a TFLite file, or its parts do not fit together.
    public static let damaged = WakeWordError(code: .damaged, message: "the model is damaged")
    /// The model is of a kind that this program does not run.
    public static let unsupported = WakeWordError(code: .unsupported, message: "the model is not supported")
    /// The model exceeds a limit of this program.
    public static let size = WakeWordError(code: .size, message: "the model is too large")

    /// No wake word of this name came with the program or was added.
    public static func unknown(_ name: String) -> WakeWordError {
        unreadable.saying(
            "there is no wake word \(quoted(name)); beckon model list prints those that there are, beckon model add adds one"
        )
    }

    /// A folder has no models.
    public static func noModels(in folder: String) -> WakeWordError {
        unreadable.saying("\(folder): no model in this folder; put files there that end in .tflite or .onnx")
    }

    /// The speech embedding did not come with the program.
    public static func missingEmbedding(_ file: String) -> WakeWordError {
        unreadable.saying(
            "\(file) is missing among the models of the program, which openWakeWord's need; install it again"
        )
    }

    /// A word of this name is there already.
    public static func duplicate(_ word: WakeWord) -> WakeWordError {
        manifest.saying("\(word.path): there is another word \(quoted(word.name)); remove one of them")
    }

    /// The same kind of error with another message.
    func saying(_ message: String) -> WakeWordError { WakeWordError(code: code, message: message) }

    /// The same error with the file's name before its message.
    func inFile(_ file: String) -> WakeWordError { WakeWordError(code: code, message: "\(file): \(message)") }

    public var description: String { message }

    public static func == (left: WakeWordError, right: WakeWordError) -> Bool { left.code == right.code }
}
