import Control
private import Core
import Events

/// The five lines of `beckon status`: state, device, words, the last word, version; and one more where MQTT is off after a sudden
/// end.
struct StatusSummary {
    let lines: [String]

    /// Most words that are listed.
    private static let listed = 20

    /// - Parameter now: the time that ages are counted to.
    init(_ answer: ControlAnswer, now: Timestamp) {
        func line(_ title: String, _ text: String) -> String { pad(title, 11) + printable(text) }
        let isMQTTOff = answer.value("mqtt.off") == "true"
        let off = "off: the service ended suddenly while it read from the broker; its log says what to do"
        lines =
            [
                line("state", Self.state(answer, now)), line("device", Self.device(answer, now)),
                line("words", Self.words(answer)), line("last word", Self.newest(answer, now)),
                line("version", Self.version(answer)),
            ] + (isMQTTOff ? [line("mqtt", off)] : [])
    }

    private static func state(_ answer: ControlAnswer, _ now: Timestamp) -> String {
        let state =
            switch answer.value("state") {
            case "running", "recovering": "listening"
            case "waiting": "waiting for a microphone"
            case "lost": "waiting for the microphone, which is lost"
            case nil: "playing a file"
            case let other?: other
            }
        let session = answer.value("session").flatMap { $0 == "null" ? nil : "; the session of \($0) is on" } ?? ""
        guard let since = answer.value("since").flatMap({ Timestamp($0) }) else { return state + session }
        return "\(state) since \(moment(since, now)) (\(age(since, now)))\(session)"
    }

    private static func device(_ answer: ControlAnswer, _ now: Timestamp) -> String {
        guard let name = answer.value("device") else { return "none" }
        if let problem = answer.value("problem") { return problem }
        let rate = answer.value("rate").map { ", \($0) Hz, channels: \(answer.value("channels") ?? "?")" } ?? ""
        return (name.isEmpty ? "none yet" : name) + rate + inaudible(answer, now)
    }

    /// Why what comes from the device cannot be heard; empty if it can.
    private static func inaudible(_ answer: ControlAnswer, _ now: Timestamp) -> String {
        if let since = answer.value("digitalSilenceSince").flatMap({ Timestamp($0) }) {
            return "; digital silence since \(moment(since, now)) (\(age(since, now))): beckon doctor finds the cause"
        }
        let isCancelling = answer.value("channelsCancel") == "true"
        return isCancelling ? "; its channels cancel each other: set channel to 0 in the configuration" : ""
    }

    private static func words(_ answer: ControlAnswer) -> String {
        let sensitivity = answer.value("sensitivity").flatMap { $0 == "null" ? nil : "; \($0)" } ?? ""
        let mode = answer.value("mode").map { ", \($0) mode" } ?? ""
        var sessions = ""
        for index in 0..<64 {
            guard let wake = answer.value("sessions[\(index)].wake") else { break }
            sessions += "; after \(wake): \(list(answer.names(in: "sessions[\(index)].thresholds")))"
        }
        return list(answer.names(in: "thresholds")) + sensitivity + mode + sessions
    }

    private static func list(_ names: [String]) -> String {
        let rest = names.count > listed ? " and \(names.count - listed) more" : ""
        return names.prefix(listed).joined(separator: ", ") + rest
    }

    private static func newest(_ answer: ControlAnswer, _ now: Timestamp) -> String {
        guard let name = answer.value("newest.word") ?? answer.value("newest.phrase"),
            let confidence = answer.value("newest.confidence").flatMap({ Float(decimal: $0) }),
            let date = answer.value("newest.date").flatMap({ Timestamp($0) })
        else { return "none yet" }
        let count = answer.value("events").map { "; \($0) since the start" } ?? ""
        return "\(name), \(percent(confidence)), at \(moment(date, now)) (\(age(date, now)) ago)\(count)"
    }

    private static func version(_ answer: ControlAnswer) -> String {
        let model = answer.value("model").map { ", model \($0)" } ?? ""
        return "beckon \(answer.value("version") ?? "of an earlier version")\(model)"
    }

    /// The time of day, with the date unless it is today's.
    private static func moment(_ time: Timestamp, _ now: Timestamp) -> String {
        time.dayText == now.dayText ? time.timeOfDayText : "\(time.dayText) \(time.timeOfDayText)"
    }

    private static func age(_ time: Timestamp, _ now: Timestamp) -> String {
        durationText((Double(now.nanoseconds) - Double(time.nanoseconds)) / 1e9)
    }
}
