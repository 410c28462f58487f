import Foundation
import TestSupport
import Testing

/// `beckon doctor` on the fake card.
struct DoctorTests {
    private struct Line: Decodable {
        var check, grade, text: String
        var remedy: String?
    }

    /// Output of `beckon doctor` for a card that plays `samples`, at eight times real time to shorten the test.
    private static func examine(
        _ samples: [Float],
        channels: Int = 1,
        configuration: String? = nil
    ) throws -> (status: Int32, lines: [Line]) {
        let folder = try TestFolder()
        let file = try folder.write("sound.wav", format: 0x10002, rate: 48_000, channels: channels, samples)
        if let configuration {
            try folder.folder("beckon")
            try folder.write("beckon/config.json5", bytes: Array(configuration.utf8))
        }
        let card = "pcm.mic { type fake file \"\(file)\" loop 1 speed 8 patient 1 }"
        return try examine(card, device: "mic", in: folder)
    }

    private static func examine(
        _ definitions: String,
        device: String,
        in folder: TestFolder
    ) throws -> (status: Int32, lines: [Line]) {
        let environment = try DevicesTests.environment(definitions, in: folder)
            .merging(["XDG_CONFIG_HOME": folder.path, "BECKON_SOCKET": folder.file("none")]) { $1 }
        let program = try Program.beckon(["doctor", "--json", "--device", device], environment: environment)
        #expect(program.error == "")
        return (
            program.status,
            try program.lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        )
    }

    /// A second of noise of this amplitude, the same every time.
    private static func noise(_ amplitude: Float) -> [Float] {
        var random = SplitMix(seed: 9)
        return (0..<48_000).map { _ in Float.random(in: -amplitude...amplitude, using: &random) }
    }

    /// Bursts of a tone in noise, as loud as a voice.
    private static let voice = noise(0.001).enumerated().map { index, noise in
        index < 24_000 ? noise + Float(sin(Double(index) / 240 * 2 * .pi)) * 0.2 : noise
    }

    @Test func `a good microphone passes, and each check is listed`() throws {
        let (status, lines) = try Self.examine(Self.voice)
        #expect(status == 0 && !lines.contains { $0.grade == "error" })
        #expect(
            Set(lines.map(\.check)).isSuperset(of: [
                "configuration", "model", "processor", "service", "permissions", "limits", "devices", "capture",
                "level",
                "noise-floor",
            ])
        )
        let capture = try #require(lines.first { $0.check == "capture" })
        #expect(capture.grade == "ok" && capture.text.contains("mic: 48000 Hz, channels: 1, S16_LE, nothing lost"))
        // A tone of peak 0.2 is on half of the time: −17 dB for 0.4 s. The noise is uniform: 0.001 / √3 is −65 dB.
        #expect(lines.contains { $0.check == "level" && $0.text == "the loudest 0.4 s are at -17 dBFS" }, "\(lines)")
        // The resampler removes the noise above 8 kHz: a third of its power is left, 4.8 dB less.
        let floor = try #require(lines.first { $0.check == "noise-floor" })
        let found = floor.text.firstMatch(of: /-([0-9]+) dBFS/)
        let level = try #require(found.flatMap { Int($0.1) })
        #expect(floor.grade == "ok" && (69...71).contains(level), "\(floor.text)")
    }

    @Test(arguments: [
        ("quiet", "level", "warning"), ("clipped", "clipped", "error"), ("offset", "dc-offset", "error"),
        ("silent", "level", "error"), ("hum", "hum", "error"),
    ])
    func `faults of the recording are reported with a remedy`(
        _ fault: String,
        check: String,
        grade: String
    ) throws {
        let samples: [Float] =
            switch fault {
            case "quiet": Self.voice.map { $0 / 200 }
            case "clipped": Self.voice.map { max(-1, min(1, $0 * 20)) }
            case "offset": Self.voice.map { $0 + 0.2 }
            case "silent": [Float](repeating: 0, count: 48_000)
            default: Self.voice.enumerated().map { $1 + 0.1 * Float(sin(Double($0) / 48_000 * 100 * .pi)) }
            }
        let (status, lines) = try Self.examine(samples)
        let line = try #require(lines.first { $0.check == check }, "\(lines)")
        #expect(line.grade == grade && line.remedy?.isEmpty == false, "\(line)")
        #expect(status == (grade == "error" ? 1 : 0))
    }

    /// Configuration, gain of the second channel, and the expected diagnosis.
    @Test(arguments: [
        ("{}", 0, "warning", "channel 1 is dead: every sample is the same, and is left out of the mix"),
        ("{}", 0.001, "warning", "channel 1 is 60 dB fainter than the loudest, and is left out of the mix"),
        ("{ channel: 0 }", 0, "ok", "channel 1 is dead: every sample is the same; it is not used"),
        ("{ channel: 1 }", 0, "error", "channel 1 is dead: every sample is the same"),
        ("{ channel: 'mix' }", 1, "ok", "all 2 have sound, at -20, -20 dBFS"),
    ])
    func `each channel is checked`(_ configuration: String, gain: Float, grade: String, text: String) throws {
        let stereo = Self.voice.flatMap { [$0, $0 * gain] }
        let (status, lines) = try Self.examine(stereo, channels: 2, configuration: configuration)
        let found = lines.filter { $0.check == "channels" }
        #expect(found.map(\.text) == [text] && found.first?.grade == grade, "\(lines)")
        #expect(status == (grade == "error" ? 1 : 0))
        let remedy = grade == "ok" ? nil : "set channel: 0 in the configuration, or try --channel 0 with beckon listen"
        #expect(found.first?.remedy == remedy)
    }

    @Test func `a channel that is opposite is turned, and the level is that of the voice`() throws {
        let (status, lines) = try Self.examine(Self.voice.flatMap { [$0, -$0] }, channels: 2)
        #expect(status == 0)
        let found = lines.filter { $0.grade != "ok" && ["channels", "level", "noise-floor"].contains($0.check) }
        #expect(
            found.map(\.text) == [
                "channel 1 is the opposite of the others, as if wired the wrong way round, and is turned in the mix"
            ],
            "\(lines)"
        )
        #expect(found.first?.remedy == "set channel: 0 in the configuration, or try --channel 0 with beckon listen")
        let one = try Self.examine(Self.voice.flatMap { [$0, -$0] }, channels: 2, configuration: "{ channel: 0 }")
        #expect(one.status == 0 && one.lines.contains { $0.check == "level" && $0.grade == "ok" }, "\(one.lines)")
    }

    @Test func `a device without a clock is an error in doctor, record and enroll`() throws {
        let folder = try TestFolder()
        let definitions = "pcm.void { type null }\npcm.nothing { type plug slave.pcm \"void\" }"
        let (status, lines) = try Self.examine(definitions, device: "nothing", in: folder)
        let capture = try #require(lines.first { $0.check == "capture" }, "\(lines)")
        #expect(status == 1 && capture.grade == "error" && capture.text.contains("much faster than the clock"))
        #expect(!lines.contains { $0.check == "level" })
        let environment = try DevicesTests.environment(definitions, in: folder)
            .merging(["XDG_CONFIG_HOME": folder.path, "BECKON_SOCKET": folder.file("none")]) { $1 }
        for command in [
            ["record", "--label", "x", "--speaker", "y", "--device", "nothing", folder.file("set")],
            ["enroll", "x", "--words", folder.file("words"), "--device", "nothing"],
        ] {
            let program = try Program.beckon(command, environment: environment)
            #expect(program.status == 1, "\(command): \(program.error)")
            #expect(program.error.contains("much faster than the clock"), "\(command): \(program.error)")
        }
    }

    @Test(.enabled(if: !FileManager.default.fileExists(atPath: "/dev/snd"), "only without a sound card"))
    func `a device that only ALSA's configuration names is enough`() throws {
        let folder = try TestFolder()
        let file = try folder.write("sound.wav", format: 0x10002, rate: 48_000, Self.voice)
        let card = "pcm.mic { type fake file \"\(file)\" loop 1 speed 8 patient 1 }"
        for device in ["auto", "mic"] {
            let (status, lines) = try Self.examine(card, device: device, in: folder)
            #expect(status == 0 && !lines.contains { $0.text.contains("drivers") }, "\(device): \(lines)")
            #expect(lines.first { $0.check == "permissions" }?.grade == "ok", "\(device): \(lines)")
            #expect(lines.first { $0.check == "devices" }?.text == "mic (auto)", "\(device): \(lines)")
            #expect(lines.contains { $0.check == "capture" && $0.grade == "ok" }, "\(device): \(lines)")
        }
    }

    @Test func `beside a service that hears its microphone nothing is wrong`() throws {
        let live = try LiveProgram(playing: "/usr/share/sounds/alsa/Front_Left.wav")
        #expect(live.waits(60) { live.output.contains("left") })
        // As a card that can be opened once.
        try live.folder.write("control", bytes: Array("busy".utf8))
        let environment = live.environment.merging(["BECKON_SOCKET": live.folder.file("control.socket")]) { $1 }
        let program = try Program.beckon(["doctor"], environment: environment)
        #expect(program.status == 0, "\(program.output)")
        for phrase in ["plug in", "systemctl stop beckon)\n", "error "] {
            #expect(!program.output.contains("→ \(phrase)"))
        }
        #expect(program.output.contains("Next: beckon events, and say a word"), "\(program.output)")
        #expect(!program.output.contains("\nwarning  devices") && !program.output.contains("\nwarning  capture"))
    }

    @Test func `what is next is said of the service that runs`() throws {
        let live = try LiveProgram(playing: "/usr/share/sounds/alsa/Front_Left.wav")
        #expect(live.waits(60) { live.output.contains("left") })
        let environment = live.environment.merging(["BECKON_SOCKET": live.folder.file("control.socket")]) { $1 }
        #expect(try Program.beckon(["mute"], environment: environment).status == 0)
        #expect(
            comesTrue(within: 20) {
                (try? Program.beckon(["status"], environment: environment))?.output.contains("muted") == true
            }
        )
        let muted = try Program.beckon(["doctor"], environment: environment)
        #expect(muted.output.contains("Next: beckon unmute: the service is muted"), "\(muted.output)")
    }

    @Test func `beside a wake-word server no microphone is missed`() throws {
        let folder = try TestFolder()
        let environment = [
            "XDG_RUNTIME_DIR": folder.path, "XDG_CONFIG_HOME": folder.path, "XDG_STATE_HOME": folder.path,
            "HOME": folder.path,
            "ALSA_CONFIG_PATH": "/nonexistent", "BECKON_SOCKET": "",
        ]
        let serve = Process()
        serve.executableURL = Program.beckonFile
        serve.arguments = ["serve", "--listen", "unix://\(folder.file("socket"))"]
        serve.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        serve.standardError = FileHandle.nullDevice
        try serve.run()
        defer { serve.terminate() }
        #expect(comesTrue(within: 20) { FileManager.default.fileExists(atPath: folder.file("socket")) })
        let alone = try Program.beckon(["doctor"], environment: environment)
        #expect(alone.status == 0 && alone.output.contains("the wake-word server runs, with 0 clients"), "\(alone)")
        #expect(alone.output.contains("beckon can serve") && alone.output.contains("Next: connect Home Assistant"))
        let client = try Client(folder.file("socket"))
        client.send(Array("{\"type\": \"describe\"}\n".utf8))
        #expect(try client.line()?.contains("info") == true)
        let served = try Program.beckon(["doctor"], environment: environment)
        #expect(served.output.contains("Next: beckon events, and say a word at a satellite"), "\(served)")
        #expect(try Program.beckon(["status"], environment: environment).output.contains("serving 1 client"))
        // A device that is named is looked at.
        #expect(try Program.beckon(["doctor", "--device", "hw:9"], environment: environment).status == 1)
    }

    @Test func `a device that is not there is an error`() throws {
        let (status, lines) = try Self.examine("", device: "mic", in: TestFolder())
        #expect(status == 1)
        let capture = try #require(lines.first { $0.check == "capture" })
        #expect(capture.grade == "error" && capture.text.contains("audio device 'mic': snd_pcm_open"))
        #expect(capture.remedy == "is it plugged in? 'beckon devices' lists what is there")
    }

    @Test func `doctor says whether networks confirm the model's words`() throws {
        let folder = try TestFolder()
        for (confirm, says) in [
            (true, "; further networks confirm what it finds"),
            (false, "; its confirming networks are off (confirm: false)"),
        ] {
            let text = "{ model: '\(Checkout.confirmingModel)', confirm: \(confirm) }"
            let path = try folder.write("c.json5", bytes: Array(text.utf8))
            let arguments = ["doctor", "--config", path, "--device", "none"]
            let program = try Program.beckon(arguments, environment: ["BECKON_SOCKET": folder.file("none")])
            let model = program.lines.first { $0.contains(" model ") }
            #expect(model?.hasSuffix(says) == true, "\(program.lines)")
        }
    }

    @Test func `a bad configuration and a missing model are errors, one line each`() throws {
        let folder = try TestFolder()
        try folder.write("bad.json5", bytes: Array("{\n  word: {},\n  device: 5\n}".utf8))
        let arguments = ["doctor", "--config", folder.file("bad.json5"), "--model", "/nowhere", "--device", "none"]
        let program = try Program.beckon(arguments, environment: ["BECKON_SOCKET": folder.file("none")])
        #expect(program.status == 1)
        let errors = program.lines.filter { $0.hasPrefix("error") }
        for place in ["bad.json5:2", "bad.json5:3"] {
            #expect(errors.contains { $0.contains("configuration") && $0.contains(place) })
        }
        #expect(errors.contains { $0.contains("model") && $0.contains("/nowhere") })
        #expect(program.lines.last?.hasPrefix("Symptoms and remedies: ") == true)
        #expect(program.lines.last?.hasSuffix("/troubleshooting.md") == true)
        // The line after a finding says what to do.
        for (line, next) in zip(program.lines, program.lines.dropFirst()) where line.hasPrefix("error") {
            #expect(next.trimmingCharacters(in: .whitespaces).hasPrefix("→ "))
        }
    }
}
