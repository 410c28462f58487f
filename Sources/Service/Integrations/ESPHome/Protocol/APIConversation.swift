import Network

/// What is said with one client: bytes in, bytes out, and in between requests and answers.
///
/// It answers by itself what needs nothing but the device's identity; its owner takes the other requests.
final class APIConversation: Conversation {
    private enum Security {
        case plain
        /// Nothing was said yet.
        case hello
        case handshake(NoiseHandshake)
        case ready(receive: NoiseCipher, send: NoiseCipher)
    }

    /// Bytes of output from which on no input is read.
    private static let mostOutput = 64 << 10
    /// Requests of a turn, so that whatever a client asks for, the next one's turn comes soon.
    private static let mostRequests = 32

    var output: [UInt8] = []
    private(set) var events = 0
    private let device: DeviceIdentity
    private let key: [UInt8]?
    private var parser: FrameParser
    private var security: Security
    private var left = mostRequests
    private var requests: [APIRequest] = []
    /// Whether the client has said what it is: only then it may ask for more.
    private(set) var hasIntroduced = false
    /// Whether it wants to know the states of entities.
    private(set) var wantsStates = false
    /// Whether it wants to hear commands.
    private(set) var wantsAssistant = false
    /// How often the client has said that it is there.
    private(set) var signs = 0
    /// Whether it has said that it leaves.
    private(set) var isLeaving = false
    /// Whether it has tried another key, or none.
    private(set) var hasWrongKey = false
    /// What was sent to it last of each entity, by its key.
    var known: [UInt32: APIAnswer] = [:]

    /// - Parameter key: of 32 bytes; nil: nothing is encrypted.
    init(_ device: DeviceIdentity, key: [UInt8]?) {
        (self.device, self.key) = (device, key)
        parser = FrameParser(isEncrypted: key != nil)
        security = key == nil ? .plain : .hello
    }

    var isWithinEvent: Bool { parser.isWithinFrame || !hasIntroduced }

    /// Begins the client's next turn.
    func beginTurn() { left = Self.mostRequests }

    /// What the owner has to answer, in its order.
    func takeRequests() -> [APIRequest] {
        defer { requests = [] }
        return requests
    }

    /// Uses bytes of the client, as far as its turn goes.
    ///
    /// - Parameter input: what was used is removed from its beginning.
    func advance(_ input: inout UnsafeBufferPointer<UInt8>) -> ConversationPause {
        do throws(APIViolation) {
            while true {
                guard output.count < Self.mostOutput else { return .output }
                guard left > 0 else { return .turn }
                guard let frame = try parser.next(&input) else { return .needsInput }
                try take(frame)
                if isLeaving { return .end }
            }
        } catch {
            refuse(error)
            return .end
        }
    }

    /// Tells the client why it is not served, as devices with ESPHome do. One that is encrypted already needs no reason.
    private func refuse(_ violation: APIViolation) {
        let reason = Array(violation.description.utf8)
        switch security {
        case .plain: if !hasIntroduced { output += [0] + reason }
        case .hello, .handshake:
            hasWrongKey = true
            output += FrameParser.encrypted([1] + reason)
        case .ready: break
        }
    }

    private func take(_ frame: FrameParser.Frame) throws(APIViolation) {
        switch security {
        case .plain: try take(frame.type ?? 0, frame.bytes)
        case .hello:
            guard let key, let sodium = Sodium.loaded else { throw APIViolation("no encryption is possible here") }
            let count = frame.bytes.count
            let prologue =
                Array("NoiseAPIInit".utf8) + [UInt8(count >> 8), UInt8(truncatingIfNeeded: count)] + frame.bytes
            security = .handshake(NoiseHandshake(sodium, key: key, prologue: prologue))
            // The protocol that was chosen, and who this is.
            let identity = Array(device.name.utf8) + [0] + Array(device.plainAddress.utf8) + [0]
            output += FrameParser.encrypted([1] + identity)
        case .handshake(var handshake):
            guard frame.bytes.first == 0 else { throw APIViolation("Bad handshake error byte") }
            guard handshake.read(Array(frame.bytes.dropFirst())), let answer = handshake.write() else {
                throw APIViolation("Handshake MAC failure")
            }
            output += FrameParser.encrypted([0] + answer)
            let (receive, send) = handshake.split()
            security = .ready(receive: receive, send: send)
        case .ready(var receive, let send):
            guard let message = receive.decrypt(frame.bytes) else {
                throw APIViolation("a message cannot be decrypted")
            }
            security = .ready(receive: receive, send: send)
            guard message.count >= 4 else { throw APIViolation("a message is too short") }
            let count = Int(message[2]) << 8 | Int(message[3])
            guard count <= message.count - 4 else { throw APIViolation("a message is longer than its frame") }
            try take(Int(message[0]) << 8 | Int(message[1]), Array(message[4..<4 + count]))
        }
    }

    private func take(_ type: Int, _ bytes: [UInt8]) throws(APIViolation) {
        let request = try APIRequest(type: type, bytes)
        guard hasIntroduced || Self.isFirst(request) else { throw APIViolation("the first message is not a greeting") }
        events += 1
        signs += 1
        left -= 1
        switch request {
        case .hello:
            hasIntroduced = true
            send(.hello(device))
        case .authentication: send(.authenticated)
        case .disconnect:
            send(.disconnected)
            isLeaving = true
        case .ping: send(.pong)
        case .deviceInfo: send(.deviceInfo(device))
        case .subscribeStates:
            wantsStates = true
            known = [:]
        case .subscribeAssistant(let isWanted):
            wantsAssistant = isWanted
            requests.append(request)
        case .pong, .other: break
        case .listEntities, .configuration:
            // Kilobytes for some bytes.
            left -= 15
            requests.append(request)
        case .turn, .number, .mediaPlayer, .answered, .event, .timer, .announce, .activate: requests.append(request)
        }
    }

    /// What may be said before a greeting.
    private static func isFirst(_ request: APIRequest) -> Bool {
        switch request {
        case .hello, .disconnect: true
        default: false
        }
    }

    /// Sends a message, encrypted where the connection is.
    func send(_ answer: APIAnswer) {
        switch security {
        case .plain: output += FrameParser.plain(answer.type, answer.bytes)
        case .ready(let receive, var send):
            let count = answer.bytes.count
            guard count + 4 + Sodium.tagSize <= FrameParser.longest else { return }
            let header = [answer.type >> 8, answer.type, count >> 8, count].map { UInt8(truncatingIfNeeded: $0) }
            output += FrameParser.encrypted(send.encrypt(header + answer.bytes))
            security = .ready(receive: receive, send: send)
        case .hello, .handshake: break
        }
    }

    /// Whether it reads what it is sent: others get no more than they must.
    var isKeepingUp: Bool { output.count < Self.mostOutput / 4 }
}

extension DeviceIdentity {
    /// The address without colons, in lower case, as mDNS and the greeting of encrypted connections have it.
    var plainAddress: String { address.lowercased().filter { $0 != ":" } }
}
