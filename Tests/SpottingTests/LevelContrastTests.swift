import Foundation
import Testing

@testable import Spotting

struct LevelContrastTests {
    /// 100 ms of a square wave at a level in dB FS.
    static func hop(decibels: Float) -> [Float] {
        let value = powf(10, decibels / 20)
        return (0..<1600).map { $0 % 8 < 4 ? value : -value }
    }

    struct Row: Sendable {
        let situation: String
        /// A digit each 100 ms, in steps of 6 dB, after two seconds of `background`.
        var background = "3"
        let levels: String
        var rule = LevelContrast.Rule.taughtWord
        /// Seconds of quiet before the sound, from its beginning to now, and since its end.
        let expected: [Double]
    }

    static let rows = [
        Row(situation: "a word in noise", levels: "333336666633", expected: [1.7, 0.7, 0.2]),
        Row(situation: "with a pause of 100 ms", levels: "33336663666333", expected: [1.4, 1.0, 0.3]),
        Row(situation: "a pause of 400 ms divides it", levels: "33336633336633", expected: [0.4, 0.4, 0.2]),
        Row(
            situation: "its softer end belongs to it down to 9 dB",
            levels: "33336665533333",
            expected: [1.4, 1.0, 0.5]
        ),
        Row(situation: "steady noise is one long sound", levels: "33333333", expected: [0, 2.4, 0]),
        Row(
            situation: "quiet before and after, not noise",
            background: "0",
            levels: "00006666600",
            expected: [0, 0, 0]
        ),
        Row(
            situation: "the same for a word that networks confirm",
            background: "0",
            levels: "00006666600",
            rule: .confirmedWord,
            expected: [1.7, 0.7, 0.2]
        ),
        Row(
            situation: "beside talk that is 12 dB softer, with pauses",
            background: "3",
            levels: "0334403306666330",
            rule: .confirmedWord,
            expected: [1.7, 0.7, 0.3]
        ),
    ]

    @Test func `what stands out, in seconds`() {
        for row in Self.rows {
            var history = LevelHistory()
            for digit in String(repeating: row.background, count: 20) + row.levels {
                history.add(Self.hop(decibels: 6 * Float(digit.wholeNumberValue ?? 0) - 60).span)
            }
            let found = history.contrast(row.rule)
            for (value, expected) in zip([found.quietBefore, found.seconds, found.quietAfter], row.expected) {
                #expect(
                    abs(value - expected) < 0.08,
                    "\(row.situation): \(found.quietBefore), \(found.seconds), \(found.quietAfter)"
                )
            }
        }
    }

    @Test func `nothing before 2.4 s, after a flush, or of samples that are no numbers`() {
        var history = LevelHistory()
        for _ in 0..<23 { history.add(Self.hop(decibels: -30).span) }
        #expect(history.contrast(.taughtWord) == LevelContrast())
        history.add(Self.hop(decibels: -30).span)
        #expect(history.contrast(.taughtWord) != LevelContrast())
        history.add([Float](repeating: .nan, count: 1600).span)
        _ = history.contrast(.taughtWord)
        history.flush()
        #expect(history.contrast(.taughtWord) == LevelContrast())
    }
}
