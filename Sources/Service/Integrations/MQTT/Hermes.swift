import Configuration
import Core
public import Events
import JSON
import Spotting

/// The topics of a hotword detector of Rhasspy and its relatives (the Hermes protocol), for one site.
///
/// A pure value. Detections are told at `hermes/hotword/WORD/detected`. `hermes/hotword/toggleOff` of its own site stops them and
/// `toggleOn` of the same reason starts them again: while several reasons hold, such as a dialogue and its speech, all must end.
///
/// Source: rhasspy-hermes 0.6.2, `rhasspyhermes/wake.py`.
public struct Hermes: Equatable, Sendable {
    public static let toggleOn = "hermes/hotword/toggleOn"
    public static let toggleOff = "hermes/hotword/toggleOff"
    /// Most reasons that are kept; there are four in the protocol.
    private static let mostReasons = 16

    private let site: String
    /// Why detections are not told now; empty if they are.
    private var reasons: Set<String> = []

    /// - Parameter site: the id of this device among those of a house, in Rhasspy `siteId`.
    public init(site: String) { self.site = site }

    /// Whether detections are told.
    public var isOn: Bool { reasons.isEmpty }

    /// The message of a word or a complete phrase; none for other events, and while it is off.
    ///
    /// - Parameter isTaught: whether the user taught the word.
    public func messages(for event: DetectionEvent, isTaught: Bool) -> [MQTTMessage] {
        guard isOn, event.kind == .word || event.kind == .phrase else { return [] }
        var payload: JSON = [
            "modelId": .string(event.name), "modelVersion": .string(version),
            "modelType": .string(isTaught ? "personal" : "universal"),
        ]
        // A sensitive detector has a low threshold.
        if let threshold = event.threshold { payload.append(["currentSensitivity": .number(1 - threshold, places: 3)]) }
        payload.append(["siteId": .string(site)])
        let topic = "hermes/hotword/\(MQTTIdentity.slug(event.name))/detected"
        return [MQTTMessage(topic, payload.description, isRetained: false)]
    }

    /// What a message of the two topics was.
    public enum Taken: Equatable, Sendable {
        /// One for this site, which has an effect.
        case done
        /// One for another site, or of another topic.
        case other
        case unreadable
    }

    /// Takes a message of its two topics; any other, one for another site, and one that cannot be read change nothing.
    @discardableResult
    public mutating func take(topic: String, payload: [UInt8]) -> Taken {
        guard topic == Self.toggleOn || topic == Self.toggleOff else { return .other }
        guard payload.count <= 1024,
            let json = String(validating: payload, as: UTF8.self), let node = try? JSONNode.parse(json), node.isObject
        else { return .unreadable }
        // What names no site means the site "default", as in Rhasspy.
        guard node["siteId"]?.text ?? "default" == site else { return .other }
        let reason = String((node["reason"]?.text ?? "").prefix(64))
        if topic == Self.toggleOn {
            reasons.remove(reason)
        } else if reasons.count < Self.mostReasons {
            reasons.insert(reason)
        }
        return .done
    }
}
