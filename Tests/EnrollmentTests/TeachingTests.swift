import Testing

@testable import Enrollment

struct TeachingTests {
    @Test func `a take of another word is an outlier, whichever it is`() throws {
        let same = try RecordedTakes.variants("Rear_Center", 4)
        let other = try RecordedTakes.utterance("Front_Right")
        for place in 0...same.count {
            var all = same
            all.insert(other, at: place)
            var session = try Teaching(
                "center",
                existing: nil,
                model: try RecordedTakes.model(),
                keepsAudio: false
            )
            for utterance in all { #expect(session.add(utterance) == nil) }
            let removed = session.removeOutliers()
            #expect(removed.map(\.index) == [place] && session.takes.count == 4)
            #expect(!session.takes.contains { !$0.audio.isEmpty })
            #expect(session.removeOutliers().count == 0)
        }
    }

    @Test func `takes are added to those that another program has stored in the meantime`() throws {
        let variants = try RecordedTakes.variants("Rear_Center", 4)
        var stored = try RecordedTakes.word("center", Array(variants[..<2]))
        stored.takes += try RecordedTakes.word("other", [try RecordedTakes.utterance("Front_Right")]).takes
        let outlier = stored.takes[2]
        var session = try Teaching(
            "center",
            existing: stored,
            model: try RecordedTakes.model(),
            keepsAudio: true
        )
        #expect(session.add(variants[2]) == nil)
        // The same recording again is not a take more, whether it was stored or is new.
        #expect(session.add(variants[0]) == .copy(ofTake: 1) && session.add(variants[2]) == .copy(ofTake: 4))
        #expect(session.add(try RecordedTakes.variants("Rear_Center", 5)[4]) == nil)
        #expect(session.removeOutliers().map(\.index) == [2])
        let changes = session.changes
        #expect(changes.removed == [outlier] && changes.added.count == 2 && changes.added[0] != changes.added[1])
        let meanwhile = try RecordedTakes.word("center", [variants[3]]).takes
        #expect(changes.applied(to: stored.takes + meanwhile) == stored.takes[..<2] + meanwhile + changes.added)
        #expect(changes.applied(to: []) == changes.added)
        // A take of this session can be taken back, a stored one cannot.
        #expect(session.removeLast() && session.removeLast() && !session.removeLast())
        #expect(session.takes == stored.takes.dropLast())
    }
}
