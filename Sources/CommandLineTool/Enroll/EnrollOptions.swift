private import Core
import Enrollment

/// Options of `beckon enroll`.
struct EnrollOptions {
    private let arguments: Arguments
    let word: String
    /// Recordings of the word; nil for the microphone.
    var files: [String]?
    let listening: ListeningOptions

    /// Recordings, or numbers of `beckon misses`, in which the word was found by mistake.
    var negatives: [String] { arguments.all("--not") }
    /// Adds takes to a word that was taught before.
    var more: Bool { arguments.has("--more") }
    /// Takes to record.
    var takes: Int { arguments.whole("--takes") ?? Teaching.defaultTakes }
    var keepsAudio: Bool { !arguments.has("--no-audio") }
    /// Teaches a word that sounds like another one, and takes that do not sound like the model's word of this name.
    var force: Bool { arguments.has("--force") }
    /// Whether takes are learnt from, beside the name of a typed word.
    var hasTakes: Bool { !typed || files != nil || arguments.has("--takes") }
    /// The name is enough.
    var typed: Bool { arguments.has("--typed") || !sounds.isEmpty }
    /// Pronunciations of a typed word.
    var sounds: [String] { arguments.all("--sounds") }
    /// Plays the pronunciations of a typed word.
    var play: Bool { arguments.has("--play") }
    var words: String? { arguments.value("--words") }
    var configuration: String? { arguments.value("--config") }
    var device: String? { arguments.value("--device") }
    var json: Bool { arguments.has("--json") }

    init(_ arguments: Arguments) throws(UsageError) {
        self.arguments = arguments
        guard let word = arguments.operands.first else {
            throw UsageError("enroll needs the word to teach, such as: beckon enroll computer")
        }
        self.word = word
        // Of a name of several words the shell makes an operand of each, and leaves these marks in them.
        for end in arguments.operands.indices {
            guard let name = QuotationMarks.inside(arguments.operands[...end].joined(separator: " ")) else { continue }
            throw UsageError(
                "a shell knows straight quotes only, not those of \(printable(arguments.operands[...end].joined(separator: " "))); did you "
                    + "mean beckon enroll \(ShellWord.quoted(printable(name)))?"
            )
        }
        listening = try ListeningOptions(arguments)
        if PathName.isAudioFile(word) {
            throw UsageError(
                "enroll needs the word before its recordings; did you mean beckon enroll WORD --from "
                    + "\(ShellWord.quoted(printable(word)))?"
            )
        }
        let others = Array(arguments.operands.dropFirst())
        if arguments.has("--from") {
            files = arguments.all("--from") + others
            let before = arguments.operands(before: "--from")
            // A name that is not a path to anything, wherever it stands, is the rest of the word.
            let parts = before.count > 1 ? Array(before) : [word] + others.filter { !PathName.mayBePath($0) }
            if parts.count > 1 {
                let first = ShellWord.quoted(printable(arguments.all("--from")[0]))
                throw Self.unquoted(parts, then: "--from \(first)")
            }
        } else if let other = others.first {
            if PathName.isAudioFile(other) {
                throw UsageError(
                    "recordings need --from before them: beckon enroll \(ShellWord.quoted(printable(word))) --from "
                        + ShellWord.quoted(printable(other))
                )
            }
            throw Self.unquoted([word] + others)
        }
        guard negatives.isEmpty || files == nil && !more && !arguments.has("--takes") && !arguments.has("--device")
        else {
            throw UsageError(
                "--not takes recordings of what the word is not, for a word that is taught already; give it alone"
            )
        }
        guard files == nil || !arguments.has("--takes"), files == nil || !arguments.has("--device") else {
            throw UsageError("--takes and --device are for the microphone; --from uses all recordings")
        }
        if typed,
            let other = (hasTakes ? ["--not"] : ["--device", "--more", "--not", "--no-audio"]).first(
                where: arguments.has
            )
        {
            let why = hasTakes ? "of a word that is there" : "a typed word has none without --from or --takes"
            throw UsageError("\(other) is for takes, and \(why); leave out --typed and --sounds, or \(other)")
        }
        guard typed || !play else {
            throw UsageError(
                "--play says how a typed word is pronounced; give --typed too. A take is played by the key p"
            )
        }
        guard words != "none" else { throw UsageError("--words names the file to store the word in") }
        do throws(EnrollmentError) { try WordStore.check(name: word) } catch { throw UsageError(error.description) }
    }

    /// A name of several words without quotes.
    ///
    /// - Parameter rest: the end of the command line that was meant.
    private static func unquoted(_ parts: [String], then rest: String? = nil) -> UsageError {
        let name = ShellWord.quoted(printable(parts.joined(separator: " ")))
        return UsageError(
            "enroll takes one word; a name of several words needs quotes: beckon enroll \(name)"
                + (rest.map { " \($0)" } ?? "")
        )
    }
}
