private import Enrollment

/// Why a ``Spotter`` cannot be made or used.
///
/// Compare with the constants: two errors are equal when they are of the same kind, whatever their descriptions say.
public struct SpotterError: Error, Equatable, CustomStringConvertible, Sendable {
    private enum Code { case model, words, settings, audio }

    private let code: Code
    /// One line: the object, what is wrong with it, what to do.
    public let description: String

    public static func == (left: SpotterError, right: SpotterError) -> Bool { left.code == right.code }

    /// The model's folder cannot be read, or its files are wrong.
    public static let model = SpotterError(code: .model, description: "the model cannot be used")
    /// The file of taught words cannot be read, is damaged, or has a word that this model cannot find.
    public static let words = SpotterError(code: .words, description: "the taught words cannot be used")
    /// The settings name a word or sensitivity that the model does not have, or a threshold outside 0…1.
    public static let settings = SpotterError(code: .settings, description: "the settings do not fit the model")
    /// Audio cannot be read or converted.
    public static let audio = SpotterError(code: .audio, description: "the audio cannot be used")

    /// What an error of loading or of teaching is to the library.
    init(_ error: any Error) {
        switch error {
        case let error as SpotterError: self = error
        case let error as EnrollmentError where error != .model: self = .words.saying(error.plain)
        default: self = .model.saying("\(error)")
        }
    }

    private init(code: Code, description: String) { (self.code, self.description) = (code, description) }

    /// The same kind of error with a description of its own.
    func saying(_ description: String) -> SpotterError { SpotterError(code: code, description: description) }
}
