import Testing

@testable import Wyoming

/// Events from bytes in pieces of any size.
struct ParserTests {
    /// An event and its payload.
    struct Read: Equatable {
        var event: WyomingEvent
        var payload: [UInt8]
    }

    /// What a parser reads from these pieces, up to its first error.
    static func read(_ pieces: [ArraySlice<UInt8>]) -> (events: [Read], error: ProtocolViolation?) {
        var parser = WyomingParser()
        var events: [Read] = []
        for piece in pieces {
            var error: ProtocolViolation?
            piece.withUnsafeBufferPointer { bytes in
                var input = bytes
                do throws(ProtocolViolation) {
                    while true {
                        if parser.payloadLeft > 0 {
                            let count = min(parser.payloadLeft, input.count)
                            guard count > 0 else { return }
                            events[events.count - 1].payload += input[..<count]
                            parser.takePayload(count)
                            input = UnsafeBufferPointer(rebasing: input[count...])
                        } else if let event = try parser.next(&input) {
                            events.append(Read(event: event, payload: []))
                        } else {
                            return
                        }
                    }
                } catch let violation {
                    error = violation
                }
            }
            if let error { return (events, error) }
        }
        return (events, nil)
    }

    static func read(_ text: String) -> (events: [Read], error: ProtocolViolation?) { read([Array(text.utf8)[...]]) }

    private static let stream = #"""
        {"type": "describe", "version": "1.5.3"}
        {"type": "detect", "data": {"names": ["old"]}, "data_length": 30}
        {"names": ["stop", "go left"]}\#
        {"type":"audio-start","data":{"rate":16000,"width":2,"channels":1,"timestamp":null}}
        {"type": "audio-chunk", "data_length": 61, "payload_length": 6}
        {"rate": 22050, "width": 2, "channels": 1, "timestamp": 1250}abc
        de\#
          {"payload_length":null,"data_length":0,"type":"new-thing","extra":[{"a":"\u00e9\n"},-1.5e-3,true]}\#
          \#n\#
        {"type": "ping", "data": {"text": "\"h\u00e9\ud83d\ude00\\n\/"}}

        """#

    private static let expected: [Read] = [
        Read(event: WyomingEvent(kind: .describe), payload: []),
        Read(event: WyomingEvent(kind: .detect, names: ["stop", "go left"]), payload: []),
        Read(event: WyomingEvent(kind: .audioStart, rate: 16_000, width: 2, channels: 1), payload: []),
        Read(
            event: WyomingEvent(
                kind: .audioChunk,
                rate: 22_050,
                width: 2,
                channels: 1,
                timestamp: 1250,
                payloadLength: 6
            ),
            payload: Array("abc\nde".utf8)
        ),
        Read(event: WyomingEvent(kind: .other), payload: []),
        Read(event: WyomingEvent(kind: .ping, text: "\"hé😀\\n/"), payload: []),
    ]

    @Test func `events are the same for every division into two pieces, and byte by byte`() {
        let bytes = Array(Self.stream.utf8)
        for cut in 0...bytes.count {
            let (events, error) = Self.read([bytes[..<cut], bytes[cut...]])
            #expect(error == nil)
            #expect(events == Self.expected, "cut at \(cut)")
        }
        let (events, error) = Self.read(bytes.indices.map { bytes[$0...$0] })
        #expect(error == nil)
        #expect(events == Self.expected)
    }

    @Test func `an event that ends early gives nothing`() {
        let bytes = Array(Self.stream.utf8)
        var counts: Set<Int> = []
        for end in 0..<bytes.count {
            let (events, error) = Self.read([bytes[..<end]])
            #expect(error == nil)
            #expect(events.map(\.event) == Self.expected.prefix(events.count).map(\.event))
            counts.insert(events.count)
        }
        #expect(counts == Set(0...5))
    }

    /// Lines that are refused.
    @Test(arguments: [
        ("", ProtocolViolation.json), ("[]", .json), ("null", .json), ("{", .json), ("{}", .type), ("{} {}", .json),
        (#"{"type": 3}"#, .type), (#"{"type": null}"#, .type), (#"{"type": "a" "b": 1}"#, .json),
        (#"{"type": "ping", }"#, .json), (#"{"type": "ping"},"#, .json), (#"{'type': "ping"}"#, .json),
        (#"{"type": "ping", "data_length": -1}"#, .dataLength),
        (#"{"type": "ping", "data_length": 65537}"#, .dataLength),
        (#"{"type": "ping", "data_length": 1e3}"#, .dataLength),
        (#"{"type": "ping", "data_length": "3"}"#, .dataLength),
        (#"{"type": "ping", "data_length": [3]}"#, .dataLength),
        (#"{"type": "ping", "data_length": 99999999999999999999}"#, .dataLength),
        (#"{"type": "audio-chunk", "payload_length": -2}"#, .payloadLength),
        (#"{"type": "audio-chunk", "payload_length": 1048577}"#, .payloadLength),
        (#"{"type": "audio-chunk", "payload_length": true}"#, .payloadLength),
        (#"{"type": "ping", "data_length": 01}"#, .json), (#"{"type": "ping", "data_length": NaN}"#, .json),
        (#"{"type": "ping", "data_length": +1}"#, .json), (#"{"type": "ping", "data_length": .5}"#, .json),
    ])
    func `wrong lines`(line: String, expected: ProtocolViolation) {
        let (events, error) = Self.read(line + "\n")
        #expect(events.isEmpty)
        #expect(error == expected)
    }

    @Test func `data that are not object are refused, after any length of them`() {
        for data in ["[]", "x", "{\"a\":}", "{} ", "{}{"] {
            let (events, error) = Self.read("{\"type\": \"ping\", \"data_length\": \(data.utf8.count)}\n\(data)")
            if data == "{} " {
                #expect(error == nil && events.count == 1)
            } else {
                #expect(error == .json && events.isEmpty)
            }
        }
    }

    @Test func `lengths up to the limits are read`() {
        let names = (0..<4000).map { "\"word \($0)\"" }.joined(separator: ",")
        let data = "{\"names\": [\(names)]}"
        #expect(data.utf8.count < WyomingParser.mostData)
        let (events, error) = Self.read("{\"type\": \"detect\", \"data_length\": \(data.utf8.count)}\n\(data)")
        #expect(error == nil)
        #expect(events.first?.event.names?.count == 4000)
        let payload = [UInt8](repeating: 10, count: WyomingParser.mostPayload)
        let line = Array("{\"type\": \"audio-chunk\", \"payload_length\": \(payload.count)}\n".utf8)
        let chunk = Self.read([(line + payload + Array("{\"type\": \"describe\"}\n".utf8))[...]])
        #expect(chunk.events.map(\.payload.count) == [payload.count, 0])
        #expect(chunk.events.last?.event.kind == .describe)
    }

    @Test func `a line that never ends is refused at its limit, and not kept beyond it`() {
        let piece = [UInt8](repeating: UInt8(ascii: " "), count: 1000)[...]
        let (_, error) = Self.read([[ArraySlice<UInt8>]](repeating: [piece], count: 16).flatMap { $0 })
        #expect(error == nil)
        #expect(Self.read([[ArraySlice<UInt8>]](repeating: [piece], count: 17).flatMap { $0 }).error == .line)
        let long = "{\"type\": \"ping\", \"x\": \"" + String(repeating: "x", count: 1 << 14) + "\"}\n"
        #expect(Self.read(long).error == .line)
    }

    @Test func `nesting is limited`() {
        func line(_ depth: Int) -> String {
            let lists = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            return "{\"type\": \"ping\", \"x\": \(lists)}\n"
        }
        #expect(Self.read(line(31)).error == nil)
        #expect(Self.read(line(32)).error == .json)
        #expect(Self.read("{\"type\": \"ping\", \"x\": " + String(repeating: "[", count: 16_000) + "\n").error == .json)
    }

    @Test func `names that are not strings, or no text, are left out`() {
        let line = #"{"type": "detect", "data": {"names": ["a", 1, null, ["b"], "\ud800", "c"]}}"# + "\n"
        #expect(Self.read(line).events.first?.event.names == ["a", "c"])
        let bytes = Array(#"{"type": "detect", "data": {"names": [""#.utf8) + [0xFF] + Array(#"", "d"]}}"#.utf8) + [10]
        #expect(Self.read([bytes[...]]).events.first?.event.names == ["d"])
        #expect(Self.read(#"{"type": "detect", "data": {"names": "all"}}"# + "\n").events.first?.event.names == nil)
        #expect(Self.read(#"{"type": "detect", "data": 5}"# + "\n").events.first?.event.names == nil)
    }

    @Test func `answers read back`() {
        let bytes =
            WyomingAnswer.detection("go \"left\"", timestamp: 1250) + WyomingAnswer.notDetected(context: nil)
            + WyomingAnswer.pong("é") + WyomingAnswer.error("no", code: "x")
        let (events, error) = Self.read([bytes[...]])
        #expect(error == nil)
        #expect(events.count == 4)
        #expect(events[0].event.timestamp == 1250)
        #expect(events[2].event.text == "é")
        #expect(events[3].event.text == "no")
        #expect(
            !WyomingAnswer.notDetected(context: nil).contains(UInt8(ascii: "d")) || events[1].event == WyomingEvent()
        )
    }
}
