import Core
import Testing

struct SecondsTextTests {
    static let table: [(String, Double?)] = [
        ("5", 5), ("0.5", 0.5), (".5", 0.5), ("-3", -3), ("5s", 5), ("5 s", 5), ("2.5S", 2.5), ("500ms", 0.5),
        ("2min", 120), ("2 minutes", 120), ("1m30s", 90), ("1 h 5 min", 3900), ("1h", 3600), ("1.5m", 90),
        ("1:00", 60), ("0:01.25", 1.25), ("12:34", 754), ("90:00", 5400), ("1:02:03.5", 3723.5), ("00:00:07", 7),
        ("", nil), ("s", nil), ("5x", nil), ("5s5", nil), ("5s 1m", nil), ("5s5s", nil), ("1,5s", nil), ("5 5", nil),
        ("1:0", nil), ("1:60", nil), ("1:000", nil), (":30", nil), ("1:", nil), ("1:2:3:4", nil), ("-1:00", nil),
        ("1:00.5:00", nil), ("1:+5", nil), ("1:-5", nil), ("0x5s", nil), ("nan", nil), ("inf", nil), ("nans", nil),
        ("٣s", nil), ("1:٣٠", nil), ("99999999999999999999:00", nil), ("1 : 00", nil),
    ]

    @Test(arguments: table)
    func `times with units and positions, and nothing else`(_ row: (text: String, seconds: Double?)) {
        let seconds = SecondsText.seconds(row.text)
        #expect((seconds == nil) == (row.seconds == nil), "\(row.text): \(String(describing: seconds))")
        if let seconds, let wanted = row.seconds { #expect(abs(seconds - wanted) < 1e-9, "\(row.text): \(seconds)") }
    }

    @Test func `any duration that is shown to people is read again`() {
        for seconds in [0.0, 12, 185, 7500, 3600] where seconds < 86_400 {
            #expect(SecondsText.seconds(durationText(seconds)).map { $0 <= seconds && $0 > seconds - 60 } == true)
        }
        for seconds in [0.25, 61.5, 3723.45] { #expect(SecondsText.seconds(positionText(seconds)) == seconds) }
    }

    @Test func `one thing has no plural`() {
        let table: [(String, String)] = [
            (counted(0, "word"), "0 words"), (counted(1, "word"), "1 word"), (counted(2, "word"), "2 words"),
            (counted(1, "match", "matches"), "1 match"), (counted(3, "match", "matches"), "3 matches"),
        ]
        for (text, wanted) in table { #expect(text == wanted) }
    }
}
