import Foundation
import TestSupport
import Testing

@testable import CommandLineTool

/// `--wake-word`: words with models of their own.
struct WakeWordTests {
    private static let voice = Voices.path("Side_Left")

    @Test func `classify finds a wake word beside the model's words`() throws {
        // The voice says "side left", so the threshold is low, and nothing looks at its sounds.
        let options = ["classify", "--json", "--no-confirm", "--wake-word", "Okay-Nabu", "--word", "okay nabu=0.005"]
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
                "classify", "--no-confirm", "--wake-word", file, "--words", "okay nabu", "--word", "okay nabu=0.005",
                "--json",
                Self.voice,
            ]
        )
        #expect(try Result.all(in: program).map(\.word) == ["okay nabu"])
    }

    @Test func `evaluate measures a wake word in clips and in recordings`() throws {
        struct Report: Decodable {
            struct Figures: Decodable { var said, hits, falseAccepts: Int }
            struct Point: Decodable { var recall, falseAccepts: Double? }
            struct Clips: Decodable {
                var word: String
                var own: Point
            }
            struct Stream: Decodable {
                var word: String
                var figures: Figures
            }
            struct Setting: Decodable { var words: [Stream] }
            var words: [Clips]?
            var settings: [Setting]?
        }
        func report(_ options: [String]) throws -> Report {
            let words = ["--wake-word", "okay_nabu", "--word", "okay nabu=0.005"]
            let program = try Program.beckon(["evaluate", "--json", "--no-confirm"] + words + options)
            #expect(program.status == 0, "\(program.error)")
            return try JSONDecoder().decode(Report.self, from: Data(program.output.utf8))
        }
        // The voice says "side left", which is near the word at this threshold, and "rear right", which is not.
        let folder = try TestFolder()
        for (name, voice) in [("Okay_Nabu", "Side_Left"), ("others", "Rear_Right")] {
            try FileManager.default.createDirectory(
                atPath: folder.file("clips/\(name)"),
                withIntermediateDirectories: true
            )
            try FileManager.default.copyItem(
                atPath: Voices.path(voice),
                toPath: folder.file("clips/\(name)/\(voice).wav")
            )
        }
        let own = try #require(try report([folder.file("clips")]).words?.first { $0.word == "okay nabu" }).own
        #expect(own.recall == 1 && own.falseAccepts == 0)
        try FileManager.default.copyItem(atPath: Self.voice, toPath: folder.file("talk.wav"))
        func figures(_ label: String) throws -> Report.Figures {
            try Data("0.1\t1.4\t\(label)\n".utf8).write(to: URL(fileURLWithPath: folder.file("talk.txt")))
            let options = ["--stream", "--mode", "spot", "--words", "none", folder.file("talk.wav")]
            let words = try report(options).settings?.first?.words
            return try #require(words?.first { $0.word == "okay nabu" }).figures
        }
        let (said, unsaid) = (try figures("okay_nabu"), try figures("other"))
        #expect(said.said == 1 && said.hits == 1 && said.falseAccepts == 0)
        #expect(unsaid.said == 0 && unsaid.hits == 0 && unsaid.falseAccepts == 1)
    }

    @Test func `a folder of models is all its words`() throws {
        let folder = try TestFolder()
        let fixtures = Checkout.path + "/Tests/WakeWordsTests/Fixtures"
        for (source, name) in [
            ("verified.tflite", "hey_house.tflite"), ("verified.onnx", "hey_house.onnx"),
            ("plain.onnx", "hey_you.onnx"),
        ] {
            try FileManager.default.copyItem(atPath: "\(fixtures)/\(source)", toPath: folder.file(name))
        }
        try Data("{}".utf8).write(to: URL(fileURLWithPath: folder.file("notes.json")))
        // A manifest that is called otherwise than its model.
        let json = try String(contentsOfFile: Checkout.path + "/Models/wake-words/alexa.json", encoding: .utf8)
        let renamed = json.replacing("alexa.tflite", with: "stream.tflite")
        try Data(renamed.utf8).write(to: URL(fileURLWithPath: folder.file("alexa.json")))
        try FileManager.default.copyItem(
            atPath: Checkout.path + "/Models/wake-words/alexa.tflite",
            toPath: folder.file("stream.tflite")
        )
        let options = ["--wake-word", folder.path, "--words", "hey house,hey you,alexa", "--word", "hey house=0.3"]
        let found = try Program.beckon(["classify", "--json"] + options + [Self.voice])
        #expect(found.status == 0 && found.error == "", "\(found.error)")
        #expect(try Result.all(in: found).first?.word == "hey house")
        let empty = try TestFolder()
        let refused = try Program.beckon(["classify", "--wake-word", empty.path, Self.voice])
        #expect(refused.status == 78 && refused.error.contains("\(empty.path): no model in this folder"))
    }

    @Test(arguments: [
        (
            ["--only-wake-words", "--words", "yes"], 2,
            "--only-wake-words chooses the words; leave --words and --phrase out"
        ),
        (["--only-wake-words"], 1, "there are no wake words; name one with --wake-word"),
        (["--trigger-level", "0"], 2, "--trigger-level"), (["--refractory", "61"], 2, "--refractory"),
        (["--custom-model-dir", "models/"], 2, "did you mean --wake-word models/?"),
        (["--refractory-seconds", "2"], 2, "did you mean --refractory 2?"),
    ])
    func `options of the server are checked`(options: [String], status: Int32, message: String) throws {
        let program = try Program.beckon(["serve", "--listen", "tcp://127.0.0.1:1"] + options)
        #expect(program.status == status && program.error.contains(message), "\(program.error)")
    }

    @Test func `nothing said is no wake word`() throws {
        let names = ["alexa", "hey_jarvis", "hey_mycroft", "okay_nabu"].flatMap { ["--wake-word", $0] }
        let program = try Program.beckon(["classify", "--json"] + names + [Voices.folder])
        #expect(program.status == 0)
        #expect(Set(try Result.all(in: program).compactMap(\.word)) == ["left", "right"])
    }

    @Test(arguments: [
        (["--wake-word", "ok_nabu"], 78, "there is no wake word “ok_nabu”; did you mean okay_nabu?"),
        (["--wake-word", "nobody"], 78, "there is no wake word “nobody”; beckon model list"),
        (
            ["--wake-word", "/dev/null.onnx.data"], 78,
            "/dev/null.onnx.data: not a wake word; name its model, a file that ends in .tflite or .onnx"
        ),
        (["--wake-word", "alexa", "--wake-word", "alexa"], 78, "there is another word “alexa”; remove one of them"),
        (["--wake-word", "alexa", "--word", "alexa=strict"], 78, "has one threshold, that of its manifest"),
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
            ("not a model", "not a TFLite file; name a model, or copy it again"),
            ("\u{8}\0\0\0TFL3", "a reference leads out of the file; copy the file again"),
        ] {
            try Data(content.utf8).write(to: URL(fileURLWithPath: folder.file("alexa.tflite")))
            let program = try Program.beckon(["classify", "--wake-word", folder.file("alexa.json"), Self.voice])
            #expect(program.status == 78 && program.error.contains("alexa.tflite: "), "\(program.error)")
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
        // One that is added under a name of the program's is used in its place, and listed alone.
        #expect(try run(["model", "add", models + "/alexa.json"]).status == 0)
        let twice = try run(["model", "list"]).output.split(separator: "\n").filter { $0.hasPrefix("alexa ") }
        #expect(twice.count == 1 && twice[0].hasSuffix("you"), "\(twice)")
        #expect(try run(["model", "remove", "alexa"]).status == 0)
        let found = try run(
            [
                "classify", "--json", "--no-confirm", "--wake-word", "hey house", "--words", "hey house", "--word",
                "hey house=0.005",
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

    @Test func `nothing that is there is overwritten, and no link is followed`() throws {
        let folder = try TestFolder()
        let environment = ["XDG_STATE_HOME": folder.path, "BECKON_WORDS": "", "STATE_DIRECTORY": ""]
        func add(_ file: String) throws -> Program {
            try Program.beckon(["model", "add", folder.file(file)], environment: environment)
        }
        let files = FileManager.default
        let models = Checkout.path + "/Models/wake-words"
        let json = try String(contentsOfFile: models + "/okay_nabu.json", encoding: .utf8)
        let kept = folder.file("beckon/wake-words")
        try files.createDirectory(atPath: folder.file("elsewhere"), withIntermediateDirectories: true)
        try files.createDirectory(atPath: kept, withIntermediateDirectories: true)
        try files.copyItem(atPath: models + "/okay_nabu.tflite", toPath: folder.file("okay_nabu.tflite"))
        func manifest(_ model: String) throws {
            let own = json.replacing("okay_nabu.tflite", with: model)
            try Data(own.utf8).write(to: URL(fileURLWithPath: folder.file("okay_nabu.json")))
        }
        // A manifest that names itself.
        for model in ["okay_nabu.json", "..", "a/b.tflite"] {
            try manifest(model)
            for file in ["okay_nabu.json", "okay_nabu.tflite"] { #expect(try add(file).status == 1, "\(model)") }
        }
        // One that names a link.
        try manifest("link.tflite")
        try files.createSymbolicLink(
            atPath: folder.file("link.tflite"),
            withDestinationPath: folder.file("okay_nabu.tflite")
        )
        #expect(try add("okay_nabu.json").error.contains("link.tflite: a link, which a manifest must not name"))
        #expect(try files.contentsOfDirectory(atPath: kept).isEmpty)
        // What has the word's name: links, a file, a folder with something in it.
        try manifest("okay_nabu.tflite")
        try Data("mine".utf8).write(to: URL(fileURLWithPath: folder.file("elsewhere/mine")))
        for target in ["elsewhere", "nowhere", "elsewhere/mine"] {
            try files.createSymbolicLink(atPath: kept + "/okay_nabu", withDestinationPath: folder.file(target))
            let program = try add("okay_nabu.json")
            #expect(
                program.status == 1 && program.error.contains("okay_nabu is there, but is no wake word's"),
                "\(program.error)"
            )
            #expect(!files.fileExists(atPath: folder.file("nowhere")))
            #expect(try files.contentsOfDirectory(atPath: folder.file("elsewhere")) == ["mine"])
            try files.removeItem(atPath: kept + "/okay_nabu")
        }
        try files.copyItem(atPath: folder.file("elsewhere"), toPath: kept + "/okay_nabu")
        #expect(try add("okay_nabu.json").status == 1)
        #expect(try files.contentsOfDirectory(atPath: kept) == ["okay_nabu"])
        try files.removeItem(atPath: kept + "/okay_nabu")
        #expect(try add("okay_nabu.json").status == 0)
        #expect(
            try files.contentsOfDirectory(atPath: kept + "/okay_nabu").sorted() == [
                "okay_nabu.json", "okay_nabu.tflite",
            ]
        )
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
