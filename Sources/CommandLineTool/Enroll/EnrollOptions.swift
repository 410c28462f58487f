import Enrollment
import Service

/// What `beckon enroll` was asked to do.
struct EnrollOptions {
    let word: String
    /// Recordings to learn from; nil for the microphone.
    var files: [String]?
    /// Adds to a word that is there already.
    let more: Bool
    /// Takes to ask for.
    var takes = EnrollmentSession.wanted
    let keepsAudio: Bool
    let words: String?
    let configuration: String?
    let device: String?
    let json: Bool
    let listening: ListeningOptions

    static let options: [Arguments.Option] =
        ListeningOptions.options.filter { ["--model", "--channel", "--help"].contains($0.name) } + [
            ListeningOptions.wordsOption, .init("--from", takesValue: true), .init("--more"),
            .init("--takes", short: "-n", takesValue: true), .init("--no-audio"),
            .init("--config", short: "-c", takesValue: true), .init("--device", short: "-d", takesValue: true),
            .init("--json"),
        ]

    init(_ arguments: Arguments) throws(UsageError) {
        guard let word = arguments.operands.first else {
            throw UsageError("enroll needs the word to learn, such as: beckon enroll computer")
        }
        self.word = word
        let others = Array(arguments.operands.dropFirst())
        if arguments.has("--from") {
            files = arguments.all("--from") + others
        } else if let other = others.first {
            throw UsageError(
                "enroll takes one word; put a name of several in quotes, and recordings behind --from: \(other)"
            )
        }
        more = arguments.has("--more")
        if let text = arguments.value("--takes") {
            guard let count = Int(text), (1...20).contains(count) else {
                throw UsageError("--takes takes a number from 1 to 20, not '\(text)'")
            }
            takes = count
        }
        guard files == nil || !arguments.has("--takes"), files == nil || !arguments.has("--device") else {
            throw UsageError("--takes and --device are for the microphone; with --from all recordings count")
        }
        keepsAudio = !arguments.has("--no-audio")
        words = arguments.value("--words")
        guard words != "none" else { throw UsageError("--words names the file to keep the word in") }
        configuration = arguments.value("--config")
        device = arguments.value("--device")
        json = arguments.has("--json")
        listening = try ListeningOptions(arguments, processors: 1)
        do throws(EnrollmentError) { try WordStore.check(name: word) } catch { throw UsageError(error.description) }
    }
}
