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
}
