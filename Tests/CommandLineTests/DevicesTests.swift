import Core
import Foundation
import JSON
import TestSupport
import Testing

@testable import Capture
@testable import CommandLineTool

struct DevicesTests {
    private static let devices = [
        Device(
            name: "hw:CARD=Device,DEV=0",
            description: "USB PnP Sound Device, USB Audio",
            driver: "USB-Audio",
            condition: .free(.init(rates: [44_100, 48_000], channels: 1...1, formats: ["S16_LE"])),
            isAutomatic: true
        ),
        Device(
            name: "hw:CARD=PCH,DEV=0",
            description: "HDA Intel PCH, ALC255 Analog",
            driver: "HDA-Intel",
            condition: .busy(.init(process: 812, name: "pipe\u{1B}wire"))
        ),
        Device(name: "hw:CARD=Loopback,DEV=1", description: "Loopback", driver: "Loopback", condition: .busy(nil)),
        Device(
            name: "pulse",
            description: "PulseAudio \"Sound\" Server",
            driver: nil,
            condition: .free(
                .init(rates: [8_000, 11_025, 192_000], channels: 1...32, formats: ["S16_LE", "FLOAT_LE"])
            )
        ),
        Device(name: "odd", description: "", driver: nil, condition: .failed("Permission denied")),
    ]

    @Test func `the table of devices`() {
        #expect(
            Devices.table(Self.devices) == """
                   DEVICE                  STATE                      RATES        CHANNELS  FORMATS           DESCRIPTION
                *  hw:CARD=Device,DEV=0    free                       44.1–48 kHz  1         S16_LE            USB PnP Sound Device, USB Audio
                   hw:CARD=PCH,DEV=0       in use by pipe?wire (812)  –            –         –                 HDA Intel PCH, ALC255 Analog
                   hw:CARD=Loopback,DEV=1  in use                     –            –         –                 Loopback
                   pulse                   free                       8–192 kHz    1–32      S16_LE, FLOAT_LE  PulseAudio "Sound" Server
                   odd                     Permission denied          –            –         –
                * is the device that auto selects.

                """
        )
    }

    @Test func `a device that converts channels has no absurd number of them, and lines fit`() {
        let abilities = Device.Condition.free(.init(rates: [48_000], channels: 1...1_073_741_823, formats: []))
        let device = Device(name: "null", description: "Discard all samples", driver: nil, condition: abilities)
        #expect(Devices.table([device]).contains("  1 or more  "))
        for width in [40, 60, 80] {
            let table = Devices.table(Self.devices, room: width)
            #expect(table.split(separator: "\n").allSatisfy { columns(String($0)) <= width }, "\(table)")
        }
    }

    @Test func `the JSON is valid and complete`() throws {
        struct Line: Decodable, Equatable {
            struct Range: Decodable, Equatable { var min, max: Int }
            struct Holder: Decodable, Equatable {
                var pid: Int
                var name: String
            }
            var device, description, state: String
            var driver, problem: String?
            var auto: Bool
            var rates: [Int]?
            var channels: Range?
            var formats: [String]?
            var holder: Holder?
        }
        let lines = try Self.devices.map { try JSONDecoder().decode(Line.self, from: Data(Devices.json($0).utf8)) }
        #expect(lines.map(\.state) == ["free", "busy", "busy", "free", "failed"])
        #expect(lines.map(\.device) == Self.devices.map(\.name))
        #expect(lines.map(\.driver) == ["USB-Audio", "HDA-Intel", "Loopback", nil, nil])
        #expect(lines.map(\.auto) == [true, false, false, false, false])
        #expect(lines[0].rates == [44_100, 48_000] && lines[0].channels == .init(min: 1, max: 1))
        #expect(lines[1].holder == .init(pid: 812, name: "pipe\u{1B}wire") && lines[2].holder == nil)
        #expect(lines[3].description == "PulseAudio \"Sound\" Server" && lines[3].formats == ["S16_LE", "FLOAT_LE"])
        #expect(lines[4].problem == "Permission denied")
    }

    /// An ALSA configuration with only these devices, on the fake card.
    static func environment(_ definitions: String, in folder: TestFolder) throws -> [String: String] {
        let library = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent("libFakeCard.so").path
        let text = "pcm_type.fake { lib \"\(library)\" }\n" + definitions
        try folder.write("asound.conf", bytes: Array(text.utf8))
        return ["ALSA_CONFIG_PATH": folder.file("asound.conf")]
    }

    @Test(.enabled(if: !FileManager.default.fileExists(atPath: "/dev/snd"), "only without a sound card"))
    func `devices that ALSA's configuration names are asked what they can do`() throws {
        let folder = try TestFolder()
        let voice = "/usr/share/sounds/alsa/Front_Left.wav"
        try folder.write("busy", bytes: Array("busy".utf8))
        let definitions = """
            pcm.kitchen { type fake file "\(voice)" hint { show on description "Kitchen" } }
            pcm.taken { type fake file "\(voice)" control "\(folder.file("busy"))" hint { show on description "Taken" } }
            pcm.hidden { type fake file "\(voice)" }
            """
        let program = try Program.beckon(["devices"], environment: Self.environment(definitions, in: folder))
        #expect(program.error == "" && program.status == 0)
        #expect(
            program.output == """
                   DEVICE   STATE   RATES   CHANNELS  FORMATS  DESCRIPTION
                *  kitchen  free    48 kHz  1         S16_LE   Kitchen
                   taken    in use  –       –         –        Taken
                * is the device that auto selects.

                """
        )
    }

    @Test(.enabled(if: !FileManager.default.fileExists(atPath: "/dev/snd"), "only without a sound card"))
    func `without a card auto is a device that ALSA's configuration names`() throws {
        let fake = "type fake file \"/usr/share/sounds/alsa/Front_Left.wav\" loop 1"
        let busy = try TestFolder()
        try busy.write("busy", bytes: Array("busy".utf8))
        let table: [(definitions: String, automatic: String?)] = [
            ("pcm.mic { \(fake) }", "mic"), ("pcm.mic { \(fake) hint { show on description \"M\" } }", "mic"),
            ("pcm.aaa { \(fake) }\npcm.default { \(fake) }", "default"),
            ("pcm.aaa { \(fake) }\npcm.pulse { \(fake) }\npcm.pipewire { \(fake) }", "pipewire"),
            ("pcm.taken { \(fake) control \"\(busy.file("busy"))\" }\npcm.open { \(fake) }", "open"),
            ("pcm.gone { type fake file \"/nowhere.wav\" }\npcm.mic { \(fake) }", "mic"),
            ("pcm.null { type null }\npcm.kind { @args [ A ] @args.A { type string default x } \(fake) }", nil),
            ("pcm.gone { type fake file \"/nowhere.wav\" }", nil),
        ]
        for row in table {
            let folder = try TestFolder()
            let environment = try Self.environment(row.definitions, in: folder)
            let program = try withExtendedLifetime(folder) {
                try Program.beckon(["devices", "--json"], environment: environment)
            }
            let automatic = try program.lines.compactMap { line in
                let device = try JSONNode.parse(String(line))
                return device["auto"]?.flag == true ? device["device"]?.text : nil
            }
            #expect(automatic == [row.automatic].compactMap(\.self), "\(row.definitions): \(program.output)")
            #expect(program.status == (row.automatic == nil ? 1 : 0))
        }
    }

    @Test(.enabled(if: !FileManager.default.fileExists(atPath: "/dev/snd"), "only without a sound card"))
    func `without a device one line says where Beckon looked and what to do`() throws {
        let folder = try TestFolder()
        for arguments in [["devices"], ["devices", "--json"]] {
            let program = try Program.beckon(arguments, environment: Self.environment("", in: folder))
            #expect(program.status == 1 && program.output == "")
            #expect(program.error.hasPrefix("beckon: no capture device (looked at /proc/asound/cards, /dev/snd and"))
            #expect(program.error.contains("PipeWire"))
            #expect(program.error.filter { $0 == "\n" }.count == 1)
        }
    }

    @Test func `devices takes no operands`() throws {
        let program = try Program.beckon(["devices", "hw:0"])
        let line = "beckon: devices takes no names, not 'hw:0'; see beckon help devices\n"
        #expect(program.status == 2 && program.error == line)
    }
}
