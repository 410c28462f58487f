import Testing

@testable import CommandLineTool

/// Parsing of a command line by a command's declaration.
struct ArgumentsTests {
    private enum Colour: String, CaseIterable { case red, green }

    private static let declaration = CommandDeclaration(
        names: [
            CommandName(name: "paint", abstract: "…"),
            CommandName(name: "list", abstract: "…", tasks: [.init(name: "all", abstract: "…")]),
        ],
        abstract: "…",
        usage: [],
        groups: [
            "Options": [
                Option(name: "--jobs", short: "-j", value: .whole(1...8), help: "…"),
                Option(name: "--null", short: "-0", help: "…"),
                Option(name: "--quiet", short: "-q", help: "…"),
                Option(name: "--colour", value: .choice("NAME", Colour.self) { _ in "" }, help: "…"),
                Option(name: "--colours", value: .list("NAME", Colour.self), help: "…"),
                Option(name: "--after", value: .seconds(0...60, expected: "seconds from 0 to 60"), help: "…"),
                Option(name: "--word", value: .wordConfidence, repeats: true, help: "…"),
            ]
        ]
    )

    private static func parse(_ words: String..., command: String = "paint") throws(UsageError) -> Arguments {
        try Arguments(command, words, declaration)
    }

    @Test func `options and operands in every spelling`() throws {
        for words in [["--jobs", "4"], ["--jobs=4"], ["-j", "4"], ["-j4"]] {
            #expect(try Arguments("paint", words, Self.declaration).value("--jobs") == "4")
        }
        let mixed = try Self.parse("a", "-0q", "-", "--", "--jobs")
        #expect(mixed.operands == ["a", "-", "--jobs"])
        #expect(mixed.has("--null") && mixed.has("--quiet") && !mixed.has("--jobs"))
        #expect(throws: UsageError.self) { try Self.parse("-x") }
        #expect(throws: UsageError.self) { try Self.parse("--jobs") }
        #expect(try Self.parse("--help").has("--help") && Self.parse("-h").has("--help"))
    }

    @Test func `values are read in their types`() throws {
        let arguments = try Self.parse("-j8", "--after", "2.5", "--colours", "green,red,green", "--colour=red")
        #expect(arguments.whole("--jobs") == 8 && arguments.number("--after") == 2.5)
        #expect(arguments.choice("--colour") == Colour.red)
        #expect(arguments.list("--colours") == [Colour.green, .red])
        let repeated = try Self.parse("--word", "a=0.5", "--word", "b=0.7", "-j2", "-j2")
        #expect(repeated.all("--word") == ["a=0.5", "b=0.7"] && repeated.whole("--jobs") == 2)
        let none = try Self.parse()
        #expect(none.whole("--jobs") == nil && none.list("--colours") == [Colour]() && none.all("--word") == [])
    }

    @Test(arguments: [
        (["--jobs", "9"], "--jobs takes a number from 1 to 8, not '9'"),
        (["-jx"], "--jobs takes a number from 1 to 8, not 'x'"),
        (["--colour", "blue"], "--colour takes one of red, green, not 'blue'"),
        (["--colours", "red,"], "--colours takes some of red, green, with commas between, not 'red,'"),
        (["--after", "nan"], "--after takes seconds from 0 to 60, not 'nan'"),
        (
            ["--word", "=0.5"],
            "--word takes WORD=THRESHOLD with a confidence between 0 and 1 or a sensitivity, such as yes=0.7 or "
                + "yes=strict, not '=0.5'"
        ),
        (["--quite"], "unknown option --quite; did you mean --quiet?"), (["-z"], "unknown option -z"),
        (["-j2", "--jobs", "3"], "--jobs was given twice, as '2' and '3'; leave one out"),
        (["-quiet"], "unknown option -quiet; did you mean --quiet?"),
        (["--colour", "Red"], "--colour takes one of red, green, not 'Red'; did you mean red?"),
        (["--jobs=\u{1B}["], "--jobs takes a number from 1 to 8, not '?['"),
    ])
    func `a rejected webhook is reported in one line`(_ words: [String], message: String) {
        do {
            _ = try Arguments("paint", words, Self.declaration)
            Issue.record("\(words) were accepted")
        } catch {
            #expect(error.description == message)
        }
    }

    @Test func `a task is the first operand of a command that has tasks`() throws {
        let task = try Self.parse("all", "x", command: "list")
        #expect(task.task == "all" && task.operands == ["x"])
        #expect(try Self.parse(command: "list").task == nil)
        #expect(try Self.parse("all").task == nil && Self.parse("all").operands == ["all"])
        #expect(throws: UsageError.self) { try Self.parse("al", command: "list") }
        #expect(try Self.parse("al", "--help", command: "list").has("--help"))
    }
}
