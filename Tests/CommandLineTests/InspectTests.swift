import CSndFile
import Foundation
import TestSupport
import Testing

@testable import CommandLineTool

/// `beckon inspect` run as a user would: the page, the JSON, and errors.
struct InspectTests {
    private static let voice = Voices.path("Side_Left")

    /// The part of `inspect --json` that the tests look at.
    struct Report: Decodable {
        let heardChannels: [Int]
        struct Finding: Decodable {
            let kind: String
            let serious: Bool
        }
        struct Hop: Decodable {
            let time: Double
            let state: String
            let scores: [Double]
        }
        struct Signal: Decodable {
            let peak: Double
            let clippedShare: Double
            let offset: Double
            let highestHertz: Double?
            let humHertz: Double?
        }
        struct Clip: Decodable {
            let label: String
            let scores: [String: Double]
        }
        let sampleRate: Int
        let from: Double
        let to: Double
        let signal: Signal
        let findings: [Finding]
        let labels: [String]
        let thresholds: [String: Double]
        let events: [Result.Event]
        let clip: Clip?
        let hops: [Hop]
        let note: String?
    }

    private func report(_ arguments: [String]) throws -> Report {
        let program = try Program.beckon(["inspect", "--json"] + arguments)
        #expect(program.status == 0 && program.lines.count == 1, "\(program.error)")
        return try JSONDecoder().decode(Report.self, from: Data(program.output.utf8))
    }

    @Test func `the words are those of classify, to the digit`() throws {
        for name in ["Side_Left", "Rear_Right", "Front_Center", "Noise"] {
            for options in [[], ["--trigger", "end"], ["--mode", "command", "--threshold", "0.5"]] {
                let classified = try Result.all(
                    in: Program.beckon(["classify", "--json", Voices.path(name)] + options)
                )
                let inspected = try report([Voices.path(name)] + options)
                #expect(inspected.events == classified.map(Result.Event.init), "\(name) \(options)")
            }
        }
    }

    @Test func `hops, states and scores`() throws {
        let report = try report([Self.voice])
        #expect(report.sampleRate == 48_000 && report.labels.count == 12 && report.thresholds.count == 10)
        // 1.41 s are 15 hops; ten hops of silence follow.
        #expect(report.hops.count == 25 && report.hops[0].time == 0.1 && report.hops[24].time == 2.5)
        for hop in report.hops {
            let sum = hop.scores.reduce(0, +)
            #expect(abs(sum - 1) < 0.001)
        }
        let event = try #require(report.events.first)
        let firing = report.hops.filter { $0.state == "firing" }
        #expect(firing.map(\.time) == [event.time])
        let left = try #require(report.labels.firstIndex(of: "left"))
        let proposed = try #require(event.proposed)
        #expect(abs(firing[0].scores[left] - proposed) < 0.0002)
        let after = report.hops.first { $0.time > event.time }
        #expect(after?.state == "refractory" && report.hops[0].state != "refractory")
    }

    @Test func `a section of a file has the same content as the whole file there`() throws {
        let folder = try TestFolder()
        let audio =
            try Voices.samples("Side_Left") + [Float](repeating: 0, count: 24_000) + Voices.samples("Rear_Right")
        let path = try folder.write("two.wav", format: SF_FORMAT_WAV | SF_FORMAT_PCM_16, rate: 48_000, audio)
        let whole = try report([path])
        #expect(whole.events.map(\.word) == ["left", "right"])
        let part = try report([path, "--from", "1.91", "--to", "3.3"])
        #expect(part.from == 1.9 && abs(part.to - 3.3) < 1e-6 && part.hops.count == 14)
        #expect(part.events == whole.events.filter { $0.time > 1.95 && $0.time < 3.35 })
        for (one, other) in zip(part.hops, whole.hops.dropFirst(19)) {
            #expect(one.time == other.time && one.scores == other.scores)
        }
    }

    @Test func `findings on made recordings`() throws {
        let folder = try TestFolder()
        let voice = try Voices.samples("Side_Left")
        let table: [(String, [Float])] = [
            ("clipped", voice.map { min(max($0 * 12, -1), 1) }),
            ("dc-offset", voice.map { $0 * 0.5 + 0.05 }),
            ("too-quiet", voice.map { $0 * 0.01 }),
            ("hum", voice.indices.map { voice[$0] + 0.05 * Float(sin(2 * Double.pi * 50 * Double($0) / 48_000)) }),
            ("digital-silence", voice.map { _ in 0 }),
        ]
        for (kind, samples) in table {
            let path = try folder.write("\(kind).wav", format: SF_FORMAT_WAV | SF_FORMAT_FLOAT, rate: 48_000, samples)
            let report = try report([path])
            #expect(report.findings.contains { $0.kind == kind }, "\(kind): \(report.findings)")
            #expect((kind == "hum") == (report.signal.humHertz == 50))
            #expect((kind == "clipped") == (report.signal.clippedShare > 0.001))
            #expect((kind == "dc-offset") == (abs(report.signal.offset - 0.05) < 0.002))
        }
        #expect(try report([Self.voice]).findings.allSatisfy { !$0.serious })
    }

    @Test func `one channel of two`() throws {
        let folder = try TestFolder()
        let voice = try Voices.samples("Side_Left")
        let path = try folder.write(
            "two.wav",
            format: SF_FORMAT_WAV | SF_FORMAT_FLOAT,
            rate: 48_000,
            channels: 2,
            voice.flatMap { [1, $0] }
        )
        #expect(try report([path, "--channel", "1"]).signal.offset < 0.01)
        #expect(try report([path, "--channel", "0"]).signal.offset == 1)
        #expect(try report([path, "--channel", "1,0"]).heardChannels == [0, 1])
        #expect(try report([path, "--channel", "1"]).heardChannels == [1])
        // The worst channel counts.
        #expect(try report([path]).signal.offset == 1)
    }

    @Test func `the page is well-formed, complete, and needs nothing else`() throws {
        let folder = try TestFolder()
        let name = "a<b>&\"'\u{1}.wav"
        try FileManager.default.copyItem(atPath: Self.voice, toPath: folder.file(name))
        let program = try Program.beckon(["inspect", folder.file(name), "-o", folder.file("report.html")])
        #expect(program.status == 0 && program.output == folder.file("report.html") + "\n" && program.error == "")
        let html = String(decoding: try folder.bytes("report.html"), as: UTF8.self)
        let page = try Tree(html)
        #expect(page.texts("h1") == ["What the model sees: a<b>&\"'\u{FFFD}.wav"])
        // Waveform, features, twelve classes and the gate; each class that stays quiet is folded.
        #expect(page.all("div").filter { $0.attributes["role"] == "img" }.count == 15)
        #expect(page.all("image").count == 1 && page.texts("summary").count == 1)
        #expect(page.texts("h2").prefix(4) == ["Waveform", "Features", "Score of each class", "Gate"])
        #expect(page.all("script").isEmpty && page.all("link").isEmpty && !html.contains("src="))
        #expect(!html.replacing("http://www.w3.org/2000/svg", with: "").contains("http"))
        #expect(page.texts("p").first?.prefixMatch(of: /Heard: “left” at 0\.[89]\u{A0}s \(\d+ %\)/) != nil)
        #expect(
            page.texts("title").contains { $0.wholeMatch(of: /left \d+ %: proposed \d+ %, confirmed \d+ %/) != nil }
        )
        #expect(page.texts("title").contains("left rests") && page.texts("span").contains("voice"))
        for label in ["yes", "go", "other speech", "no speech"] {
            #expect(page.texts("strong").contains(label), "\(label)")
        }
        #expect(!html.contains("_unknown_") && !html.contains("_silence_"))
        // The threshold of each word at its line.
        #expect(page.all("span").count { $0.attributes["class"] == "right" && $0.text.hasPrefix("0.") } == 10)
        let titles = page.all("div").filter { $0.attributes["class"] == "x-title" }.map(\.text)
        #expect(titles.count >= 4 && titles.allSatisfy { $0 == "time (s)" })
    }

    @Test func `a clip of a second is labelled as classify labels it`() throws {
        let folder = try TestFolder()
        let voice = try Voices.samples("Side_Left")
        let clip = Array(voice.suffix(48_000))
        let path = try folder.write("clip.wav", format: SF_FORMAT_WAV | SF_FORMAT_FLOAT, rate: 48_000, clip)
        let label = try #require(Result.all(in: Program.beckon(["classify", "--clips", "--json", path])).first)
        let inspected = try #require(try report([path]).clip)
        #expect(inspected.label == label.label && inspected.scores == label.scores)
        let html = try Program.beckon(["inspect", path, "-o", "-"]).output
        #expect(html.contains("Heard as a clip"))
        #expect(try report([Voices.path("Front_Left")]).clip == nil)
    }

    @Test func `every sound is explained`() throws {
        let folder = try TestFolder()
        let audio =
            try Voices.samples("Side_Left") + [Float](repeating: 0, count: 40_000) + Voices.samples("Front_Center")
        let path = try folder.write("two.wav", format: SF_FORMAT_WAV | SF_FORMAT_PCM_16, rate: 48_000, audio)
        struct Report: Decodable {
            struct Sound: Decodable {
                let start: Double
                let end: Double
                let text: String
                let nearest: String?
                let score: Double?
            }
            let sounds: [Sound]
        }
        let json = try Program.beckon(["inspect", "--json", path]).output
        let sounds = try JSONDecoder().decode(Report.self, from: Data(json.utf8)).sounds
        #expect(sounds.contains { $0.text.wholeMatch(of: /“left” \d+ %/) != nil })
        let other = sounds.filter { $0.start > 2 }
        #expect(other.count >= 2)
        for sound in other {
            #expect(
                sound.text.wholeMatch(
                    of: /(other|no) speech, nearest “[a-z]+” (under 1|\d+) % \(it needs [\d.]+ %\)/
                ) != nil,
                "\(sound.text)"
            )
            #expect(sound.start < sound.end && sound.nearest != nil && (0...1).contains(sound.score ?? -1))
        }
        let page = try Tree(try Program.beckon(["inspect", path, "-o", "-"]).output)
        for sound in sounds { #expect(page.texts("td").contains(sound.text)) }
        // A word that is switched off, and one whose threshold is out of reach.
        let high = try Program.beckon(["inspect", "--json", "--threshold", "0.99999", path]).output
        let missed = try JSONDecoder().decode(Report.self, from: Data(high.utf8)).sounds
        #expect(missed.contains { $0.text.contains("“left”") && $0.text.contains("too uncertain: it needs 100") })
    }

    @Test func `the sound that the model gets is embedded where asked for`() throws {
        let folder = try TestFolder()
        let page = folder.file("page.html")
        #expect(try Program.beckon(["inspect", "--audio", "--from", "0.5", Self.voice, "-o", page]).status == 0)
        let tree = try Tree(String(decoding: try folder.bytes("page.html"), as: UTF8.self))
        let sound = try #require(tree.all("audio").first?.attributes)
        #expect(sound["data-start"] == "0.5" && tree.all("script").count == 1)
        let source = try #require(sound["src"])
        #expect(source.hasPrefix("data:audio/wav;base64,"))
        let file = try #require(Data(base64Encoded: String(source.dropFirst(22))))
        try folder.write("sound.wav", bytes: [UInt8](file))
        struct Length: Decodable {
            let sampleRate: Int
            let from: Double
            let to: Double
        }
        let json = try Program.beckon(["inspect", "--json", folder.file("sound.wav")]).output
        let length = try JSONDecoder().decode(Length.self, from: Data(json.utf8))
        #expect(length.sampleRate == 16_000 && abs(length.to - 0.908) < 0.02, "\(length)")
        // Every chart over time can follow it.
        #expect(tree.all("div").count { $0.attributes["class"] == "frame timed" } == 15)
        #expect(try Program.beckon(["inspect", "--audio", "--json", Self.voice]).status == 2)
    }

    @Test func `silence gives a page that says so`() throws {
        let folder = try TestFolder()
        let path = try folder.write(
            "nothing.wav",
            format: SF_FORMAT_WAV | SF_FORMAT_PCM_16,
            [Float](repeating: 0, count: 3)
        )
        let html = try Program.beckon(["inspect", path, "-o", "-"]).output
        let page = try Tree(html)
        #expect(page.texts("strong").first == "Digital silence: every sample is zero")
        #expect(page.texts("p").contains { $0.hasPrefix("There is no sound in the recording") })
        #expect(page.texts("p").first?.hasPrefix("No word was detected") == true)
    }

    @Test func `bad input`() throws {
        let folder = try TestFolder()
        let own = try folder.write("talk.html", bytes: [UInt8](Data(contentsOf: URL(fileURLWithPath: Self.voice))))
        try FileManager.default.createSymbolicLink(atPath: folder.file("link.html"), withDestinationPath: own)
        let out = folder.file("out.html")
        let table: [([String], Int32, String)] = [
            ([folder.file("none.wav"), "-o", out], 1, "does not exist"),
            ([folder.path, "-o", out], 2, "--output names the folder of the pages"),
            ([try folder.write("empty.wav", bytes: []), "-o", out], 1, "empty"),
            ([try folder.write("text.wav", bytes: Array("hello".utf8)), "-o", out], 1, "not an audio file"),
            ([own, "-o", own], 1, "would replace"), ([own, "-o", folder.file("link.html")], 1, "would replace"),
            ([Self.voice, "-o", folder.path], 1, "cannot write"),
            ([Self.voice, "-o", folder.file("no/such/folder.html")], 1, "cannot write"),
            ([Self.voice, "-o", "/dev/full"], 1, "cannot write"),
            ([Self.voice, "-o", out, "--from", "100"], 1, "ends before"),
            ([Self.voice, "-o", out, "--channel", "3"], 1, "no channel 3"),
            ([Self.voice, "-o", out, "--word", "maybe=0.5"], 78, "'maybe'"),
            ([], 2, "needs a recording"), ([Self.voice, Self.voice, "-o", out], 2, "--output names the folder"),
            ([Self.voice, "--json", "-o", out], 2, "--json prints"), ([Self.voice, "-o", ""], 2, "name of a file"),
            ([Self.voice, "--from", "x"], 2, "--from takes seconds"), ([Self.voice, "--to", "nan"], 2, "--to takes"),
            ([Self.voice, "--from", "3", "--to", "3"], 2, "after --from"),
            ([Self.voice, "--from", "0", "--to", "301"], 2, "at most 300"), ([Self.voice, "--jobs", "0"], 2, "--jobs"),
        ]
        for (arguments, status, says) in table {
            let program = try Program.beckon(["inspect"] + arguments)
            #expect(program.status == status, "\(arguments): \(program.status) \(program.error)")
            #expect(program.error.split(separator: "\n").count == 1 && program.error.contains(says), "\(program.error)")
            #expect(program.output == "" && !FileManager.default.fileExists(atPath: out), "\(arguments)")
        }
        #expect(try folder.bytes("talk.html").count > 100_000)
    }

    @Test func `the readable part of a damaged file is shown`() throws {
        let folder = try TestFolder()
        let whole = [UInt8](try Data(contentsOf: URL(fileURLWithPath: Self.voice)))
        let path = try folder.write("cut.wav", bytes: Array(whole.prefix(whole.count * 3 / 4)))
        let program = try Program.beckon(["inspect", "--json", path])
        #expect(program.status == 1 && program.error.contains("ends early"))
        let report = try JSONDecoder().decode(Report.self, from: Data(program.output.utf8))
        #expect(report.to > 0.9 && report.to < 1.1 && report.hops.count >= 9)
    }

    static let pages: [(String, String?, String?)] = [
        ("talk.wav", nil, "talk.html"), ("a/b.c/talk.old.flac", nil, "talk.old.html"),
        ("a/.hidden", nil, ".hidden.html"),
        ("a/talk", nil, "talk.html"), ("talk.wav", "x/y", "x/y"), ("talk.wav", "-", nil),
    ]

    @Test(arguments: pages)
    func `the path of the page`(_ file: String, _ output: String?, _ path: String?) throws {
        let words = [file] + (output.map { ["-o", $0] } ?? [])
        #expect(try InspectOptions(Arguments("inspect", words, Inspect.declaration)).path == path)
    }
}

extension Result {
    /// The numbers of an event.
    struct Event: Decodable, Equatable {
        let word: String
        let confidence: Double
        let start: Double
        let end: Double
        let time: Double
        let proposed: Double?

        init(_ result: Result) {
            word = result.word ?? ""
            confidence = result.confidence
            start = result.start ?? 0
            end = result.end ?? 0
            time = result.time ?? 0
            proposed = result.proposed
        }
    }
}
