/// What help says of the options that several commands have; each text stands here once.
///
/// An entry is whole lines without the last line's end, to be set into a help text.
enum OptionHelp {
    static let threshold = entry("-t, --threshold T", "confidence that every word needs, 0 to 1")
    static let word = entry("-w, --word WORD=T", "confidence that one word needs, such as yes=0.7")
    static let phrase = entry(
        "--phrase \"W W…\"",
        "report words in this order as a phrase, such as",
        "\"go left\"; may be repeated"
    )
    static let trigger = entry(
        "--trigger WHEN",
        "early: as soon as a word is sure (default)",
        "end: when it is over, with its best confidence"
    )
    static let shortTrigger = entry("--trigger WHEN", "early (default) or end")
    static let model = entry("-m, --model DIR", "model folder (default: the commands model)")
    static let words = entry(
        "--words FILE",
        "your own words, or none (default: where enroll",
        "keeps them)"
    )
    static let channel = entry("--channel N,…|mix", "channels to listen to, from 0 (default: mix of all)")
    static let jobs = entry("-j, --jobs N", "files at a time (default: one a processor)")
    static let jsonLines = entry("--json", "one JSON object a line")

    /// What the commands that decide offline, or measure, share at the end of a list.
    static let hearing = [threshold, word, model, channel].joined(separator: "\n")

    /// The spelling, and the lines beside it.
    private static func entry(_ spelling: String, _ lines: String...) -> String {
        lines.enumerated().map { index, line in pad(index == 0 ? "  " + spelling : "", 22) + line }
            .joined(separator: "\n")
    }
}
