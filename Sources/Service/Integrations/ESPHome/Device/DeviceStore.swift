import Core
import Glibc
import JSON
import System

/// What the satellite keeps over restarts, in a file of the state folder. A pure value.
struct DeviceStore: Equatable {
    private static let file = "esphome.json"
    private static let limit = 64 << 10

    /// In the form of an Ethernet address, made at random once: Home Assistant recognises the device by it. That of a network card
    /// would make it one with other devices of the machine.
    var address: String
    /// The words that start a command, as Home Assistant has chosen; nil if it has not.
    var active: [String]?
    /// 0…1.
    var volume: Float = 1
    /// Running timers, with the time at which they end.
    var timers: [String: Timestamp] = [:]

    /// What a folder has; new where it has nothing that can be read.
    init(in folder: String?) {
        var generator = SystemRandomNumberGenerator()
        // Locally administered, of one device.
        let bytes = [0x02] + (0..<5).map { _ in UInt8.random(in: 0...255, using: &generator) }
        address = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: ":")
        guard let folder, let content = try? readFile(folder + "/" + Self.file, limit: Self.limit),
            let node = try? JSONNode.parse(String(decoding: content.bytes, as: UTF8.self), .json5)
        else { return }
        if let text = node["address"]?.text, Self.isAddress(text) { address = text }
        if let words = node["active"], case .array(let elements) = words.value { active = elements.compactMap(\.text) }
        if let number = node["volume"]?.number { volume = Float(min(max(number, 0), 1)) }
        let ends = (node["timers"]?.members ?? []).compactMap { member in
            (member.node.text.flatMap { Timestamp($0) }).map { (member.name, $0) }
        }
        timers = Dictionary(ends.prefix(Assistant.mostTimers)) { first, _ in first }
    }

    /// What a folder has; where it has nothing yet, its new address is kept at once, so that a restart does not make another device of it.
    static func obtain(in folder: String?) throws(SystemError) -> DeviceStore {
        let store = DeviceStore(in: folder)
        guard let folder, access("\(folder)/\(file)", F_OK) != 0 else { return store }
        try store.write(to: folder)
        return store
    }

    private static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 6
            && parts.allSatisfy { $0.utf8.count == 2 && $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
    }

    /// Keeps timers.
    ///
    /// - Parameters:
    ///   - ends: on the monotonic clock, which begins anew when the machine starts.
    ///   - now: on that clock.
    ///   - date: the same moment on the wall clock.
    mutating func keep(_ ends: [String: Instant], at now: Instant, date: Timestamp) {
        timers = ends.mapValues { date.adding(seconds: ($0 - now).seconds) }
    }

    /// The timers on the monotonic clock, and how many of them ended so long ago that they are forgotten.
    func timers(at now: Instant, date: Timestamp) -> (ends: [String: Instant], missed: Int) {
        let ends = timers.mapValues { now + .microseconds($0.microseconds - date.microseconds) }
        let kept = ends.filter { now - $0.value < Assistant.longestRing }
        return (kept, ends.count - kept.count)
    }

    func write(to folder: String) throws(SystemError) {
        StateFolder.make(folder)
        let json: JSON = [
            "address": .string(address), "active": active.map { .strings($0) } ?? .null,
            "volume": .number(volume, places: 3),
            "timers": .object(timers.sorted { $0.key < $1.key }.map { JSON.Member($0.key, .string($0.value.text)) }),
        ]
        try replaceFile(folder + "/" + Self.file, mode: 0o600, durable: false, Array(json.line.utf8))
    }
}
