import Testing

@testable import Enrollment

struct EnrollmentSessionTests {
    @Test func `a take of another word is an outlier, whichever it is`() throws {
        let same = try RecordedTakes.variants("Rear_Center", 4)
        let other = try RecordedTakes.utterance("Front_Right")
        for place in 0...same.count {
            var all = same
            all.insert(other, at: place)
            var session = try EnrollmentSession(
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
}
