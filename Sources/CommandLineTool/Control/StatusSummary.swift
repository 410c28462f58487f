private import Audio
import Control
private import Core
import Events
private import Spotting
import System

/// The lines of `beckon status`: the instance, where there are several; state, device, words, what is removed of an echo, whether networks
/// confirm words, the last word, version; and one more where MQTT is off after a sudden end.
struct StatusSummary {
    let lines: [String]

    /// Most words that are listed.
    private static let listed = 20

    /// - Parameter now: the time that ages are counted to.
    init(_ status: ServiceStatus, now: Timestamp) {
        var lines: [String] = []
        func add(_ title: String, _ text: String?) { if let text { lines.append(pad(title, 11) + printable(text)) } }
        add("instance", status.instance)
        add("state", Self.state(status, now))
        add("device", Self.device(status.input, now))
        add("words", Self.words(status))
        add("echo", status.input?.echo.map(Self.echo))
        add("confirm", Self.confirmation(status))
        for word in status.missing { add("missing", "\(word.word): \(word.reason)") }
        add("last word", Self.newest(status, now))
        add("version", Self.version(status))
        if status.isMQTTOff {
            add("mqtt", "off: the service ended suddenly while it read from the broker; its log says what to do")
        }
        self.lines = lines
    }

    private static func state(_ status: ServiceStatus, _ now: Timestamp) -> String {
        let state =
            switch status.input?.state {
            case "running", "recovering": "listening"
            case "waiting": "waiting for a microphone"
            case "lost": "waiting for the microphone, which is lost"
            case nil: status.clients.map { "serving \(counted($0, "client"))" } ?? "playing a file"
            case let other?: other
            }
        let session = status.session.map { "; the session of \($0) is on" } ?? ""
        guard let since = status.input?.since else { return state + session }
        return "\(state) since \(moment(since, now)) (\(age(since, now)))\(session)"
    }

    private static func device(_ input: ServiceStatus.Input?, _ now: Timestamp) -> String {
        guard let input, let name = input.device else { return "none" }
        if let problem = input.problem { return problem }
        let rate = input.rate.map { ", \($0) Hz, channels: \(input.channels.map(String.init) ?? "?")" } ?? ""
        return (name.isEmpty ? "none yet" : name) + rate + inaudible(input, now)
    }

    private static func echo(_ echo: ServiceStatus.Echo) -> String {
        if let problem = echo.problem { return "none is removed: \(problem)" }
        let removed = echo.cancelledDecibels.map { "\(decimal($0, 1)) dB are removed" } ?? "nothing is played"
        return removed + (echo.device.map { "; reference: \($0.isEmpty ? "none yet" : $0)" } ?? "")
    }

    /// Why what comes from the device cannot be heard; empty if it can.
    private static func inaudible(_ input: ServiceStatus.Input, _ now: Timestamp) -> String {
        if let since = input.digitalSilenceSince {
            return "; digital silence since \(moment(since, now)) (\(age(since, now))): beckon doctor finds the cause"
        }
        let faults = ChannelFaults.text(turned: input.turnedChannels, dead: input.deadChannels)
        if let faults { return "; \(faults)" }
        // A service of an earlier version.
        return input.channelsCancel == true
            ? "; its channels cancel each other: set channel to 0 in the configuration" : ""
    }

    private static func words(_ status: ServiceStatus) -> String {
        let sensitivity = status.choices?.all.map { "; \($0)" } ?? ""
        let mode = status.mode.map { ", \($0) mode" } ?? ""
        let sessions = (status.sessions ?? []).map { "; after \($0.wake): \(list($0.thresholds))" }.joined()
        return list(status.thresholds ?? []) + sensitivity + mode + sessions
    }

    private static func list(_ thresholds: [ServiceStatus.Threshold]) -> String {
        let rest = thresholds.count > listed ? " and \(thresholds.count - listed) more" : ""
        return thresholds.prefix(listed).map(\.word).joined(separator: ", ") + rest
    }

    /// Nil for a service of an earlier version.
    private static func confirmation(_ status: ServiceStatus) -> String? {
        switch status.confirmation {
        case "none": return "none; the model has no networks for it"
        case "on":
            guard let looks = status.looks, let refused = status.refusedLooks else { return "on" }
            let longest = status.longestLook.map { looks > 0 ? ", the slowest in \(decimal($0, 1)) ms" : "" } ?? ""
            return "on; looks: \(looks), refused: \(refused)\(longest)"
        case let other: return other
        }
    }

    private static func newest(_ status: ServiceStatus, _ now: Timestamp) -> String {
        guard let newest = status.newest else { return "none yet" }
        let date = newest.date
        let count = status.events.map { "; \($0) since the start" } ?? ""
        return "\(newest.name), \(percent(newest.confidence)), at \(moment(date, now)) (\(age(date, now)) ago)\(count)"
    }

    private static func version(_ status: ServiceStatus) -> String {
        let model = status.model.map { ", model \($0)" } ?? ""
        return "beckon \(status.version ?? "of an earlier version")\(model)"
    }

    /// The time of day, with the date unless it is today's.
    private static func moment(_ time: Timestamp, _ now: Timestamp) -> String {
        time.dayText == now.dayText ? time.timeOfDayText : "\(time.dayText) \(time.timeOfDayText)"
    }

    private static func age(_ time: Timestamp, _ now: Timestamp) -> String {
        durationText((Double(now.microseconds) - Double(time.microseconds)) / 1e6)
    }
}
