import Audio
import Configuration
import Core
import Events
import Inference
import IntegrationInterface
import JSON
import Spotting

/// What open pages show of the service's own audio, or of that of a client: the newest state, the last events, the sound's picture. Each page has a place of its own in it, so that a
/// slow one misses states, and delays nobody. Used by the server's thread.
///
/// Messages are server-sent events with JSON: `service` (words, thresholds), `state` (level, scores), `heard` (an event), `sound`,
/// `misses` (the list of near misses has grown).
final class LiveFeed {
    /// What a page has got so far.
    struct Place {
        fileprivate var service = 0
        fileprivate var state = 0
        fileprivate var event: Int
        fileprivate var hop = 0
        fileprivate var misses: Int
    }

    /// A word or phrase, and why the device does not act on it; nil where it does.
    struct Event: Sendable {
        let event: DetectionEvent
        let withheld: WithheldReason?

        init(_ event: DetectionEvent, _ reason: WithheldReason? = nil) { (self.event, withheld) = (event, reason) }

        fileprivate var json: JSON { withheld.map { event.json(withheld: $0) } ?? event.json }
    }

    /// Time between two states.
    static let interval = Duration.milliseconds(100)
    /// Events that a new page gets.
    private static let keptEvents = 20
    /// Scores below this are not sent, and at most this many: there may be hundreds of words.
    private static let leastScore: Float = 0.005
    private static let mostScores = 32
    /// The settings change seldom: looked at once in so many states.
    private static let settingsPeriod = 5

    private let service: any Service
    /// The client whose audio it shows; nil for the service's own.
    private let client: Int?
    /// Pages that show it.
    var pages = 0
    private var settings = (number: 0, text: "")
    private var state = (number: 0, text: "")
    private var events: [String] = []
    /// Number of the next event.
    private var eventCount = 0
    /// Detected and nearly detected words so far.
    private var missCount = 0
    /// The number of the newest word of a client.
    private var newestOfClients = 0
    private var sound: SoundPicture?
    private var model: ObjectIdentifier?

    /// - Parameter other: one that has the last events; nil for none.
    init(_ service: any Service, client: Int? = nil, after other: LiveFeed? = nil) {
        (self.service, self.client) = (service, client)
        guard let other else { return }
        (events, eventCount, missCount) = (other.events, other.events.count, other.missCount)
    }

    /// What it shows, and its sound; of a client that is gone nothing.
    private var shown: (live: LiveState, history: AudioHistory?) {
        guard let client else { return (service.live, service.history) }
        guard let shown = service.live(ofClient: client) else {
            var live = LiveState()
            live.problem = "this client is gone"
            return (live, nil)
        }
        return (shown.state, shown.history)
    }

    /// The place of a new page: it gets the last events and the last seconds of sound.
    var start: Place { Place(event: eventCount - events.count, misses: missCount) }

    /// Keeps an event for the pages.
    func add(_ event: Event) {
        let kind = event.event.kind
        if event.withheld == nil, kind == .word || kind == .nearMiss { missCount += 1 }
        guard kind != .nearMiss else { return }
        events.append("\(event.json)")
        if events.count > Self.keptEvents { events.removeFirst() }
        eventCount += 1
    }

    /// Looks at the service. Called every ``interval`` while a page is open.
    func advance() {
        let shown = shown
        if state.number % Self.settingsPeriod == 0 {
            let text = "\(describe(shown.live))"
            if text != settings.text { settings = (settings.number + 1, text) }
            follow(service.currentSettings.vocabulary, shown.history)
            let newest = service.clientWords?.last?.number ?? 0
            if newest != newestOfClients { missCount += 1 }
            newestOfClients = newest
        }
        state = (state.number + 1, "\(describeState(shown.live))")
        if let history = shown.history { sound?.advance(history) }
    }

    /// Forgets the picture while no page is open.
    func rest() {
        sound = nil
        model = nil
        state.number = 0
        settings = (0, "")
    }

    private func follow(_ vocabulary: Vocabulary, _ history: AudioHistory?) {
        guard let history, model != ObjectIdentifier(vocabulary.model) else { return }
        model = ObjectIdentifier(vocabulary.model)
        let newest = history.count / AudioFormat.hopSamples
        sound = SoundPicture(vocabulary.model, from: max(0, newest - AudioHistory.seconds * 10))
    }

    /// Whether there is something after a place.
    func hasMore(after place: Place) -> Bool {
        place.service != settings.number || place.state != state.number || place.event < eventCount
            || place.misses != missCount
    }

    /// The messages after a place, which moves on; empty if there are none.
    func messages(after place: inout Place, withSound: Bool) -> [UInt8] {
        var text = ""
        func add(_ event: String, _ data: String) { text += "event: \(event)\ndata: \(data)\n\n" }
        if place.service != settings.number {
            place.service = settings.number
            add("service", settings.text)
        }
        // Before the events, which are marked in it.
        if withSound { addSound(&place, add) }
        place.event = max(place.event, eventCount - events.count)
        for event in events.suffix(eventCount - place.event) { add("heard", event) }
        place.event = eventCount
        if place.misses != missCount {
            place.misses = missCount
            // What they are is asked for, by those who may.
            add("misses", "{}")
        }
        if place.state != state.number {
            place.state = state.number
            // The last: an event after it has come since the page was opened.
            add("state", state.text)
        }
        return Array(text.utf8)
    }

    private func addSound(_ place: inout Place, _ add: (_ event: String, _ data: String) -> Void) {
        guard let sound else { return }
        let (first, bytes) = sound.columns(from: place.hop)
        if !bytes.isEmpty {
            let data: JSON = [
                "first": .number(first * sound.columns), "bands": .number(sound.bands),
                "columnSeconds": .number(AudioFormat.hopSeconds / Double(sound.columns), places: 6),
                "data": .string(base64(bytes)),
            ]
            add("sound", "\(data)")
        }
        place.hop = first + bytes.count / max(1, sound.columns * (2 + sound.bands) * 2)
    }

    /// What changes seldom.
    private func describe(_ live: LiveState) -> JSON {
        let settings = service.currentSettings
        return [
            "version": .string(version), "machine": .string(service.name),
            "model": .string(settings.vocabulary.model.name),
            "mode": .string(settings.configuration.gate.mode.rawValue),
            "confirm": .string(live.confirmation.rawValue),
            "missing": .strings(settings.vocabulary.missing.map { "\(printable($0.word)): \(printable($0.reason))" }),
            "phrases": .strings(settings.configuration.phrases.map(\.name)),
            "microphone": .bool(service.history != nil),
            "clients": .array((service.clients ?? []).map(\.json)),
            "classes": .array(
                live.classes.map { one in
                    [
                        "name": .string(one.name), "kind": .string(one.kind.rawValue),
                        "threshold": one.threshold.map { .number($0, places: 3) } ?? .null,
                        "inSession": .bool(one.isInSession),
                    ]
                }
            ),
        ]
    }

    private func describeState(_ live: LiveState) -> JSON {
        let scores = live.classes.map(\.score).enumerated().filter { $0.element >= Self.leastScore }
            .sorted { $0.element > $1.element }.prefix(Self.mostScores)
        var json: JSON = [
            "source": .string(live.source), "problem": .optional(live.problem),
            "muted": live.isMuted.map { .bool($0) } ?? .null, "session": .optional(live.session),
            "position": live.position.map { .number($0, places: 1) } ?? .null,
            "level": .number(live.level, places: 1), "peak": .number(live.peak, places: 1),
            "scores": .array(scores.map { .array([.number($0.offset), .number($0.element, places: 3)]) }),
        ]
        if let echo = live.echoReduction { json.append(["echo": .number(echo, places: 1)]) }
        return json
    }
}
