private import Core

/// Why a word cannot be stored, read or found.
///
/// Two errors are equal if they are of the same kind, whatever their messages; compare with the constants.
/// ``description`` is one line: the input, what is wrong, what to do.
public struct EnrollmentError: Error, Equatable, Sendable, CustomStringConvertible {
    private enum Code { case store, damaged, name, unknown, model, busy, cancelled, alike, negative }

    private let code: Code
    public let description: String
    /// The same for those who have no command line, such as users of the live page: without options and commands.
    public let plain: String

    private init(_ code: Code, _ description: String, plain: String? = nil) {
        self.code = code
        self.description = description
        self.plain = plain ?? description
    }

    public static func == (left: EnrollmentError, right: EnrollmentError) -> Bool { left.code == right.code }

    /// The store cannot be read or written.
    public static let store = EnrollmentError(.store, "the word store cannot be read or written")
    /// A store or an exported file is damaged.
    public static let damaged = EnrollmentError(.damaged, "the word store is damaged")
    /// Another program has been changing the store for too long.
    public static let busy = EnrollmentError(.busy, "another program is changing the word store")
    /// The caller ended the wait for another program.
    public static let cancelled = EnrollmentError(.cancelled, "interrupted; nothing was changed")
    /// A name that no word can have.
    public static let name = EnrollmentError(.name, "not a valid name")
    /// There is no model, or one that cannot be used here.
    public static let model = EnrollmentError(.model, "no model")
    /// The word sounds like another one, of the user's or of the model's.
    public static let alike = EnrollmentError(.alike, "two words sound alike")
    /// A recording cannot be a negative example.
    public static let negative = EnrollmentError(.negative, "not a negative example")
    /// There is no word of this name.
    public static let unknown = EnrollmentError(.unknown, "no such word")

    /// There are words of these names already.
    public static func taken(_ names: [String]) -> EnrollmentError {
        .name.saying(
            "nothing was imported, because these words are taught already: \(names.joined(separator: ", ")); --replace uses "
                + "the ones of the file, beckon forget removes yours"
        )
    }

    private static let different = "choose a word that sounds different"
    private static let orForce = ", or --force teaches it all the same"

    /// The word sounds like one that is taught already.
    public static func soundAlike(_ name: String, _ other: String) -> EnrollmentError {
        .alike.saying(
            "'\(name)' sounds like '\(other)', which is taught already: both would suffer, as each is often taken for the other; "
                + different,
            orForce,
            plain: ""
        )
    }

    /// A word of the model is taken for the new one.
    ///
    /// - Parameter share: of its utterances, 0…1.
    public static func takenForCommand(_ name: String, _ other: String, share: Double) -> EnrollmentError {
        .alike.saying(
            "'\(name)' sounds like '\(other)', which the model knows: \(shareText(share, places: 0)) of the times that '\(other)' is said, "
                + "it would be taken for '\(name)'; \(different)",
            orForce,
            plain: ""
        )
    }

    /// The takes are those of a word that the model knows.
    ///
    /// - Parameters:
    ///   - count: of the takes in which it was found.
    ///   - total: of all takes.
    public static func takesOfCommand(_ name: String, _ other: String, count: Int, of total: Int) -> EnrollmentError {
        .alike.saying(
            "'\(name)' sounds like '\(other)', which the model knows and finds in \(count) of \(counted(total, "take")); \(different)",
            orForce,
            plain: ""
        )
    }

    /// The word was changed by another program while takes for it were recorded.
    public static func changedMeanwhile(_ name: String, _ what: String) -> EnrollmentError {
        .store.saying("'\(name)' was \(what) by another program in the meantime; nothing was changed, teach it again")
    }

    /// The word cannot get a name, as another word has it, or one that is only spelled otherwise.
    ///
    /// - Parameter isTaught: whether the user taught the other one; if not, the model knows it.
    public static func nameInUse(_ name: String, _ other: String, isTaught: Bool) -> EnrollmentError {
        let what = name == other ? "'\(name)'" : "'\(name)' is spelled almost like '\(other)', which"
        return .name.saying(
            isTaught
                ? "\(what) is taught already; choose another name, or forget '\(other)' first; nothing was changed"
                : "\(what) is a word that the model knows; choose another name; nothing was changed"
        )
    }

    /// The stored word belongs to another model and has no recordings.
    public static func otherModel(_ name: String) -> EnrollmentError {
        .store.saying(
            "'\(name)' was taught to another model, and without recordings; ",
            "beckon forget takes it away, or keep this word in another file with --words FILE",
            plain: "forget it, and teach it again"
        )
    }

    /// A word that nobody recorded has no takes, which a negative example could be compared with.
    public static func typed(_ name: String) -> EnrollmentError {
        .name.saying(
            "'\(name)' is a typed word without takes; ",
            "add some first: beckon enroll \(ShellWord.quoted(name))",
            plain: "add some first"
        )
    }

    /// A name that a typed word cannot have, and what would help.
    static func cannotBeTyped(_ name: String, _ why: String) -> EnrollmentError {
        let advice = "; choose a longer name, or teach it by voice"
        return .name.saying(why + advice, ": beckon enroll \(ShellWord.quoted(name))", plain: "")
    }

    /// A typed word sounds like another word.
    static func typedSoundAlike(_ name: String, _ other: String) -> EnrollmentError {
        .alike.saying(
            "'\(name)' sounds like '\(other)'; each would be found in place of the other; choose another name",
            ", or --force",
            plain: ""
        )
    }

    /// The same kind of error with another message, kept to one line.
    ///
    /// - Parameter plain: the message without options and commands, if it has any.
    func saying(_ message: String, plain: String? = nil) -> EnrollmentError {
        EnrollmentError(code, printable(message), plain: plain.map(printable))
    }

    /// The same kind of error, with advice that is another one for those who have a command line.
    private func saying(_ message: String, _ advice: String, plain: String) -> EnrollmentError {
        saying(message + advice, plain: message + plain)
    }
}
