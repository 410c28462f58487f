/// Splits a client's bytes into events: a pure state machine, which gets the bytes in pieces of any size.
///
/// An event is one line of JSON, `data_length` bytes of JSON that are merged over the line's `data`, and `payload_length` bytes.
/// Payloads are not kept: the caller takes them from the bytes, as they come, and says so by ``takePayload(_:)``.
struct WyomingParser {
    /// Bytes; the largest lines hold the names of a `detect`, the largest payloads some seconds of audio.
    static let longestLine = 16 << 10
    static let mostData = 64 << 10
    static let mostPayload = 1 << 20
    static let mostContext = 4 << 10

    private enum State { case line, data }

    private var state = State.line
    /// The line or the data so far, where they came in pieces; else they are read where they are.
    private var kept: [UInt8] = []
    private var event = WyomingEvent()
    private var dataLength = 0
    /// Bytes of the newest event's payload that were not taken yet.
    private(set) var payloadLeft = 0

    init() { kept.reserveCapacity(512) }

    /// Whether an event has begun and is not complete.
    var isWithinEvent: Bool { state == .data || !kept.isEmpty || payloadLeft > 0 }

    /// Reads up to the end of the next event's data. Before the next call its payload must be taken.
    ///
    /// - Parameter input: the bytes that are read are removed from its beginning.
    /// - Returns: nil if the input ended first.
    mutating func next(_ input: inout UnsafeBufferPointer<UInt8>) throws(ProtocolViolation) -> WyomingEvent? {
        if state == .line {
            guard let end = input.firstIndex(of: UInt8(ascii: "\n")) else {
                guard kept.count + input.count <= Self.longestLine else { throw .line }
                kept += input
                input = UnsafeBufferPointer(rebasing: input[input.count...])
                return nil
            }
            guard kept.count + end <= Self.longestLine else { throw .line }
            let line = UnsafeBufferPointer(rebasing: input[..<end])
            input = UnsafeBufferPointer(rebasing: input[(end + 1)...])
            try readKept(line) { parser, line throws(ProtocolViolation) in try parser.readLine(line) }
        }
        guard dataLength > 0 else { return finish() }
        state = .data
        let missing = dataLength - kept.count
        guard input.count >= missing else {
            kept += input
            input = UnsafeBufferPointer(rebasing: input[input.count...])
            return nil
        }
        let data = UnsafeBufferPointer(rebasing: input[..<missing])
        input = UnsafeBufferPointer(rebasing: input[missing...])
        try readKept(data) { parser, data throws(ProtocolViolation) in try parser.readData(data) }
        return finish()
    }

    /// Notes that these bytes of the payload were taken from the input.
    mutating func takePayload(_ count: Int) { payloadLeft -= min(count, payloadLeft) }

    private mutating func finish() -> WyomingEvent {
        state = .line
        payloadLeft = event.payloadLength
        return event
    }

    /// Calls `body` with the kept bytes and the last piece together.
    private mutating func readKept(
        _ last: UnsafeBufferPointer<UInt8>,
        _ body: (inout WyomingParser, UnsafeBufferPointer<UInt8>) throws(ProtocolViolation) -> Void
    ) throws(ProtocolViolation) {
        guard !kept.isEmpty else { return try body(&self, last) }
        var whole: [UInt8] = []
        swap(&whole, &kept)
        whole += last
        var result: Result<Void, ProtocolViolation> = .success(())
        whole.withUnsafeBufferPointer { bytes in
            do throws(ProtocolViolation) { try body(&self, bytes) } catch { result = .failure(error) }
        }
        // Back, with its memory, unless an unusual event made it large.
        whole.removeAll(keepingCapacity: whole.count <= 4096)
        swap(&whole, &kept)
        try result.get()
    }

    private mutating func readLine(_ line: UnsafeBufferPointer<UInt8>) throws(ProtocolViolation) {
        var scanner = JSONScanner(line)
        var event = WyomingEvent()
        var hasType = false
        // Nil for what is no number, which is refused unless it is null or missing.
        var (data, payload): (Int?, Int?) = (0, 0)
        do throws(JSONScanner.Failure) {
            try scanner.wholeObject { scanner, name throws(JSONScanner.Failure) in
                if name.isEqual(to: "type") {
                    let type = try scanner.string()
                    hasType = type != nil
                    event.kind = type.map(WyomingEvent.Kind.init(type:)) ?? .other
                } else if name.isEqual(to: "data_length") {
                    data = scanner.isNext("n") ? 0 : nil
                    let number = try scanner.integer()
                    data = number ?? data
                } else if name.isEqual(to: "payload_length") {
                    payload = scanner.isNext("n") ? 0 : nil
                    let number = try scanner.integer()
                    payload = number ?? payload
                } else if name.isEqual(to: "data"), scanner.isNext("{") {
                    try scanner.object { scanner, name throws(JSONScanner.Failure) in
                        try event.take(name, &scanner)
                    }
                } else {
                    try scanner.skip()
                }
            }
        } catch {
            throw .json
        }
        guard hasType else { throw .type }
        guard let data, (0...Self.mostData).contains(data) else { throw .dataLength }
        guard let payload, (0...Self.mostPayload).contains(payload) else { throw .payloadLength }
        event.payloadLength = payload
        self.event = event
        dataLength = data
    }

    private mutating func readData(_ data: UnsafeBufferPointer<UInt8>) throws(ProtocolViolation) {
        var scanner = JSONScanner(data)
        var event = event
        do throws(JSONScanner.Failure) {
            try scanner.wholeObject { scanner, name throws(JSONScanner.Failure) in try event.take(name, &scanner) }
        } catch {
            throw .json
        }
        self.event = event
    }
}

extension WyomingEvent.Kind {
    init(type: String) {
        switch type {
        case "describe": self = .describe
        case "detect": self = .detect
        case "audio-start": self = .audioStart
        case "audio-chunk": self = .audioChunk
        case "audio-stop": self = .audioStop
        case "ping": self = .ping
        case "run-satellite": self = .runSatellite
        case "pause-satellite": self = .pauseSatellite
        case "transcript": self = .transcript
        case "error": self = .error
        default: self = .other
        }
    }
}

extension WyomingEvent {
    /// Reads one member of the data.
    fileprivate mutating func take(
        _ name: UnsafeBufferPointer<UInt8>,
        _ scanner: inout JSONScanner
    ) throws(JSONScanner.Failure) {
        if name.isEqual(to: "rate") {
            rate = try scanner.integer()
        } else if name.isEqual(to: "width") {
            width = try scanner.integer()
        } else if name.isEqual(to: "channels") {
            channels = try scanner.integer()
        } else if name.isEqual(to: "timestamp") {
            timestamp = try scanner.integer()
        } else if name.isEqual(to: "names") {
            names = try scanner.strings()
        } else if name.isEqual(to: "context") {
            context = try scanner.objectText(most: WyomingParser.mostContext)
        } else if name.isEqual(to: "text") {
            text = try scanner.string()
        } else {
            try scanner.skip()
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate func isEqual(to text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        for index in 0..<count where self[index] != text.utf8Start[index] { return false }
        return true
    }
}
