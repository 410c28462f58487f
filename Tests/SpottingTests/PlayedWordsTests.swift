import Core
import Testing

@testable import Spotting

/// Words that a loudspeaker said, beside what the microphone hears.
struct PlayedWordsTests {
    /// A handler in which the first word starts a session with the second one, and both are a phrase.
    private static func handler() throws -> PosteriorHandler {
        let words = ScoreTrace.words
        let session = WakeSession(
            name: words[0],
            wake: 0,
            words: [1],
            thresholds: [0.5],
            seconds: 5,
            endsWithWord: true,
            mode: .spot
        )
        let phrase = try Phrase("\(words[0]) \(words[1])", words: words)
        var handler = ScoreTrace.handler(GateSettings(), phrases: [phrase], sessions: [session])
        handler.played = PlayedTimes(labels: ScoreTrace.labels.count)
        return handler
    }

    private static func word(_ label: Int, from start: Double) -> Detection {
        Detection(kind: .word, index: label, confidence: 0.9, start: start, end: start + 0.4, time: start + 0.5)
    }

    @Test func `a word is marked if it was played at most half a second before it`() throws {
        for (played, isOwn) in [(2.0, true), (2.4, true), (1.5, true), (1.4, false), (0, false)] {
            var times = PlayedTimes(labels: 3)
            times.note(1, at: played)
            times.note(7, at: 2)
            #expect(times.marking(Self.word(1, from: 2)).isOwnSpeech == isOwn, "\(played)")
            for other in [0, 7] { #expect(!times.marking(Self.word(other, from: 2)).isOwnSpeech) }
        }
        var none = PlayedTimes()
        none.note(0, at: 2)
        #expect(!none.marking(Self.word(0, from: 2)).isOwnSpeech)
    }

    @Test func `a wake word that is played begins no session, and a phrase is marked by any of its words`() throws {
        // Which of two words are played; and what is reported.
        for (own, expected) in [
            ([], ["word", "session-start", "word", "phrase", "session-end"]),
            ([0], ["word own", "word", "phrase own"]),
            ([1], ["word", "session-start", "word own", "phrase own"]),
            ([0, 1], ["word own", "word own", "phrase own"]),
        ] as [([Int], [String])] {
            var handler = try Self.handler()
            var lines: [String] = []
            for label in 0...1 {
                let start = 1 + 0.7 * Double(label)
                if own.contains(label) { handler.played.note(label, at: start + 0.4) }
                handler.add(Self.word(label, from: start)) { found in
                    guard found.kind != .phrasePartial else { return }
                    lines.append(found.kind.key + (found.isOwnSpeech ? " own" : ""))
                }
            }
            #expect(lines == expected, "\(own)")
        }
    }
}
