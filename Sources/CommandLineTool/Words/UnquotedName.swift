private import Core
import Enrollment

/// A taught name of several words that was given without quotes: the shell makes an operand of each.
enum UnquotedName {
    /// Refuses operands that are not taught words alone, but are one together.
    static func check(_ operands: [String], _ store: WordStore) throws(Failure) {
        guard let unknown = operands.firstIndex(where: { store[$0] == nil }) else { return }
        let names = store.words.map(\.name)
        for start in 0...unknown {
            for end in operands.indices.reversed() where end >= unknown && end > start {
                let name = operands[start...end].joined(separator: " ")
                guard let meant = names.first(where: { $0 == name || WordStore.isSpelledLike($0, name) }) else {
                    continue
                }
                throw Failure(
                    "no word '\(printable(operands[unknown]))' was taught; a name of several words needs quotes; did you mean "
                        + "\(ShellWord.quoted(printable(meant)))?"
                )
            }
        }
    }
}
