import Core
import Foundation
import JSON
import Spotting
import Testing

@testable import Configuration

/// The installed sample configuration documents every key, and shows its default.
struct SampleTests {
    static let words = ["yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go"]
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/../.."
    static let path = root + "/config/config.json5"

    private static func text() throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
    }

    /// The sample with its commented-out examples enabled.
    private static func withExamples() throws -> String {
        try text().replacing(/(?m)^( *)\/\/(?=[^ \n])/) { $0.output.1 }
    }

    @Test func `the sample configuration has the default values`() throws {
        let file = try ParsedConfiguration(path: Self.path).validated(by: KnownWords(Self.words))
        #expect(file.configuration == Configuration())
        #expect(file.warnings == [])
    }

    @Test func `the sample shows every key there is, each with a sound value`() throws {
        let text = try Self.withExamples()
        let file = try ParsedConfiguration(text: text, file: "sample").validated(by: KnownWords(Self.words))
        #expect(file.configuration.words["yes"]?.threshold == 0.7)
        #expect(file.configuration.phrases.first?.phrase == "go left")
        #expect(file.configuration.actions.count == 5 && file.configuration.webhookHosts == ["homeassistant.lan"])
        #expect(SettingKind.configuration.keys.count > 50)
        #expect(
            Self.simple(Self.keys(in: try JSONNode.parse(text, .json5))) == Self.simple(SettingKind.configuration.keys)
        )
    }

    @Test func `the manual page explains every key there is`() throws {
        let page = String(
            decoding: try Data(contentsOf: URL(fileURLWithPath: Self.root + "/man/beckon.conf.5")),
            as: UTF8.self
        )
        let explained = page.matches(of: /\n\.It Va (\S+)/).map { "." + $0.1 }
        #expect(Set(explained).count == explained.count)
        #expect(Set(explained) == Self.simple(SettingKind.configuration.keys))
    }

    /// The keys without duplicates of action keys, which are the same in every place.
    private static func simple(_ keys: some Sequence<String>) -> Set<String> {
        Set(keys.map { $0.replacing(/.*\.(actions|on[A-Z]\w+)\[\]/) { _ in ".actions[]" } })
    }

    /// Key paths in the form of the settings: `.words.*.threshold`.
    private static func keys(in node: JSONNode, under path: String = "") -> Set<String> {
        switch node.value {
        case .object(let members):
            members.reduce(into: []) { keys, member in
                let own = path == ".words" ? path + ".*" : "\(path).\(member.name)"
                if path != ".words" { keys.insert(own) }
                keys.formUnion(Self.keys(in: member.node, under: own))
            }
        case .array(let elements):
            elements.reduce(into: []) { $0.formUnion(Self.keys(in: $1, under: path + "[]")) }
        default: []
        }
    }

    @Test func `config show prints a configuration that reads back the same`() throws {
        let file = try ParsedConfiguration(text: try Self.withExamples(), file: "sample").validated(
            by: KnownWords(Self.words)
        )
        let shown = file.configuration.json.description
        #expect(try JSONSerialization.jsonObject(with: Data(shown.utf8)) is [String: Any])
        let again = try ParsedConfiguration(text: shown, file: "shown").validated(by: KnownWords(Self.words))
        #expect(again.configuration == file.configuration)
        #expect(file.configuration != Configuration())
    }
}
