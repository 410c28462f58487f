import CSndFile
import Foundation
import TestSupport
import Testing

/// Errors give one clear line and the right exit status, and the rest of the batch is still processed.
struct FailureTests {
    private static let good = Voices.path("Side_Left")

    struct Broken: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// Text that its error line must contain, besides the name.
        let says: String
        let make: @Sendable (TestFolder) throws -> String
    }

    static let broken: [Broken] = [
        .init("not audio", says: "not an audio file") { try $0.write("x.wav", bytes: Array("hello, world".utf8)) },
        .init("empty", says: "empty") { try $0.write("x.wav", bytes: []) },
        .init("missing", says: "does not exist") { $0.file("x.wav") },
        .init("truncated", says: "ends early") { folder in
            let whole = try Data(contentsOf: URL(fileURLWithPath: good))
            return try folder.write("x.wav", bytes: [UInt8](whole.prefix(whole.count / 2)))
        },
        .init("no channels", says: "Channel count is zero") { folder in
            var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: good)))
            (bytes[22], bytes[23]) = (0, 0)
            return try folder.write("x.wav", bytes: bytes)
        },
        .init("NaN", says: "NaN or infinite sample at 0.500 s") { folder in
            var samples = [Float](repeating: 0.1, count: 16_000)
            samples[8_000] = .nan
            return try folder.write("x.wav", format: SF_FORMAT_WAV | SF_FORMAT_FLOAT, samples)
        },
        .init("a folder without audio", says: "no audio files") { try $0.folder("x.wav") },
        .init("a device", says: "not a regular file") { _ in "/dev/null" },
    ]

    @Test(arguments: broken)
    func `a broken file among good ones`(_ broken: Broken) throws {
        let folder = try TestFolder()
        let path = try broken.make(folder)
        let program = try Program.beckon(["classify", "--json", Self.good, path, Self.good])
        #expect(program.status == 1)
        #expect(try Result.all(in: program).filter { $0.file == Self.good }.map(\.word) == ["left", "left"])
        let lines = program.error.split(separator: "\n")
        #expect(lines.count == 1, "\(program.error)")
        #expect(lines.first?.hasPrefix("beckon: ") == true)
        #expect(lines.first?.contains(path) == true && lines.first?.contains(broken.says) == true, "\(program.error)")
        let clips = try Program.beckon(["classify", "--clips", "--json", path])
        #expect(clips.status == 1 && clips.output == "")
    }

    @Test func `a file of unreadable bytes never ends the program by a signal`() throws {
        let folder = try TestFolder()
        var random = SplitMix(seed: 1)
        let whole = [UInt8](try Data(contentsOf: URL(fileURLWithPath: Self.good)).prefix(30_000))
        var paths: [String] = []
        for number in 0..<60 {
            var bytes = whole
            for _ in 0..<8 {
                bytes[random.int(0...59)] = UInt8(random.int(0...255))
            }
            paths.append(try folder.write("\(number).wav", bytes: bytes))
        }
        let program = try Program.beckon(["classify", "--json"] + paths + [Self.good])
        #expect(program.status == 1)
        #expect(try Result.all(in: program).last?.file == Self.good)
    }

    @Test(arguments: [
        ("BECKON_PRECISION", "int4", "“int4” is neither float nor int8"),
        ("BECKON_KERNELS", "mmx", "“mmx” is not a set of kernels"),
    ])
    func `an invalid environment variable is reported in one line`(name: String, value: String, says: String) throws {
        let program = try Program.beckon(["classify", Self.good], environment: [name: value])
        #expect(program.status == 78 && program.output == "")
        #expect(program.error.hasPrefix("beckon: \(name): \(says)"), "\(program.error)")
        #expect(program.error.split(separator: "\n").count == 1)
    }

    @Test func `a usage error exits with 2 and suggests the right name`() throws {
        let table: [([String], String)] = [
            ([], "Usage: beckon"),
            (["classify"], "needs a file"),
            (["clasify"], "did you mean classify?"),
            (["classify", "--jsom", "x"], "did you mean --json?"),
            (["classify", "--threshold", "2", "x"], "--threshold takes a confidence"),
            (["classify", "--threshold"], "--threshold needs a value"),
            (["classify", "--word", "yes", "x"], "WORD=THRESHOLD"),
            (["classify", "--mode", "spott", "x"], "spot, command"),
            (["classify", "--format", "xml", "x"], "table, json, csv, records, audacity"),
            (["classify", "--jobs", "0", "x"], "1 to 256"),
            (["classify", "--channel", "64", "x"], "0 to 63"), (["classify", "--channel", "0,0", "x"], "such as 0,1"),
            (["listen", "--channel", "0,", "--device", "x"], "such as 0,1"),
            (["classify", "--json=yes", "x"], "takes no value"),
            (["classify", "--clips", "--format", "audacity", "x"], "label track"),
            (["evaluate"], "one folder of clips"),
            (["evaluate", "a", "b"], "one folder of clips"),
            (["evaluate", "--stream"], "needs a recording"),
            (["evaluate", "--stream", "--list", "x", "y"], "--list"),
            (["evaluate", "--mode", "spot", "x"], "goes with --stream"),
            (["evaluate", "--stream", "--tolerance", "nan", "x"], "0 to 60"),
            (["config"], "config needs check, show or init"),
            (["config", "chekc"], "unknown task config chekc"),
            (["config", "show", "a", "b"], "takes one file"),
            (["set"], "set needs a word and its threshold"),
            (["set", "yes=7"], "lies between 0 and 1"),
            (["mute", "now"], "mute takes nothing after it"),
            (["umute"], "did you mean"),
            (["help", "evaluat"], "did you mean evaluate?"),
            (["help", "clasify"], "did you mean classify?"),
            (["classify", "--jsom", "x"], "see beckon help classify"), (["umute"], "see beckon help\n"),
            (["config", "chekc"], "did you mean check?; see beckon help config"),
            (["words", "exprot", "x"], "did you mean export?; see beckon help words"),
        ]
        for (arguments, says) in table {
            let program = try Program.beckon(arguments)
            #expect(program.status == 2, "\(arguments)")
            #expect(program.error.contains(says), "\(arguments): \(program.error)")
            #expect(program.output == "")
            if !arguments.isEmpty { #expect(program.error.split(separator: "\n").count == 1) }
        }
    }

    @Test func `words and phrases the model does not know`() throws {
        // A phrase of one word is a mistake in the command line itself.
        for (arguments, status) in [
            (["--word", "maybe=0.5"], 78), (["--phrase", "go home"], 78), (["--phrase", "go"], 2),
        ] {
            let program = try Program.beckon(["classify"] + arguments + [Self.good])
            #expect(program.status == status && program.output == "")
            #expect(program.error.split(separator: "\n").count == 1)
        }
        #expect(try Program.beckon(["classify", "--word", "maybe=0.5", Self.good]).error.contains("'maybe'"))
    }

    @Test func `a missing or broken model`() throws {
        let folder = try TestFolder()
        let missing = try Program.beckon(["classify", "--model", folder.file("none"), Self.good])
        #expect(missing.status == 78 && missing.error.contains(folder.file("none")))

        try folder.write("model.json", bytes: Array("{\"format\": \"beckon-model\"".utf8))
        try folder.write("model.safetensors", bytes: [1, 2, 3])
        let broken = try Program.beckon(["classify", Self.good], environment: ["BECKON_MODEL": folder.path])
        #expect(broken.status == 78 && broken.error.contains("model.json"))
        #expect(broken.error.split(separator: "\n").count == 1)
    }

    @Test func `Ctrl-C ends cleanly and keeps what was done`() throws {
        // Minutes of work: the same file, 20 000 times.
        let list = Array(repeating: Self.good, count: 20_000).joined(separator: "\n")
        let program = try Program.beckon(["classify", "--json", "--files-from", "-"], input: list, interrupt: true)
        #expect(program.status == 130)
        #expect(program.error.contains("interrupted after"))
        let results = try Result.all(in: program)
        #expect(!results.isEmpty && results.count < 20_000)
    }
}

extension FailureTests.Broken {
    fileprivate init(_ name: String, says: String, make: @escaping @Sendable (TestFolder) throws -> String) {
        self.init(testDescription: name, says: says, make: make)
    }
}
