import Core
import Testing

struct ShellWordTests {
    @Test func `an argument of a shell`() {
        let rows = [
            ("computer", "computer"), ("hey-peter.wav", "hey-peter.wav"), ("hey peter", "'hey peter'"),
            ("o'clock", #"'o'\''clock'"#), ("", "''"), ("$HOME", "'$HOME'"), ("müde", "'müde'"), ("~", "'~'"),
        ]
        for (argument, expected) in rows { #expect(ShellWord.quoted(argument) == expected) }
    }
}
