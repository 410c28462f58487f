import Foundation
import TestSupport
import Testing

@testable import CommandLineTool

/// The manual page explains every command and every option, and no others.
struct ManualTests {
    private static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/../../man/beckon.1"

    private static func text() throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: page)), as: UTF8.self)
    }

    @Test func `the option lists are those of the commands' declarations`() throws {
        let text = try Self.text()
        #expect(try ManualLists(CommandLineTool.declarations).renew(text) == text, "make generate renews them")
        #expect(try Program.beckon(["generate", "manual", Self.page]).output == text)
    }

    @Test func `the manual page has every option list`() throws {
        let lists = try Self.text().matches(of: /\n\.\\" Generated: (.*)/).map { String($0.1) }
        #expect(
            lists
                == ManualLists(CommandLineTool.declarations).names.sorted { left, right in
                    (lists.firstIndex(of: left) ?? .max) < (lists.firstIndex(of: right) ?? .max)
                }
        )
    }

    @Test func `source lines fit 80 columns`() throws {
        for line in try Self.text().split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
    }

    @Test(arguments: [
        ".\\\" Generated: options of nothing\n.\\\" End\n", ".\\\" Generated: options listen\n.Bl -tag -width Ds\n",
    ])
    func `a comment that names no list, or has no end, is an error`(page: String) {
        #expect(throws: Failure.self) { try ManualLists(CommandLineTool.declarations).renew(page) }
    }

    @Test func `the page explains every option where it belongs`() throws {
        let page = try Self.text()
        /// The options that a part of the page explains, with their letters.
        func explained(_ title: String) -> Set<String> {
            guard let start = page.range(of: title)?.upperBound else { return [] }
            let part = page[start...]
            let end = part.firstRange(of: /\n\.S[hs]\s/)?.lowerBound ?? part.endIndex
            return Set(part[..<end].matches(of: /\.It Fl (?:(\w) , Fl )?-([a-z-]+)/).map { "\($0.1 ?? "") --\($0.2)" })
        }
        let shared = explained(".Sh OPTIONS FOR LISTENING\n")
        #expect(shared.count == 8)
        for command in CommandLineTool.declarations {
            let own = explained(".Ss beckon \(command.title)\n")
            let known = Set(command.options.map { "\($0.short?.dropFirst() ?? "") \($0.name)" })
            #expect(own.isSubset(of: known), "\(command.title): \(own.subtracting(known))")
            let missing = known.subtracting(own).subtracting(shared)
            #expect(missing.isEmpty, "\(command.title): \(missing)")
        }
    }
}
