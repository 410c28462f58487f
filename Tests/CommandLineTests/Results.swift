import Foundation
import TestSupport

/// One object of `classify --json`, as a user's own program would read it.
struct Result: Decodable, Equatable {
    var file: String
    var event: String?
    var word: String?
    var phrase: String?
    var label: String?
    var confidence: Double
    var start: Double?
    var end: Double?
    var time: Double?
    var proposed: Double?
    var scores: [String: Double]?

    static func all(in program: Program) throws -> [Result] {
        try program.lines.map { try JSONDecoder().decode(Result.self, from: Data($0.utf8)) }
    }
}
