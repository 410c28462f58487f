import Beckon
import Foundation
import TestSupport
import Testing

/// `libbeckon.so`, as programs in C use it: `check.c` calls every function, under the address sanitizer.
struct CInterfaceTests {
    private static let header = Checkout.path + "/Sources/CLibraries/CBeckon"
    private static let library = URL(fileURLWithPath: CommandLine.arguments[0])
        .deletingLastPathComponent().appendingPathComponent("libbeckon-c.so").path

    /// Compiles a program that uses the library.
    ///
    /// - Returns: its path in the folder, where the library also lies, under the name that a package gives it.
    private static func compile(_ source: String, _ options: [String], in folder: TestFolder) throws -> String {
        let name = folder.file("libbeckon.so.0")
        if !FileManager.default.fileExists(atPath: name) {
            try FileManager.default.createSymbolicLink(atPath: name, withDestinationPath: library)
        }
        let program = folder.file("program")
        // An instrumented library needs a program with the sanitizer's runtime.
        let sanitizer = Sanitizer.isPresent ? ["-fsanitize=address"] : []
        let compiled = try command(
            ["clang", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", header] + options + sanitizer
                + [Checkout.path + "/" + source, name, "-o", program, "-lpthread", "-Wl,-rpath," + folder.path]
        )
        #expect(compiled.status == 0, "\(compiled.error)")
        return program
    }

    private static func command(_ arguments: [String]) throws -> Program {
        try Program.run(URL(fileURLWithPath: "/usr/bin/env"), arguments)
    }

    /// A detection as `check.c` prints it, to the last bit.
    private static func line(_ way: String, _ found: Detection) -> String {
        let numbers = [
            found.confidence, found.proposed ?? .nan, found.confirmed ?? .nan, found.start, found.end,
        ]
        return ([way, found.word] + numbers.map { String(format: "%a", $0) }).joined(separator: " ")
    }

    @Test func `a program in C finds what the library in Swift finds, to the bit, without an error of memory`() throws {
        let folder = try TestFolder()
        let program = try Self.compile(
            "Tests/CInterfaceTests/check.c",
            ["-std=gnu99", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
            in: folder
        )
        let words = folder.file("words")
        let taught = try Program.beckon(
            ["enroll", "middle", "--force", "--words", words, "--from", Voices.path("Rear_Center")]
        )
        #expect(taught.status == 0, "\(taught.error)")
        var settings = Spotter.Settings()
        settings.taughtWords = words
        settings.thresholds = ["left": 0.5]
        let spotter = try Spotter(model: Checkout.model, settings: settings)
        for name in ["Front_Left", "Rear_Center"] {
            let samples = try Voices.samples(name)
            try folder.write("samples", bytes: samples.withUnsafeBytes { Array($0) })
            let expected = try spotter.detections(inFile: Voices.path(name))
            #expect(expected.count == 1)
            let result = try Self.command([
                program, Checkout.model, words, Voices.path(name), folder.file("samples"), String(Voices.rate),
            ])
            #expect(result.status == 0, "\(result.error)")
            let ways = [
                "file", "file-threads", "stream-441", "stream-all", "stream-int16", "frames-16", "frames-32",
                "frames-64",
                "files", "files-1", "old-header", "only", "stream-closed", "file-closed",
            ]
            let version = try Program.beckon(["--version"]).output.split(separator: " ").last
            #expect(
                result.lines.map(String.init)
                    == ["version \(version?.dropLast() ?? "")"] + spotter.words.map { "word \($0)" }
                    + ways.flatMap { way in expected.map { Self.line(way, $0) } }
            )
        }
    }

    @Test func `the example in C prints the words that classify prints`() throws {
        struct Event: Decodable { let word: String, start: Double, end: Double }
        let folder = try TestFolder()
        let program = try Self.compile("Examples/C/spot.c", ["-std=c99"], in: folder)
        for name in ["Side_Left", "Rear_Right"] {
            let expected = try Program.beckon(["classify", "--json", Voices.path(name)]).lines.map {
                let event = try JSONDecoder().decode(Event.self, from: Data($0.utf8))
                return String(format: "%.3f s\t%.3f s\t", event.start, event.end) + event.word
            }
            let result = try Self.command([program, Checkout.model, Voices.path(name)])
            #expect(result.status == 0 && result.error == "" && expected.count == 1)
            #expect(result.lines.map(String.init) == expected)
        }
        let none = try Self.command([program, "/nowhere"])
        #expect(none.status == 1 && none.error.hasPrefix("spot: ") && none.error.contains("/nowhere"))
    }

    @Test func `a child finds words after a fork, whatever its parent does, and no thread outlives a call`() throws {
        let folder = try TestFolder()
        let program = try Self.compile("Tests/CInterfaceTests/fork.c", ["-std=gnu11"], in: folder)
        let result = try Self.command([program, Checkout.model, Voices.path("Front_Left")])
        let lines = ["before 0", "after 0"] + Array(repeating: "during 0", count: 8) + ["threads 1"]
        #expect(result.status == 0 && result.lines.map(String.init) == lines, "\(result.output)\(result.error)")
    }

    @Test func `the header is one of C++ too`() throws {
        let folder = try TestFolder()
        let source = "#include <beckon.h>\nint main() { return (int)beckon_default_settings().size; }\n"
        try folder.write("main.cpp", bytes: Array(source.utf8))
        let result = try Self.command([
            "clang", "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I", Self.header,
            folder.file("main.cpp"),
        ])
        #expect(result.status == 0, "\(result.error)")
    }

    @Test func `the library exports the functions of its header, with a version, and nothing else`() throws {
        let declared = try String(contentsOfFile: Self.header + "/beckon.h", encoding: .utf8)
            .matches(of: /(?m)^[a-z].*?\b(beckon_\w+)\(/).map { String($0.output.1) }
            .filter { $0 != "beckon_default_settings" }
        let symbols = try Self.command(["readelf", "--wide", "--dyn-syms", Self.library])
        #expect(symbols.status == 0, "\(symbols.error)")
        // Number, value, size, type, binding, visibility, section, name.
        let exported = symbols.lines.compactMap { line -> String? in
            let columns = line.split(separator: " ").map(String.init)
            guard columns.count >= 8, columns[0] != "Num:", columns[4] != "LOCAL", columns[6] != "UND" else {
                return nil
            }
            return columns[7].hasPrefix("BECKON_") ? nil : columns[7]
        }
        // The first fifteen are those of interface 1.
        let second: Set = [
            "find_files", "interface", "label", "label_count", "lesson_free", "lesson_rates", "lesson_spotter",
            "lesson_takes", "lesson_text", "lesson_used", "phrase", "stream_hops", "stream_keep", "stream_push_frames",
            "stream_scores", "teach",
        ]
        #expect(declared.count == 15 + second.count)
        let expected = declared.map { "\($0)@@BECKON_\(second.contains(String($0.dropFirst(7))) ? 1 : 0)" }
        #expect(exported.sorted() == expected.sorted())
    }
}
