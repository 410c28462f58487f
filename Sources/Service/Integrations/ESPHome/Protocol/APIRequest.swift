import Core

/// What Home Assistant sends. Numbers of messages and fields are those of the protocol's version 1.10; fields that mean nothing here are
/// not read.
enum APIRequest: Equatable {
    case hello(client: String)
    case authentication
    case disconnect
    case ping
    case pong
    case deviceInfo
    case listEntities
    case subscribeStates
    case turn(key: UInt32, isOn: Bool)
    case number(key: UInt32, value: Float)
    case mediaPlayer(MediaCommand)
    case subscribeAssistant(Bool)
    case answered(isError: Bool)
    case event(AssistantEvent)
    case timer(TimerEvent)
    case announce(AnnounceRequest)
    /// The words that Home Assistant offers.
    case configuration([OfferedWord])
    case activate([String])
    case other

    /// Reads a message; one of an unknown type is `other`.
    init(type: Int, _ bytes: [UInt8]) throws(APIViolation) {
        switch type {
        case 1: self = .hello(client: try Self.field(1, bytes)?.text ?? "")
        case 3: self = .authentication
        case 5: self = .disconnect
        case 7: self = .ping
        case 8: self = .pong
        case 9: self = .deviceInfo
        case 11: self = .listEntities
        case 20: self = .subscribeStates
        case 33: self = .turn(key: try Self.key(bytes), isOn: try Self.field(2, bytes)?.isSet ?? false)
        case 51:
            let (key, value) = (try Self.key(bytes), try Self.field(2, bytes)?.float ?? 0)
            self = value.isFinite ? .number(key: key, value: value) : .other
        case 65: self = .mediaPlayer(try MediaCommand(bytes))
        case 89: self = .subscribeAssistant(try Self.field(1, bytes)?.isSet ?? false)
        case 91: self = .answered(isError: try Self.field(2, bytes)?.isSet ?? false)
        case 92: self = .event(try AssistantEvent(bytes))
        case 115: self = .timer(try TimerEvent(bytes))
        case 119: self = .announce(try AnnounceRequest(bytes))
        case 121:
            self = .configuration(
                try Self.fields(1, bytes) { field throws(APIViolation) in try OfferedWord(field.bytes) }
            )
        case 123: self = .activate(try Self.fields(1, bytes) { $0.text })
        default: self = .other
        }
    }

    private static func key(_ bytes: [UInt8]) throws(APIViolation) -> UInt32 { try field(1, bytes)?.fixed ?? 0 }

    /// The last field of a number, which counts.
    private static func field(_ number: Int, _ bytes: [UInt8]) throws(APIViolation) -> ProtobufReader.Field? {
        try fields(number, bytes) { $0 }.last
    }

    private static func fields<Value>(
        _ number: Int,
        _ bytes: [UInt8],
        _ read: (ProtobufReader.Field) throws(APIViolation) -> Value
    ) throws(APIViolation) -> [Value] {
        var reader = ProtobufReader(bytes[...])
        var values: [Value] = []
        while let field = try reader.next() {
            if field.number == number { values.append(try read(field)) }
        }
        return values
    }
}

/// What a media player shall do. A pure value.
struct MediaCommand: Equatable {
    enum Action: Int {
        case play = 0
        case pause, stop, mute, unmute, toggle, volumeUp, volumeDown
    }

    var key: UInt32 = 0
    var action: Action?
    /// 0…1.
    var volume: Float?
    /// The address of what shall be played.
    var media: String?
    /// Whether it is said into what is played.
    var isAnnouncement = false

    init() {}

    init(_ bytes: [UInt8]) throws(APIViolation) {
        var reader = ProtobufReader(bytes[...])
        var (hasAction, hasVolume, hasMedia) = (false, false, false)
        // Zero is not sent.
        (action, volume, media) = (.play, 0, "")
        while let field = try reader.next() {
            switch field.number {
            case 1: key = field.fixed
            case 2: hasAction = field.isSet
            case 3: action = Action(rawValue: field.integer)
            case 4: hasVolume = field.isSet
            case 5: volume = field.float.isFinite ? min(max(field.float, 0), 1) : 0
            case 6: hasMedia = field.isSet
            case 7: media = field.text
            case 9: isAnnouncement = field.isSet
            default: break
            }
        }
        if !hasAction { action = nil }
        if !hasVolume { volume = nil }
        if !hasMedia { media = nil }
    }
}

/// How far the assistant is with a command. A pure value.
struct AssistantEvent: Equatable {
    enum Kind: Int {
        case error = 0
        case runStart, runEnd, speechStart, speechEnd, intentStart, intentEnd, answerStart, answerEnd, wakeStart,
            wakeEnd, voiceStart, voiceEnd
        case progress = 100
    }

    /// Nil for one that is not known.
    var kind: Kind?
    /// Such as `url`, `code` or `continue_conversation`.
    var data: [String: String] = [:]

    init(_ kind: Kind, _ data: [String: String] = [:]) { (self.kind, self.data) = (kind, data) }

    init(_ bytes: [UInt8]) throws(APIViolation) {
        var reader = ProtobufReader(bytes[...])
        var number = 0
        while let field = try reader.next() {
            switch field.number {
            case 1: number = field.integer
            case 2:
                var (name, value) = ("", "")
                var inner = ProtobufReader(field.bytes)
                while let part = try inner.next() {
                    if part.number == 1 { name = part.text }
                    if part.number == 2 { value = part.text }
                }
                data[name] = value
            default: break
            }
        }
        kind = Kind(rawValue: number)
    }
}

/// What became of a timer that Home Assistant keeps for this device. A pure value.
struct TimerEvent: Equatable {
    enum Kind: Int {
        case started = 0
        case updated, cancelled, finished
    }

    var kind: Kind?
    var id = ""
    var name = ""
    /// All of it, and what is left, in seconds.
    var seconds = 0
    var left = 0
    /// Whether it runs.
    var isActive = false

    init(_ bytes: [UInt8]) throws(APIViolation) {
        var reader = ProtobufReader(bytes[...])
        var number = 0
        while let field = try reader.next() {
            switch field.number {
            case 1: number = field.integer
            case 2: id = field.text
            case 3: name = field.text
            case 4: seconds = field.integer
            case 5: left = field.integer
            case 6: isActive = field.isSet
            default: break
            }
        }
        kind = Kind(rawValue: number)
    }

    init(_ kind: Kind, id: String, left: Int = 0, isActive: Bool = true) {
        (self.kind, self.id, self.left, self.isActive) = (kind, id, left, isActive)
    }
}

/// Something that shall be said. A pure value.
struct AnnounceRequest: Equatable {
    /// The address of what is said, and of what is played before it; empty for none.
    var media = ""
    var before = ""
    /// Whether an answer is expected.
    var startsConversation = false

    init(media: String, before: String = "", startsConversation: Bool = false) {
        (self.media, self.before, self.startsConversation) = (media, before, startsConversation)
    }

    init(_ bytes: [UInt8]) throws(APIViolation) {
        var reader = ProtobufReader(bytes[...])
        while let field = try reader.next() {
            switch field.number {
            case 1: media = field.text
            case 3: before = field.text
            case 4: startsConversation = field.isSet
            default: break
            }
        }
    }
}

/// A wake word whose model Home Assistant offers. A pure value.
struct OfferedWord: Equatable {
    var id = ""
    var phrase = ""
    var languages: [String] = []
    /// Such as `micro`.
    var kind = ""
    /// Of the model, in bytes; its SHA-256 in hexadecimal digits; where it is.
    var size = 0
    var hash = ""
    var address = ""

    init(_ bytes: ArraySlice<UInt8>) throws(APIViolation) {
        var reader = ProtobufReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: id = field.text
            case 2: phrase = field.text
            case 3: languages.append(field.text)
            case 4: kind = field.text
            case 5: size = field.integer
            case 6: hash = field.text
            case 7: address = field.text
            default: break
            }
        }
    }
}
