import Charts
import Core
import TestSupport
import Testing

@testable import Evaluation
@testable import Reports
@testable import Spotting

/// The page of a `StreamReport`: DET curves, errors, and which of them get pages.
struct StreamReportPageTests {
    private static let labels = Labels(["up", "stop", "computer", "_unknown_", "_silence_"])

    private static func tally(hits: [Int], said: [Int], falseAccepts: [Int]) -> StreamTally {
        var detections: [Detection] = []
        var truths: [SpokenWord] = []
        var time = 10.0
        for label in 0..<3 {
            for number in 0..<said[label] {
                truths.append(SpokenWord(label: label, start: time, end: time + 0.5))
                if number < hits[label] { detections.append(Self.word(label, time: time + 0.7)) }
                time += 10
            }
            for _ in 0..<falseAccepts[label] {
                detections.append(Self.word(label, time: time))
                time += 10
            }
        }
        return StreamTally(words: 3, detections: detections, truths: truths, seconds: 3600, tolerance: 1)
    }

    private static func word(_ label: Int, time: Double) -> Detection {
        Detection(kind: .word, index: label, confidence: 0.9, start: time, end: time, time: time)
    }

    private static func report(errors: [DetectionError] = []) -> StreamReport {
        let own = tally(hits: [8, 0, 4], said: [10, 0, 4], falseAccepts: [1, 2, 0])
        let setting = SettingReport(
            mode: "spot",
            trigger: "early",
            tally: own,
            sweep: [
                (0.5, tally(hits: [10, 0, 4], said: [10, 0, 4], falseAccepts: [20, 4, 1])), (0.9, own),
                (0.99, tally(hits: [2, 0, 1], said: [10, 0, 4], falseAccepts: [0, 0, 0])),
            ],
            sensitivities: [
                (
                    .strict, [0.99, 0.99, 0.99, nil, nil],
                    tally(hits: [2, 0, 1], said: [10, 0, 4], falseAccepts: [0, 0, 0])
                ),
                (.balanced, [0.9, 0.9, 0.9, nil, nil], own),
            ],
            labels: labels,
            taught: ["computer"],
            thresholds: [0.9, 0.9, 0.9, nil, nil],
            errors: errors
        )
        return StreamReport(tolerance: 1, seconds: 3600, wordlessSeconds: 0, files: [], settings: [setting])
    }

    private static func error(_ kind: DetectionError.Kind, _ path: String, time: Double) -> DetectionError {
        DetectionError(
            kind: kind,
            file: path,
            said: kind == .falseAccept ? nil : "up",
            start: kind == .falseAccept ? nil : time - 0.5,
            end: kind == .falseAccept ? nil : time,
            heard: kind == .miss ? nil : "stop",
            time: time,
            score: 0.5,
            threshold: 0.9,
            path: path
        )
    }

    @Test func `DET curves of the model's words and of taught words, with the operating points`() throws {
        let report = Self.report()
        let pages = ErrorPages(report, page: "report.html", limit: 100)
        let page = try Tree(StreamReportPage(report, model: "m", pages: pages) { _ in "" }.html)
        let charts = page.all("div").filter { $0.attributes["role"] == "img" }.compactMap {
            $0.attributes["aria-label"]
        }
        // All words, then up and computer; stop is never said.
        #expect(charts.count == 3)
        // Without a false accept half of one is drawn, and without a miss half a miss.
        #expect(
            charts[0].contains("the model's words, strict: 80.0 %, 0.5 per hour.")
                && charts[0].contains("the model's words, balanced: 20.0 %, 3.0 per hour.")
                && charts[0].contains("taught words, strict: 75.0 %, 0.5 per hour.")
                && charts[0].contains("taught words, balanced: 12.5 %, 0.5 per hour.")
        )
        #expect(charts[1].contains("up, balanced: 20.0 %, 1.0 per hour."))
        #expect(page.texts("strong").contains("computer (taught)"))
        #expect(page.texts("p").contains { $0.hasSuffix("so without a curve: stop.") })
        #expect(page.texts("td").contains("strict") && page.texts("td").contains("computer (own)"))
    }

    @Test func `without a false accept there is no curve but a line that says so, and the figures stand on top`() throws
    {
        let tallies = [[10, 0, 4], [8, 0, 4], [2, 0, 1]].map {
            Self.tally(hits: $0, said: [10, 0, 4], falseAccepts: [0, 0, 0])
        }
        let setting = SettingReport(
            mode: "spot",
            trigger: "early",
            tally: tallies[1],
            sweep: [(0.5, tallies[0]), (0.9, tallies[1]), (0.99, tallies[2])],
            sensitivities: [],
            labels: Self.labels,
            taught: [],
            thresholds: [0.9, 0.9, 0.9, nil, nil],
            errors: []
        )
        let report = StreamReport(tolerance: 1, seconds: 3600, wordlessSeconds: 0, files: [], settings: [setting])
        let pages = ErrorPages(report, page: "report.html", limit: 100)
        let html = StreamReportPage(report, model: "m", pages: pages) { _ in "" }.html
        let page = try Tree(html)
        #expect(page.all("polyline").isEmpty && page.all("div").count { $0.attributes["role"] == "img" } == 3)
        #expect(page.texts("span").count { $0 == "no false accept at any threshold" } == 3)
        let texts = page.texts("p")
        #expect(texts.dropFirst().first == "Mode spot: 85.7 % of 14 words were found, with 0.0 false accepts per hour.")
        let table = try #require(html.firstRange(of: "<table")?.lowerBound)
        #expect(table < (try #require(html.firstRange(of: "<figure")?.lowerBound)))
    }

    @Test func `words that were neither said nor accepted are one line, not rows`() throws {
        let silent = Self.tally(hits: [8, 0, 0], said: [10, 0, 0], falseAccepts: [1, 0, 0])
        let setting = SettingReport(
            mode: "spot",
            trigger: "early",
            tally: silent,
            sweep: [(0.9, silent)],
            sensitivities: [],
            labels: Self.labels,
            taught: ["computer"],
            thresholds: [0.9, 0.9, 0.9, nil, nil],
            errors: []
        )
        let report = StreamReport(tolerance: 1, seconds: 3600, wordlessSeconds: 0, files: [], settings: [setting])
        let pages = ErrorPages(report, page: "report.html", limit: 100)
        let page = try Tree(StreamReportPage(report, model: "m", pages: pages) { _ in "" }.html)
        #expect(page.texts("p").contains("Neither said nor detected: stop, computer."))
        #expect(!page.texts("td").contains("stop") && page.texts("td").contains("up"))
        #expect(page.texts("p").first?.hasPrefix("0 recordings, 60.0 min; a word counts") == true)
    }

    @Test func `errors close to each other share a page, and each kind gets its share of the pages`() throws {
        let errors =
            [
                Self.error(.miss, "a.wav", time: 1), Self.error(.wrongWord, "a.wav", time: 3.2),
                Self.error(.miss, "a.wav", time: 100),
            ] + (0..<10).map { Self.error(.falseAccept, "b/<b>.wav", time: 50 * Double($0 + 1)) }
        let report = Self.report(errors: errors)
        let all = ErrorPages(report, page: "/x/my report.html", limit: 100)
        #expect(all.parts.count == 12 && all.folder == "my report-errors" && all.back == "../my%20report.html")
        #expect(all.parts[0].errors.count == 2 && all.parts[0].from == 0 && abs(all.parts[0].to - 4.7) < 0.11)
        #expect(all.parts[1].from == 97 && abs(all.parts[1].to - 101.5) < 0.11)
        #expect(
            all.parts.map { $0.name ?? "" }.prefix(3) == ["001-spot-a.html", "002-spot-a.html", "003-spot-_b_.html"]
        )
        let few = ErrorPages(report, page: "r.html", limit: 3)
        #expect(few.parts.enumerated().filter { $0.element.name != nil }.map(\.offset) == [0, 1, 2])
        #expect(ErrorPages(report, page: "r.html", limit: 0).isEmpty)

        let page = try Tree(StreamReportPage(report, model: "m", pages: few) { "show \($0.path)" }.html)
        #expect(page.texts("h3").suffix(3) == ["Misses: 2", "Wrong words: 1", "False accepts: 10"])
        #expect(
            page.all("a").map { $0.attributes["href"] } == [
                "r-errors/001-spot-a.html", "r-errors/002-spot-a.html", "r-errors/001-spot-a.html",
                "r-errors/003-spot-_b_.html",
            ]
        )
        #expect(page.texts("code") == Array(repeating: "show b/<b>.wav", count: 9))
    }
}
