import Audio
import CSndFile
import Control
import Core
import Foundation
import Inference
import Input
import System
import TestSupport
import Testing

@testable import CommandLineTool
@testable import Enrollment

/// What `beckon enroll` accepts, refuses and shows.
struct TeachingTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func beckon(_ arguments: [String]) throws -> Program {
        try Program.beckon(arguments, environment: ["BECKON_WORDS": folder.file("words")])
    }

    /// The recorded voice with several gains.
    private func takes(_ voice: String, _ gains: [Float]) throws -> [String] {
        try gains.map { gain in
            try folder.write(
                "\(voice)-\(gain).wav",
                format: Int(SF_FORMAT_WAV | SF_FORMAT_FLOAT),
                rate: Voices.rate,
                try Voices.samples(voice).map { $0 * gain }
            )
        }
    }

    private struct Event: Decodable { var word: String }

    private func heard(_ path: String, _ options: [String] = []) throws -> [String] {
        let program = try beckon(["classify", "--json"] + options + [path])
        #expect(program.status == 0, "\(program.error)")
        return try program.lines.map { try JSONDecoder().decode(Event.self, from: Data($0.utf8)).word }
    }

    @Test(arguments: ["spot", "command"])
    func `two words that sound alike are refused; forced, the better one is found`(_ mode: String) throws {
        #expect(try beckon(["enroll", "center", "--from"] + takes("Rear_Center", [1, 0.7, 0.4])).status == 0)
        let twin = try ["enroll", "centre", "--from"] + takes("Rear_Center", [0.9, 0.6, 0.3])
        let refused = try beckon(twin)
        #expect(refused.status == 1)
        #expect(refused.error.contains("'centre' sounds like 'center', which is taught already: both would suffer"))
        #expect(refused.error.contains("--force"))
        let forced = try beckon(twin + ["--force"])
        #expect(
            forced.status == 0
                && forced.output.contains("Caution: of your other words, 'center' is mistaken for it 100 %")
        )
        let found = try heard(Voices.path("Rear_Center"), ["--mode", mode])
        #expect(found == ["center"] || found == ["centre"], "\(found)")
    }

    @Test func `takes that sound nothing like the model's word are refused, with what they sound like`() throws {
        let center = try takes("Rear_Center", [1, 0.7, 0.4])
        let refused = try beckon(["enroll", "yes", "--from"] + center)
        #expect(refused.status == 1 && refused.output == "")
        #expect(refused.error.split(separator: "\n").count == 4)
        #expect(
            refused.error.contains("left out: sounds nothing like 'yes', which the model knows"),
            "\(refused.error)"
        )
        #expect(refused.error.contains("'yes' was not taught: none of its takes can be used"))
        #expect(try beckon(["enroll", "yes", "--force", "--from"] + center).status == 0)
        // Under a name of its own the same takes are welcome.
        #expect(try beckon(["enroll", "center", "--force", "--from"] + center).status == 0)
    }

    @Test func `the same recording counts once, whatever its file is called`() throws {
        let first = try #require(takes("Rear_Center", [1]).first)
        let copy = folder.file("copy.wav")
        try FileManager.default.copyItem(atPath: first, toPath: copy)
        let taught = try beckon(["enroll", "center", "--from", first, copy, first])
        #expect(taught.status == 0 && taught.output.contains("'center' is taught, from 1 take."))
        let lines = taught.error.split(separator: "\n").map(String.init)
        #expect(
            lines
                == [copy, first].map {
                    "beckon: \($0): left out: the same recording as \(first), which counts once"
                }
        )
        let again = try beckon(["enroll", "center", "--more", "--from", copy])
        #expect(again.status == 1 && again.error.contains("the same recording as take 1, which counts once"))
    }

    @Test func `the report says what the estimates mean, and gives each sensitivity`() throws {
        let taught = try beckon(["enroll", "center", "--from"] + takes("Rear_Center", [1, 0.7, 0.4]))
        for part in [
            "Said as in the takes, it is ", "said by other people", "Other people's talk", "--more", "BY OTHERS",
            "SENSITIVITY", "strict", "balanced *", "eager",
        ] {
            #expect(taught.output.contains(part), "\(part)")
        }
        #expect(!taught.output.contains("the your"))
        struct Rates: Decodable { var threshold, missed, missedOfOthers, falseAcceptsPerHour: Double }
        struct Report: Decodable { var sensitivities: [String: [String: Rates]] }
        let json = try beckon(["enroll", "side", "--json", "--force", "--from"] + takes("Side_Left", [1, 0.7]))
        let report = try JSONDecoder().decode(Report.self, from: Data(json.output.utf8))
        #expect(report.sensitivities.keys.sorted() == ["balanced", "eager", "strict"])
        for mode in ["command", "spot"] {
            let rates = try ["strict", "balanced", "eager"].map { try #require(report.sensitivities[$0]?[mode]) }
            #expect(rates[0].threshold >= rates[1].threshold && rates[1].threshold >= rates[2].threshold)
            #expect(rates[0].missed >= rates[1].missed && rates[1].missed >= rates[2].missed)
            #expect(rates[0].missedOfOthers >= rates[1].missedOfOthers)
            #expect(rates[1].missedOfOthers >= rates[2].missedOfOthers)
            #expect(rates[0].falseAcceptsPerHour <= rates[1].falseAcceptsPerHour)
            #expect(rates[1].falseAcceptsPerHour <= rates[2].falseAcceptsPerHour)
        }
    }

    @Test(arguments: [20, 39, 40, 60, 80, 120])
    func `the picture of a take is as wide as the terminal`(_ width: Int) {
        // A second of tone with half a second of quiet on both sides.
        let samples = (0..<32_000).map { index in
            (8000..<24_000).contains(index) ? 0.5 * sin(Float(index) * 0.2) : Float(1e-4)
        }
        let lines = TakePicture(Utterance(samples: samples, speech: 8000..<24_000), columns: width).text
            .split(separator: "\n")
        #expect(lines.count == (width < 40 ? 2 : 1))
        #expect(lines.map { columns(String($0)) }.max() == width - 1)
        let bars = lines[0].prefix { $0 != "▏" }.dropFirst()
        #expect(
            bars.first == " " && bars.last == " " && bars[bars.index(bars.startIndex, offsetBy: bars.count / 2)] == "█"
        )
        #expect(lines.last?.contains("1.00 s   -9 dB") == true, "\(lines)")
    }

    @Test(arguments: [20, 40, 80])
    func `paragraphs fit the terminal`(_ width: Int) {
        let text = "For you: said as in the takes, it is missed about once in 30 times."
        let lines = wrapped(text, columns: width).split(separator: "\n").map(String.init)
        #expect(lines.allSatisfy { columns($0) < width } && lines.joined(separator: " ") == text)
        #expect(wrapped("longerthanthewidth a", columns: 5) == "longerthanthewidth\na")
    }

    @Test(arguments: [40, 66, 67, 80])
    func `the report fits the terminal`(_ width: Int) throws {
        let terminal = try PseudoTerminal(columns: width, rows: 24)
        let environment = ["BECKON_WORDS": folder.file("words")]
        let takes = try takes("Rear_Center", [1, 0.7, 0.4])
        let process = try start(Program.beckonFile, ["enroll", "center", "--from"] + takes, environment)
        // The width is that of the terminal that people read.
        process.standardError = try terminal.open()
        try process.run()
        #expect(comesTrue(within: 60) { !process.isRunning })
        let report = text("out")
        // A path is one word, and may be longer than the terminal.
        let lines = report.split(separator: "\n").map(String.init).filter { !$0.contains("/") }
        #expect(lines.count > 10 && lines.allSatisfy { columns($0) < width }, "\(report)")
        let isFolded = width < 67
        #expect(report.contains("WRONG PER HOUR") != isFolded && report.contains("wrong per hour") == isFolded)
        #expect(report.contains("balanced *, command\n  threshold 0.80, ") == isFolded, "\(report)")
    }

    // MARK: - With a microphone

    /// A fake card that plays the recorded voice with a pause after it, in a folder of its own.
    private func card(fault: String = "") throws -> [String: String] {
        let pause = [Float](repeating: 1e-4, count: Voices.rate)
        let said = try folder.write(
            "said.wav",
            format: Int(SF_FORMAT_WAV | SF_FORMAT_PCM_16),
            rate: Voices.rate,
            try Voices.samples("Rear_Center") + pause
        )
        let library = Program.beckonFile.deletingLastPathComponent().path
        let card = "type fake file \"\(said)\" control \"\(folder.file("control"))\" loop 1"
        try folder.write("control", bytes: Array(fault.utf8))
        try folder.write(
            "asound.conf",
            bytes: Array("pcm_type.fake { lib \"\(library)/libFakeCard.so\" }\npcm.mic { \(card) }\n".utf8)
        )
        return [
            "ALSA_CONFIG_PATH": folder.file("asound.conf"), "XDG_CONFIG_HOME": folder.path,
            "XDG_RUNTIME_DIR": folder.path, "BECKON_WORDS": folder.file("words"), "TERM": "xterm",
        ]
    }

    private func start(_ program: URL, _ arguments: [String], _ environment: [String: String]) throws -> Process {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        for name in ["out", "err"] { try folder.write(name, bytes: []) }
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file("out")))
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file("err")))
        return process
    }

    private func text(_ name: String) -> String {
        (try? folder.bytes(name)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    @Test func `without a terminal the time is limited`() throws {
        let model = try Model(folder: Checkout.model)
        let path = try folder.write(
            "quiet.wav",
            format: Int(SF_FORMAT_WAV | SF_FORMAT_PCM_16),
            [Float](repeating: 0, count: 160_000)
        )
        var late = try SpokenTakes(FileSource(path: path, mix: .mix), model: model, until: Clock.now)
        #expect(late.isLate && !late.waitForAudio())
        guard case .end = late.next() else {
            Issue.record("it waits")
            return
        }
        var patient = try SpokenTakes(FileSource(path: path, mix: .mix), model: model)
        #expect(!patient.isLate && patient.waitForAudio())
    }

    @Test func `while a service runs, the report says how to try the word there`() throws {
        let service = try ControlServer(path: folder.file("service.socket")) { _ in .done }
        func teach(_ socket: String, _ word: String) throws -> String {
            let taught = try Program.beckon(
                ["enroll", word, "--force", "--from"] + takes("Rear_Center", [1, 0.7]),
                environment: ["BECKON_WORDS": folder.file("words"), "BECKON_SOCKET": folder.file(socket)]
            )
            #expect(taught.status == 0, "\(taught.error)")
            return taught.output.replacing("\n", with: " ")
        }
        let beside = try teach("service.socket", "one")
        #expect(beside.contains("beckon events") && !beside.contains("beckon listen."), "\(beside)")
        #expect(try teach("none.socket", "two").contains("Try it: beckon listen."))
        service.stop()
    }

    @Test func `nobody is asked to speak before the microphone hears`() throws {
        let environment = try card(fault: "busy")
        let process = try start(
            Program.beckonFile,
            ["enroll", "center", "--takes", "1", "--device", "mic"],
            environment
        )
        try process.run()
        defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
        #expect(comesTrue(within: 20) { text("err").contains("mic") })
        Thread.sleep(forTimeInterval: 1)
        #expect(!text("err").contains("speak now"), "\(text("err"))")
        try folder.write("control", bytes: [])
        process.waitUntilExit()
        #expect(process.terminationStatus == 0 && text("err").contains("take 1 of 1: speak now"), "\(text("err"))")
    }

    @Test func `a take can be heard again and taken again by a key`() throws {
        var environment = try card()
        // A player that keeps what it is given.
        try folder.folder("bin")
        let player = try folder.write(
            "bin/aplay",
            bytes: Array("#!/bin/sh\necho \"$@\" >> \(folder.file("played"))\ncat >> \(folder.file("sound"))\n".utf8)
        )
        chmod(player, 0o755)
        environment["PATH"] = "\(folder.file("bin")):/usr/bin:/bin"
        // `script` gives the program a terminal of its own and writes what it shows to "out".
        let command = "\(Program.beckonFile.path) enroll center --takes 2 --device mic; echo status $?"
        let process = try start(
            URL(fileURLWithPath: "/usr/bin/script"),
            ["-q", "-c", "stty cols 60; \(command)", "/dev/null"],
            environment
        )
        let keys = Foundation.Pipe()
        process.standardInput = keys
        try process.run()
        defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
        func press(_ key: String) { keys.fileHandleForWriting.write(Data(key.utf8)) }
        func shown(_ part: String, times: Int = 1) -> Bool {
            comesTrue(within: 30) { text("out").components(separatedBy: part).count > times }
        }
        #expect(shown("take 2 of 2: speak now"))
        press("r")
        #expect(shown("take 1 of 2: speak now", times: 2))
        #expect(shown("Enter stores the word"))
        press("p")
        #expect(comesTrue(within: 20) { text("played").contains("-f S16_LE -c 1 -r 16000") })
        press("x")
        press("\n")
        #expect(shown("status 0"), "\(text("out"))")
        #expect(text("out").contains("'center' is taught, from 2 takes."))
        // 16-bit samples of the take: the voice says about a second.
        #expect((20_000...80_000).contains((try? folder.bytes("sound").count) ?? 0))
        // The line before it, of the meter, is erased in place.
        let widest = text("out").split(whereSeparator: \.isNewline).compactMap { line in
            line.firstIndex(of: "▕").map { columns(String(line[$0...])) }
        }
        #expect(widest.contains(59) && widest.allSatisfy { $0 == 59 }, "\(widest)")
    }
}
