import Core

/// What Home Assistant shows on the device's page: each entity with its message for the list, and with that of its state.
///
/// A pure value, made anew from the state of the service; what has changed is sent.
struct DeviceEntities: Equatable {
    /// What the entities show.
    struct State: Equatable {
        struct Word: Equatable {
            var name: String
            /// Nil for one whose threshold changes with sessions.
            var threshold: Float?
        }

        var words: [Word] = []
        /// Nil where there is no microphone to mute.
        var isMuted: Bool?
        /// In dB below full scale; nil without audio.
        var level: Double?
        var lastWord: String?
        /// Of the last word, in dB.
        var ratio: Double?
        /// Nil without a speaker.
        var player: Player?
    }

    struct Player: Equatable {
        enum State {
            case idle, playing, paused, announcing

            /// As the protocol numbers it. Who announces plays, as devices with ESPHome say: Home Assistant knows no state for that.
            var number: Int {
                switch self {
                case .idle: 1
                case .playing, .announcing: 2
                case .paused: 3
                }
            }
        }

        var state = State.idle
        /// 0…1.
        var volume: Float = 1
        var isMuted = false
    }

    /// What a client may change.
    enum Target: Equatable {
        case mute
        case player
        case threshold(String)
    }

    /// What can be shown of so many words; a house has few.
    private static let mostWords = 64

    private(set) var list: [APIAnswer] = []
    /// By the entity's key, in the order of the list.
    private(set) var states: [(key: UInt32, answer: APIAnswer)] = []
    private var targets: [UInt32: Target] = [:]

    static func == (left: DeviceEntities, right: DeviceEntities) -> Bool {
        left.list == right.list && left.states.map(\.answer) == right.states.map(\.answer)
    }

    init(_ state: State) {
        if let isMuted = state.isMuted {
            add("mute", "Mute", .mute, list: 17, icon: "mdi:microphone-off", category: (8, 1), state: 26) { _ in
            } write: {
                $0.add(2, isMuted)
            }
        }
        if let player = state.player {
            add("speaker", "Speaker", .player, list: 63, icon: "mdi:speaker", category: nil, state: 64) { writer in
                writer.add(8, true)
            } write: { writer in
                writer.add(2, player.state.number)
                writer.add(3, player.volume)
                writer.add(4, player.isMuted)
            }
        }
        addSensors(state)
        for word in state.words.prefix(Self.mostWords) {
            guard let threshold = word.threshold else { continue }
            let slug = DeviceIdentity.name(from: word.name).replacing("-", with: "_")
            add(
                "threshold_\(slug)",
                "Threshold \(word.name)",
                .threshold(word.name),
                list: 49,
                icon: "mdi:tune",
                category: (10, 1),
                state: 50
            ) { writer in
                writer.add(6, Float(0.001))
                writer.add(7, Float(0.999))
                writer.add(8, Float(0.001))
                writer.add(12, 2)
            } write: {
                $0.add(2, threshold)
            }
        }
    }

    private mutating func addSensors(_ state: State) {
        add("last_word", "Last word", nil, list: 18, icon: "mdi:account-voice", category: nil, state: 27) { _ in
        } write: { writer in
            writer.add(2, state.lastWord ?? "")
            writer.add(3, state.lastWord == nil)
        }
        let levels: [(id: String, name: String, value: Double?)] = [
            ("microphone_level", "Microphone level", state.level),
            ("last_word_snr", "Last word, above noise", state.ratio),
        ]
        for (id, name, value) in levels {
            add(id, name, nil, list: 16, icon: "", category: (13, 2), state: 25) { writer in
                writer.add(6, "dB")
                // A measurement.
                writer.add(10, 1)
            } write: { writer in
                writer.add(2, Float(value ?? 0))
                writer.add(3, value == nil)
            }
        }
    }

    /// - Parameters:
    ///   - list: the type of the message for the list.
    ///   - category: the field of the entity's category in it, and the category.
    ///   - describe: what the list says besides.
    ///   - state: the type of the message with the state.
    private mutating func add(
        _ id: String,
        _ name: String,
        _ target: Target?,
        list type: Int,
        icon: String,
        category: (field: Int, value: Int)?,
        state stateType: Int,
        _ describe: (inout ProtobufWriter) -> Void,
        write: (inout ProtobufWriter) -> Void
    ) {
        let key = Self.key(id)
        // Words that differ in their signs only.
        guard !states.contains(where: { $0.key == key }) else { return }
        list.append(
            APIAnswer(type) { writer in
                writer.add(1, id)
                writer.add(2, fixed: key)
                writer.add(3, name)
                writer.add(5, icon)
                if let category { writer.add(category.field, category.value) }
                describe(&writer)
            }
        )
        states.append(
            (
                key,
                APIAnswer(stateType) { writer in
                    writer.add(1, fixed: key)
                    write(&writer)
                }
            )
        )
        targets[key] = target
    }

    /// What a client may change by this key.
    func target(_ key: UInt32) -> Target? { targets[key] }

    /// FNV-1 of an id, as ESPHome makes its keys.
    static func key(_ id: String) -> UInt32 { id.utf8.reduce(2_166_136_261) { ($0 &* 16_777_619) ^ UInt32($1) } }
}
