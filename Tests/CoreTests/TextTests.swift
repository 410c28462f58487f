import Testing

@testable import Core

/// Numbers as text, printable names and edit distances.
struct TextTests {
    @Test func `the first line has no byte-order mark and no line end of any system`() {
        let table = [
            ("secret\n", "secret"), ("secret\r\nmore\r\n", "secret"), ("\u{FEFF}secret\n", "secret"),
            ("secret", "secret"),
            ("\nsecret", ""), ("", ""), (" a b \n", " a b "),
        ]
        for (text, line) in table { #expect(firstLine(of: text) == line, "\(text.debugDescription)") }
    }

    @Test(arguments: [
        (0.0, 2, "0.00"), (1.005, 1, "1.0"), (0.9999, 2, "1.00"), (-0.5, 1, "-0.5"), (-0.001, 2, "0.00"),
        (12.3, 0, "12"),
        (.infinity, 2, "0"), (3599.996, 2, "3600.00"),
    ])
    func `numbers in decimals`(_ value: Double, _ places: Int, _ text: String) {
        #expect(decimal(value, places) == text)
    }

    @Test func `a table that is too wide has each row in lines of its own`() {
        var table = TextTable(["WORD", "MODE", "TAKES", "WRONG PER HOUR"], names: [0, 1])
        table.add(["yes", "spot", "3", "0.5"])
        table.add(["計算機", "", "12", "< 0.01"])
        let whole = table.text
        #expect(table.text(columns: 35) == whole && whole.hasPrefix("WORD    MODE  TAKES  WRONG PER HOUR\nyes"))
        let folded = "yes, spot\n  takes 3, wrong per hour 0.5\n計算機\n  takes 12, wrong per hour < 0.01\n"
        #expect(table.text(columns: 34) == folded)
        let narrow = "yes, spot\n  takes 3,\n  wrong per hour 0.5\n計算機\n  takes 12,\n  wrong per hour < 0.01\n"
        #expect(table.text(columns: 20) == narrow)
    }

    @Test(arguments: [
        ("og", "on"), ("tse", nil), ("of", "on"), ("yes", nil), ("wrod", "word"), ("comand", "command"),
        ("Word", "word"), ("", nil), ("\u{201C}set\u{201D}", "set"), ("ste", "set"), ("no", "on"),
    ])
    func `a suggestion differs in at most half of its letters`(_ name: String, _ near: String?) {
        #expect(nearestName(to: name, of: ["on", "set", "word", "command"]) == near)
    }

    @Test func `names stay on their line`() {
        #expect(printable("a\nb\u{1B}[2Jé") == "a?b?[2Jé")
        #expect(printable("a\u{7F}\u{9B}2J\u{2028}") == "a??2J?")
    }

    @Test func `names show what they are`() {
        #expect(printable("yes\u{202E}exe.wav \u{2066}\u{FEFF}\u{AD}") == "yes?exe.wav ???")
        // Scripts and emoji need joiners.
        #expect(printable("می\u{200C}خواهم 👩\u{200D}💻") == "می\u{200C}خواهم 👩\u{200D}💻")
        #expect(isReadableName("می\u{200C}خواهم") && isReadableName("👩\u{200D}💻") && isReadableName("hey house"))
        #expect(!isReadableName("ye\u{200D}s") && !isReadableName("\u{200D}é") && !isReadableName("é\u{200C}"))
        #expect(!isReadableName("a\u{E0041}") && !isReadableName("a\tb"))
    }

    @Test func `names that are not UTF-8 keep their bytes`() {
        let table: [(bytes: [UInt8], shown: String)] = [
            (Array("plain".utf8), "plain"), (Array("größe 日本 🎂".utf8), "größe 日本 🎂"),
            ([0x66, 0xF6, 0x2E], "f\u{FFFD}."),
            ([0xE2, 0x82], "\u{FFFD}\u{FFFD}"), ([0xFF, 0xC3, 0xA9], "\u{FFFD}é"),
            // The scalars that stand for bytes, in a name of their own.
            (Array("\u{10FFF6}".utf8), "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"), ([], ""),
        ]
        for (bytes, shown) in table {
            let text = FileName.text(bytes)
            #expect(FileName.bytes(text) == bytes && FileName.shown(text) == shown, "\(bytes)")
            #expect(FileName.cString(text).count == bytes.count + 1)
            #expect(FileName.isRaw(text) == shown.contains("\u{FFFD}"))
        }
        for byte in UInt8(0x80)...0xFF {
            let text = FileName.text([0x66, byte, 0x0A])
            #expect(printable(text) == "f\u{FFFD}?" && FileName.shown(text) == "f\u{FFFD}\n", "\(byte)")
        }
    }

    @Test(arguments: [
        ("", 0), ("left", 4), ("größe", 5), ("e\u{301}", 1), ("日本語", 6), ("ｶﾅ", 2), ("한국", 4), ("🎂", 2), ("❤️", 2),
        ("नमस्ते", 4), ("عربي", 4), ("Привет", 6), ("👩‍👧", 2), ("☎", 1),
    ])
    func `columns of a text on a terminal`(_ text: String, _ count: Int) {
        #expect(columns(text) == count)
        #expect(columns(pad(text, 9)) == 9 && columns(left(text, 9)) == 9)
    }

    @Test func `edit distances`() {
        #expect(editDistance("classify", "clasify") == 1)
        #expect(editDistance("", "abc") == 3 && editDistance("abc", "") == 3)
        #expect(editDistance("csv", "cvs") == 1 && editDistance("ab", "bca") == 3)
        #expect(editDistance("help", "help") == 0)
    }
}
