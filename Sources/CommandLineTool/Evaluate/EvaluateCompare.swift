import Core
import Evaluation
private import JSON
import Reports
private import System

/// `beckon evaluate --compare FIRST SECOND`: which of two evaluations of the same clips is better.
struct EvaluateCompare {
    private let first: String
    private let second: String
    private let isJSON: Bool

    init(_ arguments: Arguments) throws(UsageError) {
        guard arguments.operands.count == 2 else {
            throw UsageError("--compare takes two files of beckon evaluate --json DIR")
        }
        let others = Self.declaration.map(\.name).filter { $0 != "--compare" && $0 != "--json" && arguments.has($0) }
        if let other = others.first { throw UsageError("\(other) does not go with --compare, which measures nothing") }
        (first, second) = (arguments.operands[0], arguments.operands[1])
        isJSON = arguments.has("--json")
    }

    private static var declaration: [Option] { Evaluate.declaration.options }

    /// Compares and prints. Returns the exit status.
    func run() throws -> Int32 {
        let runs = (try Self.read(first), try Self.read(second))
        guard let comparison = RunComparison(runs.0, runs.1) else {
            throw Failure(
                "\(printable(first)) and \(printable(second)) have no clip in common, so there is nothing to compare"
            )
        }
        if isJSON {
            Output.write(try encodedJSON(comparison))
            return 0
        }
        let table = TextTable(comparison)
        let head = "first   \(printable(first))\nsecond  \(printable(second))\n\n"
        Output.writeText(head + (Terminal.outputRoom.map { table.text(columns: $0) } ?? table.text) + notes(comparison))
        return 0
    }

    private func notes(_ comparison: RunComparison) -> String {
        let groups =
            comparison.hasSpeakers
            ? "\(comparison.groups) speakers" : "\(comparison.groups) clips, as no speaker is known"
        var notes = [
            "P: McNemar's exact test, two-sided. Of \(comparison.words.count + 1) rows one in twenty has a P below 0.05 by chance.",
            "95 %: 2000 draws of \(groups).",
        ]
        if comparison.onlyInFirst + comparison.onlyInSecond > 0 {
            notes.append(
                "Left out: \(counted(comparison.onlyInFirst, "clip")) of the first alone, \(comparison.onlyInSecond) of the second alone."
            )
        }
        return "\n" + notes.map { $0 + "\n" }.joined()
    }

    private struct Report: Decodable { let results: [ClipResult] }

    private static func read(_ path: String) throws(Failure) -> [ClipResult] {
        let name = printable(path)
        let advice = "give --compare two files of beckon evaluate --json DIR"
        let bytes: [UInt8]
        do throws(ReadFileError) {
            bytes = try readFile(path, limit: 256 << 20).bytes
        } catch {
            throw Failure("\(name): cannot be read; \(advice)")
        }
        do {
            return try Report(json: bytes).results
        } catch {
            throw Failure("\(name): no report with the results of clips; \(advice)")
        }
    }
}
