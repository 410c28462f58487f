import Core
import Foundation
import Network
import Testing

@testable import ESPHome

/// Bytes of a text in hexadecimal digits.
func hex(_ text: String) -> [UInt8] {
    let digits = text.filter(\.isHexDigit)
    return stride(from: 0, to: digits.count, by: 2).compactMap { place in
        let start = digits.index(digits.startIndex, offsetBy: place)
        return UInt8(digits[start..<digits.index(start, offsetBy: 2)], radix: 16)
    }
}

struct ProtobufTests {
    @Test func `numbers, texts and messages are written as the format has them`() {
        let table: [(write: (inout ProtobufWriter) -> Void, bytes: String)] = [
            ({ $0.add(1, 150) }, "08 96 01"), ({ $0.add(2, "testing") }, "12 07 74 65 73 74 69 6e 67"),
            ({ $0.add(3) { $0.add(1, 150) } }, "1a 03 08 96 01"), ({ $0.add(1, true) }, "08 01"),
            ({ $0.add(1, 0) }, ""), ({ $0.add(1, "") }, ""), ({ $0.add(1, false) }, ""),
            ({ $0.always(1, []) }, "0a 00"),
            ({ $0.add(2, fixed: 0x0102_0304) }, "15 04 03 02 01"), ({ $0.add(16, Float(1)) }, "85 01 00 00 80 3f"),
            ({ $0.add(1, Float(0)) }, ""),
        ]
        for (write, bytes) in table {
            var writer = ProtobufWriter()
            write(&writer)
            #expect(writer.bytes == hex(bytes), "\(bytes)")
        }
    }

    @Test func `fields are read, and values of another kind are zero`() throws {
        var reader = ProtobufReader(
            hex("08 96 01  12 03 61 ff 62  1d 00 00 80 3f  21 01 02 03 04 05 06 07 08  28 ffffffffffffffffff01")[...]
        )
        var fields: [ProtobufReader.Field] = []
        while let field = try reader.next() { fields.append(field) }
        #expect(fields.map(\.number) == [1, 2, 3, 4, 5])
        #expect(fields.map(\.integer) == [150, 0, 0, 0, Int(Int32.max)])
        #expect(fields.map(\.text) == ["", "a\u{FFFD}b", "", "", ""])
        #expect(fields.map(\.float) == [0, 0, 1, 0, 0])
    }

    @Test(arguments: [
        "08", "08 96", "12 05 61", "12 ff ff ff ff ff ff ff ff ff 01", "0d 01 02 03", "09 01 02 03 04 05 06 07", "0b",
        "0c", "0e", "00 01", "07",
        "80 80 80 80 80 80 80 80 80 80 01", "08 ff ff ff ff ff ff ff ff ff ff ff 01",
    ])
    func `bytes that are no message are an error`(_ text: String) {
        #expect(throws: APIViolation.self) {
            var reader = ProtobufReader(hex(text)[...])
            while try reader.next() != nil {}
        }
    }

    @Test func `requests are read from the bytes of their fields`() throws {
        let table: [(type: Int, bytes: String, request: APIRequest)] = [
            (1, "0a 02 48 41 10 01 18 0a", .hello(client: "HA")), (7, "", .ping), (9, "", .deviceInfo),
            (20, "", .subscribeStates),
            (33, "0d 01 00 00 00 10 01", .turn(key: 1, isOn: true)), (33, "0d 01 00 00 00", .turn(key: 1, isOn: false)),
            (51, "0d 02 00 00 00 15 00 00 00 3f", .number(key: 2, value: 0.5)),
            (89, "08 01 10 01", .subscribeAssistant(true)),
            (89, "", .subscribeAssistant(false)), (91, "", .answered(isError: false)),
            (91, "10 01", .answered(isError: true)),
            (
                92, "08 06 12 1c 0a 15 636f6e74696e75655f636f6e766572736174696f6e 12 01 31".replacing("1c", with: "1a"),
                .event(AssistantEvent(.intentEnd, ["continue_conversation": "1"]))
            ),
            (123, "0a 04 73746f70 0a 01 61", .activate(["stop", "a"])), (4000, "ff", .other),
            (
                119, "0a 01 61 1a 01 62 20 01",
                .announce(AnnounceRequest(media: "a", before: "b", startsConversation: true))
            ),
        ]
        for (type, bytes, request) in table {
            #expect(try APIRequest(type: type, hex(bytes)) == request, "\(type) \(bytes)")
        }
        var media = MediaCommand()
        (media.key, media.volume) = (9, 1)
        #expect(try APIRequest(type: 65, hex("0d 09 00 00 00 20 01 2d 00 00 80 41")) == .mediaPlayer(media))
        media.volume = 0
        // A volume that is not a number.
        #expect(try APIRequest(type: 65, hex("0d 09 00 00 00 20 01 2d 00 00 c0 7f")) == .mediaPlayer(media))
        #expect(try APIRequest(type: 51, hex("0d 09 00 00 00 15 00 00 c0 7f")) == .other)
    }
}

struct FrameTests {
    /// The frames in bytes that come in these pieces.
    static func read(_ bytes: [UInt8], isEncrypted: Bool = false, piece: Int = .max) throws -> [FrameParser.Frame] {
        var parser = FrameParser(isEncrypted: isEncrypted)
        var frames: [FrameParser.Frame] = []
        for start in stride(from: 0, to: bytes.count, by: min(piece, max(1, bytes.count))) {
            try bytes[start..<min(bytes.count, start + min(piece, bytes.count))].withUnsafeBufferPointer { part in
                var input = part
                while let frame = try parser.next(&input) { frames.append(frame) }
                #expect(input.isEmpty)
            }
        }
        #expect(!parser.isWithinFrame)
        return frames
    }

    @Test func `frames are the same however their bytes are divided`() throws {
        let long = [UInt8](repeating: 7, count: 300)
        let plain = FrameParser.plain(7, []) + FrameParser.plain(300, long) + FrameParser.plain(1, [0, 0, 1])
        let encrypted = FrameParser.encrypted([]) + FrameParser.encrypted(long) + FrameParser.encrypted([1])
        for piece in [1, 2, 3, 7, .max] {
            #expect(
                try Self.read(plain, piece: piece)
                    == [.init(type: 7, bytes: []), .init(type: 300, bytes: long), .init(type: 1, bytes: [0, 0, 1])]
            )
            #expect(
                try Self.read(encrypted, isEncrypted: true, piece: piece)
                    == [.init(bytes: []), .init(bytes: long), .init(bytes: [1])]
            )
        }
    }

    @Test(arguments: [
        ("01 00 00", false), ("00 00 07", true), ("ff", false), ("00 80 80 04 07", false),
        ("00 ff ff ff ff 0f 07", false),
        ("00 00 ff ff ff ff", false),
    ])
    func `a wrong marker or length is an error`(_ text: String, _ isEncrypted: Bool) {
        #expect(throws: APIViolation.self) { try Self.read(hex(text), isEncrypted: isEncrypted) }
    }
}

/// The other end of an encrypted connection, as a client makes it.
struct NoiseClient {
    let sodium: Sodium
    private var chainingKey: [UInt8]
    private var hash: [UInt8]
    private var temporary: [UInt8] = []
    private let secret: [UInt8]
    private let psk: [UInt8]

    init(_ sodium: Sodium, key: [UInt8], prologue: [UInt8] = Array("NoiseAPIInit\0\0".utf8)) {
        (self.sodium, psk) = (sodium, key)
        hash = sodium.hash(Array("Noise_NNpsk0_25519_ChaChaPoly_SHA256".utf8))
        chainingKey = hash
        secret = sodium.random(32)
        hash = sodium.hash(hash + prologue)
    }

    private func derive(_ material: [UInt8]) -> [[UInt8]] {
        let key = sodium.authenticate(material, key: chainingKey)
        var results: [[UInt8]] = []
        for number in 1...3 { results.append(sodium.authenticate((results.last ?? []) + [UInt8(number)], key: key)) }
        return results
    }

    mutating func write() -> [UInt8] {
        let mixed = derive(psk)
        chainingKey = mixed[0]
        hash = sodium.hash(hash + mixed[1])
        let own = sodium.publicKey(of: secret)
        hash = sodium.hash(hash + own)
        (chainingKey, temporary) = { ($0[0], $0[1]) }(derive(own))
        var cipher = NoiseCipher(sodium, key: temporary)
        let payload = cipher.encrypt([], and: hash)
        hash = sodium.hash(hash + payload)
        return own + payload
    }

    mutating func read(_ message: [UInt8]) -> (send: NoiseCipher, receive: NoiseCipher)? {
        let theirs = Array(message.prefix(32))
        hash = sodium.hash(hash + theirs)
        chainingKey = derive(theirs)[0]
        guard let shared = sodium.agree(secret, with: theirs) else { return nil }
        (chainingKey, temporary) = { ($0[0], $0[1]) }(derive(shared))
        var cipher = NoiseCipher(sodium, key: temporary)
        guard cipher.decrypt(Array(message.dropFirst(32)), and: hash) != nil else { return nil }
        let keys = derive([])
        return (NoiseCipher(sodium, key: keys[0]), NoiseCipher(sodium, key: keys[1]))
    }
}

struct ConversationTests {
    static let device = DeviceIdentity(
        name: "kitchen",
        title: "Kitchen",
        address: "02:AB:00:11:22:33",
        version: "1",
        isEncrypted: true,
        plays: true
    )

    /// What a conversation answers to bytes in pieces.
    static func send(_ bytes: [UInt8], to conversation: APIConversation, piece: Int = .max) -> ConversationPause {
        var pause = ConversationPause.needsInput
        var rest = bytes[...]
        while !rest.isEmpty, pause == .needsInput {
            let part = rest.prefix(piece)
            rest = rest.dropFirst(piece)
            part.withUnsafeBufferPointer { part in
                var input = part
                repeat {
                    if pause == .turn { conversation.beginTurn() }
                    pause = conversation.advance(&input)
                } while pause == .turn
            }
        }
        return pause
    }

    static let hello = FrameParser.plain(1, hex("0a 02 48 41"))

    @Test func `a greeting is answered by the device's name, and comes first`() throws {
        let conversation = APIConversation(Self.device, key: nil)
        #expect(
            Self.send(Self.hello + FrameParser.plain(7, []) + FrameParser.plain(3, []), to: conversation) == .needsInput
        )
        let frames = try FrameTests.read(conversation.output)
        #expect(frames.map(\.type) == [2, 8, 4])
        #expect(frames[0].bytes == APIAnswer.hello(Self.device).bytes)
        #expect(!conversation.isWithinEvent && conversation.events == 3)
        for type in [7, 9, 11, 20, 89, 92, 4000] {
            let conversation = APIConversation(Self.device, key: nil)
            #expect(Self.send(FrameParser.plain(type, []), to: conversation) == .end, "\(type)")
            #expect(conversation.takeRequests().isEmpty)
        }
    }

    @Test func `a client without encryption is told that it is needed, and the other way round`() {
        let encrypted = APIConversation(Self.device, key: [UInt8](repeating: 1, count: 32))
        #expect(Self.send(Self.hello, to: encrypted) == .end && encrypted.hasWrongKey)
        #expect(encrypted.output == FrameParser.encrypted([1] + Array("Bad indicator byte".utf8)))
        let plain = APIConversation(Self.device, key: nil)
        #expect(Self.send(FrameParser.encrypted([]), to: plain) == .end)
        #expect(plain.output == [0] + Array("Bad indicator byte".utf8))
    }

    /// A conversation and its client after the handshake; nil ciphers where it failed, with the last frame.
    static func shakeHands(
        _ sodium: Sodium,
        key: [UInt8],
        own: [UInt8],
        piece: Int = .max
    ) throws -> (conversation: APIConversation, ciphers: (send: NoiseCipher, receive: NoiseCipher)?, frames: [[UInt8]])
    {
        let conversation = APIConversation(device, key: key)
        var client = NoiseClient(sodium, key: own)
        let first = FrameParser.encrypted([]) + FrameParser.encrypted([0] + client.write())
        let pause = send(first, to: conversation, piece: piece)
        #expect(pause == (own == key ? .needsInput : .end))
        let frames = try FrameTests.read(conversation.output, isEncrypted: true).map(\.bytes)
        conversation.output = []
        let ciphers = frames.last?.first == 0 ? client.read(Array(frames.last?.dropFirst() ?? [])) : nil
        return (conversation, ciphers, frames)
    }

    @Test(arguments: [1, 5, .max])
    func `an encrypted connection needs the key`(_ piece: Int) throws {
        let sodium = try #require(Sodium.loaded)
        let key = sodium.random(32)
        let (conversation, ciphers, frames) = try Self.shakeHands(sodium, key: key, own: key, piece: piece)
        #expect(frames.first == [1] + Array("kitchen".utf8) + [0] + Array("02ab00112233".utf8) + [0])
        var (send, receive) = try #require(ciphers)
        let ping =
            FrameParser.encrypted(send.encrypt([0, 1, 0, 0])) + FrameParser.encrypted(send.encrypt([0, 7, 0, 0]))
        #expect(Self.send(ping, to: conversation, piece: piece) == .needsInput && !conversation.isWithinEvent)
        let answers = try FrameTests.read(conversation.output, isEncrypted: true).map { receive.decrypt($0.bytes) }
        #expect(answers.map { $0?[1] } == [2, 8])
        let wrong = try Self.shakeHands(sodium, key: key, own: sodium.random(32), piece: piece)
        #expect(wrong.ciphers == nil && wrong.conversation.hasWrongKey)
        #expect(wrong.frames.last == [1] + Array("Handshake MAC failure".utf8))
    }

    @Test func `a changed, replayed, short or long encrypted message ends the connection`() throws {
        let sodium = try #require(Sodium.loaded)
        let key = sodium.random(32)
        let hello: [UInt8] = [0, 1, 0, 0]
        let damages: [(name: String, bytes: (inout NoiseCipher) -> [UInt8])] = [
            ("changed", { cipher in cipher.encrypt(hello).enumerated().map { $0 == 2 ? $1 ^ 1 : $1 } }),
            ("short", { $0.encrypt([0, 7, 0]) }), ("longer than its frame", { $0.encrypt([0, 7, 0, 1]) }),
            ("without its check", { _ in [1, 2, 3] }), ("empty", { _ in [] }),
        ]
        for (name, bytes) in damages {
            let (conversation, ciphers, _) = try Self.shakeHands(sodium, key: key, own: key)
            var (send, _) = try #require(ciphers)
            #expect(Self.send(FrameParser.encrypted(bytes(&send)), to: conversation) == .end, "\(name)")
        }
        let (conversation, ciphers, _) = try Self.shakeHands(sodium, key: key, own: key)
        var (send, _) = try #require(ciphers)
        let frame = FrameParser.encrypted(send.encrypt(hello))
        #expect(Self.send(frame, to: conversation) == .needsInput && Self.send(frame, to: conversation) == .end)
    }

    @Test func `requests that cost much end a turn early`() {
        let conversation = APIConversation(Self.device, key: nil)
        _ = Self.send(Self.hello, to: conversation)
        conversation.beginTurn()
        let lists = (0..<10).flatMap { _ in FrameParser.plain(11, []) }
        lists.withUnsafeBufferPointer { lists in
            var input = lists
            #expect(conversation.advance(&input) == .turn)
            #expect(conversation.takeRequests() == [.listEntities, .listEntities])
        }
    }
}
