private import Core

/// Why a word, threshold or phrase that a user named cannot be used.
public struct SpottingError: Error, Equatable, CustomStringConvertible, Sendable {
    private enum Code: Equatable { case unknownWord, emptyPhrase, noThresholds }

    private let code: Code
    /// One line: the input, what is wrong with it, what to do.
    public let description: String

    /// Two errors are equal if they are of the same kind, whatever their messages.
    public static func == (left: SpottingError, right: SpottingError) -> Bool { left.code == right.code }

    /// The vocabulary has no such word.
    public static func unknownWord(_ word: String, known: [String]) -> SpottingError {
        SpottingError(
            code: .unknownWord,
            description: "the model does not know the word '\(word)'; "
                + (nearestName(to: word, of: known).map { "did you mean '\($0)'?" }
                    ?? "it knows \(known.joined(separator: ", "))")
        )
    }

    /// The model, or a taught word, has no thresholds for a sensitivity.
    public static let noThresholds = SpottingError(
        code: .noThresholds,
        description: "no thresholds for this sensitivity"
    )

    /// The same kind of error with a description of its own.
    func saying(_ description: String) -> SpottingError { SpottingError(code: code, description: description) }

    /// A phrase of fewer than two words.
    public static let emptyPhrase = SpottingError(
        code: .emptyPhrase,
        description: "a phrase needs two words or more, such as 'go left'"
    )
}
