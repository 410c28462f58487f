import Foundation
import TestSupport
import Testing

@testable import CommandLineTool

/// Options are looked up by name, so a misspelt name would silently find nothing: every name that the sources ask for is declared.
struct OptionLookupTests {
    private static let folder = Checkout.path + "/Sources/CommandLineTool/"

    private static func sources() throws -> [(path: String, text: String)] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".swift") }.map { path in
            (path, String(decoding: try Data(contentsOf: URL(fileURLWithPath: folder + path)), as: UTF8.self))
        }
    }

    /// The options of the command whose sources are in a folder; those of all commands for what they share.
    private static func declared(in folder: String) -> Set<String> {
        var own: [Option] = []
        for command in CommandLineTool.commands {
            let name = "\(command)"
            if [folder, folder + "Command", folder + "Verb"].contains(name) { own += command.declaration.options }
        }
        let options = own.isEmpty ? CommandLineTool.declarations.flatMap { $0.options } : own
        return Set(options.map(\.name))
    }

    @Test func `a command asks only for options that it declares`() throws {
        var count = 0
        for (path, text) in try Self.sources() {
            let known = Self.declared(in: path.split(separator: "/").first.map(String.init) ?? "")
            let asked = /arguments\.(?:has|value|all|whole|number|choice|list|operands)\((?:before: )?"([^"]*)"/
            for match in text.matches(of: asked) {
                count += 1
                #expect(known.contains(String(match.1)), "\(path): \(match.1)")
            }
        }
        #expect(count > 80)
    }

    @Test func `every name of an option in a list is that of some command`() throws {
        let options = CommandLineTool.declarations.flatMap(\.options)
        // The names that other programs give an option lead to it in a message.
        let known = Set(options.flatMap { [$0.name] + $0.foreignNames } + ["--version"])
        for (path, text) in try Self.sources() where !path.hasPrefix("Completions/") {
            for match in text.matches(of: /"(--[a-z][a-z-]*)"/) {
                #expect(known.contains(String(match.1)), "\(path): \(match.1)")
            }
        }
    }
}
