private import Core

/// Why a wake-word model cannot be used.
///
/// Two errors are equal if they are of the same kind, whatever their messages. `message` is one line: the file, what is wrong with it, and
/// what to do next.
public struct WakeWordError: Error, Equatable, Sendable, CustomStringConvertible {
    private enum Code { case unreadable, manifest, damaged, unsupported, size }

    private let code: Code
    private let text: String
    /// What to do, where `text` does not say it.
    private let advice: String?
    public var message: String { text + (advice.map { "; \($0)" } ?? "") }

    private init(code: Code, message: String, advice: String? = nil) {
        (self.code, text, self.advice) = (code, message, advice)
    }

    /// A file is missing or cannot be read.
    public static let unreadable = WakeWordError(code: .unreadable, message: "the model cannot be read")
    /// The manifest is not JSON of the expected form, or one of its values is out of range.
    public static let manifest = WakeWordError(code: .manifest, message: "the manifest is wrong")
    /// The model is not a TFLite file, or its parts do not fit together.
    public static let damaged = WakeWordError(
        code: .damaged,
        message: "the model is damaged",
        advice: "copy the file again, or export it again"
    )
    /// The model is of a kind that this program does not run.
    public static let unsupported = WakeWordError(code: .unsupported, message: "the model is not supported")
    /// The model exceeds a limit of this program.
    public static let size = WakeWordError(code: .size, message: "the model is too large")

    /// No wake word of this name came with the program or was added.
    ///
    /// - Parameter known: the names of those that there are.
    public static func unknown(_ name: String, among known: [String]) -> WakeWordError {
        let folded = WordName.folded(name).replacing(" ", with: "_")
        let hint = nearestName(to: folded, of: known).map { "did you mean \(printable($0))?" }
        return unreadable.saying(
            "there is no wake word \(quoted(name)); "
                + (hint ?? "beckon model list prints those that there are, beckon model add adds one")
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
    ///
    /// - Parameter advice: what to do, if that is not what this kind of error says.
    func saying(_ message: String, advice: String? = nil) -> WakeWordError {
        WakeWordError(code: code, message: message, advice: advice ?? self.advice)
    }

    /// The same error with the file's name before its message.
    func inFile(_ file: String) -> WakeWordError {
        WakeWordError(code: code, message: "\(file): \(text)", advice: advice)
    }

    public var description: String { message }

    public static func == (left: WakeWordError, right: WakeWordError) -> Bool { left.code == right.code }
}
