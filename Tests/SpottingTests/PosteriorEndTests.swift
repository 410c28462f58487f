import Core
import Testing

@testable import Spotting

/// What is pending where the audio ends is decided, and counts as any other word: for phrases and for sessions.
struct PosteriorEndTests {
    private static func events(_ said: String, phrases: [String] = [], sessions: [WakeSession] = []) throws -> [String]
    {
        var settings = GateSettings()
        settings.smoothing = 1
        settings.trigger = .end
        let words = ScoreTrace.labels
        let phrases = try phrases.map { try Phrase($0, words: words) }
        var handler = ScoreTrace.handler(settings, phrases: phrases, sessions: sessions)
        var events: [String] = []
        func report(_ detection: Detection) { events.append("\(detection.kind.key) \(detection.index)") }
        let hops = ScoreTrace(said).hops
        for hop in hops { handler.process(HopScores(posteriors: hop.scores), activity: hop.activity, report: report) }
        let last = try #require(hops.last)
        handler.finish(activity: last.activity, report: report)
        // Once.
        handler.finish(activity: last.activity, report: report)
        return events
    }

    @Test func `the last word of a phrase completes it`() throws {
        let events = try Self.events("..LLLL..RRRR", phrases: ["left right"])
        #expect(events == ["word 2", "phrase-partial 0", "word 3", "phrase 0"])
    }

    @Test func `the last word of a session ends it`() throws {
        let session = WakeSession(
            name: "up",
            wake: 0,
            words: [1],
            thresholds: [0.8],
            seconds: 3,
            endsWithWord: true,
            mode: .spot
        )
        let events = try Self.events("..UUUU..SSSS", sessions: [session])
        #expect(events == ["word 0", "session-start 0", "word 1", "session-end 0"])
        #expect(try Self.events("..SSSS", sessions: [session]) == [])
    }
}
