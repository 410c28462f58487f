private import Core

/// Why a word cannot be kept or found.
///
/// Compare with the constants: two errors are equal when they are of the same kind, whatever their messages say.
/// ``description`` is one line that names what was asked, what happened and what to do next.
public struct EnrollmentError: Error, Equatable, Sendable, CustomStringConvertible {
    private enum Code { case store, damaged, name, unknown }

    private let code: Code
    public let description: String

    private init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    public static func == (left: EnrollmentError, right: EnrollmentError) -> Bool { left.code == right.code }

    /// The store cannot be read or written.
    public static let store = EnrollmentError(.store, "the words cannot be kept")
    /// A store, or what was exported of one, is not whole.
    public static let damaged = EnrollmentError(.damaged, "the words are damaged")
    /// A word cannot be called that.
    public static let name = EnrollmentError(.name, "not a name")
    /// There is no word of this name.
    public static let unknown = EnrollmentError(.unknown, "no such word")

    /// A word of this name is there already.
    public static func taken(_ name: String) -> EnrollmentError {
        .name.saying("'\(name)' is taught already; forget it first, or export the other one without it")
    }

    /// The words that are there were taught to another model.
    public static func otherModel(file: String, words: [String]) -> EnrollmentError {
        .store.saying(
            "\(file): taught to another model, and without recordings: \(words.joined(separator: ", ")); "
                + "forget them, or keep this word elsewhere with --words FILE"
        )
    }

    /// The same kind of error with a message of its own, kept to one line.
    func saying(_ message: String) -> EnrollmentError { EnrollmentError(code, printable(message)) }
}
