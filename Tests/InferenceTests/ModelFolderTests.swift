import Foundation
import Inference
import TestSupport
import Testing

struct ModelFolderTests {
    @Test(arguments: [nil, "commands", "flatspeech"])
    func `a name is a model that comes with the program`(name: String?) throws {
        let found = try #require(ModelFolder.find(name))
        let expected = Folders.models.appendingPathComponent(name ?? "commands").path
        #expect(URL(fileURLWithPath: found).standardizedFileURL.path == expected)
    }

    @Test(arguments: ["no-such-model", "Models/commands", "./commands", "/nowhere"])
    func `a path, and a name that no model has, are returned as they are`(name: String) {
        #expect(ModelFolder.find(name) == name)
    }

    @Test func `the names are those of the models that come with the program`() throws {
        #expect(ModelFolder.names == ["commands", "flatspeech"])
        for name in ModelFolder.names { #expect(ModelFolder.problem(try #require(ModelFolder.find(name))) == nil) }
    }

    @Test(arguments: [
        ("comands", "no model comands came with the program; did you mean commands?"),
        ("flat-speech", "no model flat-speech came with the program; did you mean flatspeech?"),
        (
            "voices",
            "no model voices came with the program; there is commands, flatspeech; a folder needs a slash, as in ./voices"
        ),
        ("/etc/passwd", "/etc/passwd is a file; name the folder of the model, which holds model.json"),
        (
            "/etc",
            "/etc is no model, as it holds no model.json; name the folder of one, or a model that came with the program: "
                + "commands, flatspeech"
        ),
        // The model's reader says what is missing there.
        ("/nowhere", nil), ("./comands", nil),
    ])
    func `a name that no model has is explained`(name: String, problem: String?) {
        #expect(ModelFolder.problem(name) == problem)
    }
}
