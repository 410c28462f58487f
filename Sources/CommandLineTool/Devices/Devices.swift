private import Audio
import Capture
private import Core
private import JSON

/// `beckon devices`: lists the capture devices.
struct Devices {
    private let json: Bool

    init(_ arguments: Arguments) throws(UsageError) {
        if let operand = arguments.operands.first {
            throw UsageError("devices takes no names, not '\(printable(operand))'")
        }
        json = arguments.has("--json")
    }

    /// Scans and prints. Returns the exit status.
    func run() throws -> Int32 {
        let devices = try DeviceList.scan()
        Output.write(json ? devices.map(Self.json).joined() : Self.table(devices, room: Terminal.outputRoom))
        return 0
    }

    /// A table with one line per device.
    ///
    /// - Parameter room: columns of the terminal; nil where it goes elsewhere.
    static func table(_ devices: [Device], room: Int? = nil) -> String {
        var columns = TextTable(
            ["", "DEVICE", "STATE", "RATES", "CHANNELS", "FORMATS", "DESCRIPTION"],
            names: Set(0...6)
        )
        for device in devices {
            let mark = device.isAutomatic ? "*" : ""
            let name = printable(device.name)
            let description = printable(device.description)
            switch device.condition {
            case .free(let abilities):
                let formats = abilities.formats.isEmpty ? "others" : abilities.formats.joined(separator: ", ")
                let channels = Self.channels(abilities.channels)
                columns.add([mark, name, "free", rates(abilities.rates), channels, formats, description])
            case .busy(let holder):
                let who = holder.map { "in use by \(printable($0.name)) (\($0.process))" } ?? "in use"
                columns.add([mark, name, who, "–", "–", "–", description])
            case .failed(let why):
                columns.add([mark, name, printable(why), "–", "–", "–", description])
            }
        }
        let note = devices.contains(where: \.isAutomatic) ? "* is the device that auto selects.\n" : ""
        return (room.map { columns.text(columns: $0) } ?? columns.text) + note
    }

    /// Devices that convert channels give a highest number that no microphone has.
    private static func channels(_ range: ClosedRange<Int>) -> String {
        let most = ChannelMix.channelCounts.upperBound
        return range.upperBound > most ? "\(range.lowerBound) or more" : Self.range(range.lowerBound, range.upperBound)
    }

    /// The lowest and the highest sample rate, in kHz.
    private static func rates(_ rates: [Int]) -> String {
        guard let least = rates.min(), let most = rates.max() else { return "others" }
        func kilohertz(_ rate: Int) -> String {
            rate % 1000 == 0 ? String(rate / 1000) : decimal(Double(rate) / 1000, rate % 100 == 0 ? 1 : 3)
        }
        return range(kilohertz(least), kilohertz(most)) + " kHz"
    }

    private static func range<Value: Equatable>(_ least: Value, _ most: Value) -> String {
        least == most ? "\(least)" : "\(least)–\(most)"
    }

    /// One JSON object on a line, keys in a fixed order.
    static func json(_ device: Device) -> String {
        var object: JSON = [
            "device": .string(device.name), "description": .string(device.description),
            "driver": .optional(device.driver), "auto": .bool(device.isAutomatic),
        ]
        switch device.condition {
        case .free(let abilities):
            let channels = abilities.channels
            object.append([
                "state": "free", "rates": .array(abilities.rates.map { .number($0) }),
                "channels": ["min": .number(channels.lowerBound), "max": .number(channels.upperBound)],
                "formats": .strings(abilities.formats),
            ])
        case .busy(let holder):
            let process: JSON? = holder.map { ["pid": .number($0.process), "name": .string($0.name)] }
            object.append(["state": "busy", "holder": process ?? .null])
        case .failed(let why):
            object.append(["state": "failed", "problem": .string(why)])
        }
        return object.line
    }
}
