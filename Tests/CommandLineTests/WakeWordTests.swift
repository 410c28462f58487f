import Foundation
import TestSupport
import Testing

@testable import CommandLineTool

/// `--wake-word`: words with models of their own.
struct WakeWordTests {
    private static let voice = Voices.path("Side_Left")

    @Test func `classify finds a wake word beside the model's words`() throws {
        // The voice says "side left", so the threshold is low.
        let options = ["classify", "--json", "--wake-word", "Okay-Nabu", "--word", "okay nabu=0.005"]
        let program = try Program.beckon(options + [Self.voice])
        #expect(program.status == 0 && program.error == "")
        let found = try Result.all(in: program)
        #expect(Set(found.compactMap(\.word)) == ["left", "okay nabu"])
        let without = try Program.beckon(["classify", "--json", Self.voice])
        #expect(try Result.all(in: without).map(\.word) == ["left"])
    }

    @Test func `a wake word may be a file, and alone among the words that fire`() throws {
        let file = Checkout.path + "/Models/wake-words/okay_nabu.tflite"
        let program = try Program.beckon(
            [
                "classify", "--wake-word", file, "--words", "okay nabu", "--word", "okay nabu=0.005", "--json",
                Self.voice,
            ]
        )
        #expect(try Result.all(in: program).map(\.word) == ["okay nabu"])
    }

    @Test func `nothing said is no wake word`() throws {
        let names = ["alexa", "hey_jarvis", "hey_mycroft", "okay_nabu"].flatMap { ["--wake-word", $0] }
        let program = try Program.beckon(["classify", "--json"] + names + [Voices.folder])
        #expect(program.status == 0)
        #expect(Set(try Result.all(in: program).compactMap(\.word)) == ["left", "right"])
    }

    @Test(arguments: [
        (["--wake-word", "nobody"], 1, "there is no wake word “nobody”; beckon model list"),
        (
            ["--wake-word", "/dev/null.tflite"], 1,
            "/dev/null.json: No such file or directory; the manifest must lie beside"
        ),
        (["--wake-word", "alexa", "--wake-word", "alexa"], 1, "there is another word “alexa”; remove one of them"),
        (["--wake-word", "alexa", "--clips"], 2, "--wake-word finds words in recordings; leave --clips out"),
        (["--wake-word", "alexa", "--word", "alexa=strict"], 1, "has one threshold, that of its manifest"),
    ])
    func `what cannot be used is one line`(options: [String], status: Int32, message: String) throws {
        let program = try Program.beckon(["classify"] + options + [Self.voice])
        #expect(program.status == status)
        #expect(program.error.contains(message), "\(program.error)")
        #expect(program.error.split(separator: "\n").count == 1)
    }

    @Test func `a damaged model is refused in one line`() throws {
        let folder = try TestFolder()
        let models = Checkout.path + "/Models/wake-words"
        let json = try Data(contentsOf: URL(fileURLWithPath: models + "/alexa.json"))
        try json.write(to: URL(fileURLWithPath: folder.file("alexa.json")))
        for (content, message) in [
            ("not a model", "not a TFLite file"), ("\u{8}\0\0\0TFL3", "a reference leads out of the file"),
        ] {
            try Data(content.utf8).write(to: URL(fileURLWithPath: folder.file("alexa.tflite")))
            let program = try Program.beckon(["classify", "--wake-word", folder.file("alexa.json"), Self.voice])
            #expect(program.status == 1 && program.error.contains("alexa.tflite: "), "\(program.error)")
            #expect(program.error.contains(message), "\(program.error)")
        }
    }

    @Test func `a model is added, listed, used by its name, and removed`() throws {
        let folder = try TestFolder()
        let environment = [
            "XDG_STATE_HOME": folder.path, "XDG_CONFIG_HOME": folder.file("config"), "BECKON_WORDS": "",
            "STATE_DIRECTORY": "",
        ]
        func run(_ words: [String]) throws -> Program { try Program.beckon(words, environment: environment) }
        let models = Checkout.path + "/Models/wake-words"
        let json = try String(contentsOfFile: models + "/okay_nabu.json", encoding: .utf8)
        let own = json.replacing("Okay Nabu", with: "Hey House").replacing("okay_nabu.tflite", with: "stream.tflite")
        try Data(own.utf8).write(to: URL(fileURLWithPath: folder.file("stream.json")))
        try FileManager.default.copyItem(atPath: models + "/okay_nabu.tflite", toPath: folder.file("stream.tflite"))
        let added = try run(["model", "add", folder.file("stream.tflite")])
        #expect(added.status == 0 && added.output.hasPrefix("Added: hey house; name it hey_house"), "\(added.error)")
        let again = try run(["model", "add", folder.file("stream.json")])
        #expect(again.status == 1 && again.error.contains("hey_house was added already"))
        let list = try run(["model", "list"])
        #expect(list.output.split(separator: "\n").count == 6, "four of the program, one of the user, a heading")
        #expect(list.output.contains("Hey House") && list.output.contains("Okay Nabu"))
        let found = try run(
            [
                "classify", "--json", "--wake-word", "hey house", "--words", "hey house", "--word", "hey house=0.005",
                Self.voice,
            ]
        )
        #expect(try Result.all(in: found).map(\.word) == ["hey house"], "\(found.error)")
        let configuration = folder.file("config/beckon/config.json5")
        try FileManager.default.createDirectory(
            atPath: folder.file("config/beckon"),
            withIntermediateDirectories: true
        )
        try Data("{wakeWords: ['alexa', 'Hey House']}".utf8).write(to: URL(fileURLWithPath: configuration))
        let removed = try run(["model", "remove", "Hey-House"])
        #expect(removed.output == "Removed: hey_house\n")
        #expect(removed.error.contains("config.json5:1:") && removed.error.contains("wakeWords[1]: names 'hey_house'"))
        #expect(!FileManager.default.fileExists(atPath: folder.file("beckon/wake-words")))
        #expect(try run(["model", "remove", "hey_house"]).status == 1)
        #expect(try run(["model", "remove", "alexa"]).error.contains("came with the program and stays"))
        #expect(try run(["classify", "--wake-word", "hey_house", Self.voice]).error.contains("there is no wake word"))
        #expect(try run(["model", "list", "--json"]).lines.count == 4)
    }

    @Test(arguments: ["tflite", "onnx"])
    func `a head of openWakeWord is added without a manifest, and found`(ending: String) throws {
        let folder = try TestFolder()
        let environment = ["XDG_STATE_HOME": folder.path, "BECKON_WORDS": "", "STATE_DIRECTORY": ""]
        func run(_ words: [String]) throws -> Program { try Program.beckon(words, environment: environment) }
        let head = folder.file("Hey_House_v0.1.\(ending)")
        let fixture = Checkout.path + "/Tests/WakeWordsTests/Fixtures/verified.\(ending)"
        try FileManager.default.copyItem(atPath: fixture, toPath: head)
        func words(_ wakeWord: String) throws -> [String?] {
            let options = ["--words", "hey house", "--word", "hey house=0.3", "--wake-word", wakeWord]
            let program = try run(["classify", "--json"] + options + [Self.voice])
            #expect(program.status == 0 && program.error == "")
            return try Result.all(in: program).map(\.word)
        }
        #expect(try words(head).first == "hey house")
        #expect(try run(["model", "add", head]).output.hasPrefix("Added: hey house; name it hey_house"))
        let list = try run(["model", "list", "--json"])
        #expect(list.lines.last?.contains(#""word": "hey house""#) == true)
        #expect(list.lines.last?.contains(#""threshold": 0.500"#) == true)
        #expect(try words("hey_house") == words(head))
        #expect(try run(["model", "remove", "hey_house"]).status == 0)
    }

    @Test func `what cannot be used is not added`() throws {
        let folder = try TestFolder()
        let environment = ["XDG_STATE_HOME": folder.path, "BECKON_WORDS": "", "STATE_DIRECTORY": ""]
        try Data("{}".utf8).write(to: URL(fileURLWithPath: folder.file("x.json")))
        let program = try Program.beckon(["model", "add", folder.file("x.json")], environment: environment)
        #expect(program.status == 1 && program.error.contains("key type is missing, not 'micro'"), "\(program.error)")
        #expect(!FileManager.default.fileExists(atPath: folder.file("beckon")))
        for words in [["model"], ["model", "add"], ["model", "list", "x"], ["model", "remove"]] {
            #expect(try Program.beckon(words).status == 2, "\(words)")
        }
    }
}
