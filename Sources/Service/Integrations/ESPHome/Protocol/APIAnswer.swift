/// A message to Home Assistant: its type and its bytes. Numbers are those of the protocol's version 1.10.
struct APIAnswer: Equatable {
    let type: Int
    let bytes: [UInt8]

    init(_ type: Int, _ write: (inout ProtobufWriter) -> Void = { _ in }) {
        var writer = ProtobufWriter()
        write(&writer)
        (self.type, bytes) = (type, writer.bytes)
    }

    static func hello(_ device: DeviceIdentity) -> APIAnswer {
        APIAnswer(2) { writer in
            writer.add(1, 1)
            writer.add(2, 10)
            writer.add(3, "Beckon \(device.version)")
            writer.add(4, device.name)
        }
    }

    /// There is no password: what keeps others out is the key.
    static let authenticated = APIAnswer(4)
    static let disconnect = APIAnswer(5)
    static let disconnected = APIAnswer(6)
    static let ping = APIAnswer(7)
    static let pong = APIAnswer(8)

    static func deviceInfo(_ device: DeviceIdentity) -> APIAnswer {
        APIAnswer(10) { writer in
            writer.add(2, device.name)
            writer.add(3, device.address)
            writer.add(4, device.version)
            writer.add(6, "Voice satellite on Linux")
            writer.add(12, "Beckon")
            writer.add(13, device.title)
            writer.add(17, device.features)
            writer.add(19, device.isEncrypted)
        }
    }

    static let listDone = APIAnswer(19)

    /// A wake word was said, or somebody may answer without one: what follows is a command.
    static func start(_ phrase: String) -> APIAnswer {
        APIAnswer(90) { writer in
            writer.add(1, true)
            // Home Assistant finds the end of the command.
            writer.add(3, 1)
            writer.add(5, phrase)
        }
    }

    /// The command is not wanted any more.
    static let abort = APIAnswer(90)

    static func audio(_ samples: [Float]) -> APIAnswer {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(2 * samples.count)
        for sample in samples {
            let value = sample.isNaN ? 0 : Int16(max(-32_768, min(32_767, (sample * 32_768).rounded())))
            bytes.append(UInt8(truncatingIfNeeded: value))
            bytes.append(UInt8(truncatingIfNeeded: value >> 8))
        }
        return APIAnswer(106) { $0.add(1, bytes) }
    }

    /// There is no more audio of this command.
    static let audioEnd = APIAnswer(106) { $0.add(2, true) }

    static func played(_ isWhole: Bool) -> APIAnswer { APIAnswer(120) { $0.add(1, isWhole) } }

    /// The words that can be chosen, and those that are.
    static func configuration(_ words: [AssistantWord], active: [String], most: Int) -> APIAnswer {
        APIAnswer(122) { writer in
            for word in words {
                writer.add(1) { writer in
                    writer.add(1, word.id)
                    writer.add(2, word.phrase)
                    for language in word.languages { writer.always(3, Array(language.utf8)) }
                }
            }
            for id in active { writer.always(2, Array(id.utf8)) }
            writer.add(3, most)
        }
    }
}

/// What Home Assistant knows the device by. A pure value.
struct DeviceIdentity: Equatable, Sendable {
    /// What it can do, as the protocol numbers it.
    struct Features: OptionSet {
        let rawValue: Int

        static let assistant = Features(rawValue: 1)
        static let sendsAudio = Features(rawValue: 4)
        static let timers = Features(rawValue: 8)
        static let announcements = Features(rawValue: 16)
        static let startsConversations = Features(rawValue: 32)
    }

    /// Lower-case letters, digits and hyphens; also the name of its service by mDNS.
    var name: String
    /// As people read it.
    var title: String
    /// In the form of an Ethernet address; Home Assistant recognises the device by it.
    var address: String
    var version: String
    var isEncrypted: Bool
    /// Whether answers and announcements can be played.
    var plays: Bool

    var features: Int {
        var features: Features = [.assistant, .sendsAudio]
        if plays { features.formUnion([.timers, .announcements, .startsConversations]) }
        return features.rawValue
    }

    /// A name that the protocol allows, from any text.
    static func name(from text: String) -> String {
        let letters = text.lowercased().unicodeScalars.map { scalar in
            switch scalar {
            case "a"..."z", "0"..."9": Character(scalar)
            default: "-" as Character
            }
        }
        let name = String(letters).split(separator: "-").joined(separator: "-")
        return String(name.prefix(31))
    }
}

/// A word or phrase that can start a command. A pure value.
struct AssistantWord: Equatable, Sendable {
    /// As the service's events name it.
    var id: String
    /// As people say it.
    var phrase: String
    var languages: [String] = []
}
