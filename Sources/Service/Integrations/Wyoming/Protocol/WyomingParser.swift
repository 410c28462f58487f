import JSON

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
        defer {
            // Back, with its memory, unless an unusual event made it large.
            whole.removeAll(keepingCapacity: whole.count <= 4096)
            swap(&whole, &kept)
        }
        try whole.withUnsafeBufferPointer { bytes throws(ProtocolViolation) in try body(&self, bytes) }
    }

    private mutating func readLine(_ line: UnsafeBufferPointer<UInt8>) throws(ProtocolViolation) {
        var event = WyomingEvent()
        var hasType = false
        // Nil for what is not a number, which is refused unless it is null or missing.
        var (data, payload): (Int?, Int?) = (0, 0)
        try Self.readObject(line) { reader, name throws(JSONError) in
            switch name {
            case "type":
                let type = try reader.string()
                hasType = type != nil
                event.kind = type.flatMap(WyomingEvent.Kind.init) ?? .other
            case "data_length": data = try reader.length()
            case "payload_length": payload = try reader.length()
            case "data" where try reader.kind() == .object:
                try reader.object { reader, name throws(JSONError) in try event.take(name, &reader) }
            default: try reader.skip()
            }
        }
        guard hasType else { throw .type }
        guard let data, (0...Self.mostData).contains(data) else { throw .dataLength }
        guard let payload, (0...Self.mostPayload).contains(payload) else { throw .payloadLength }
        event.payloadLength = payload
        self.event = event
        dataLength = data
    }

    private mutating func readData(_ data: UnsafeBufferPointer<UInt8>) throws(ProtocolViolation) {
        var event = event
        try Self.readObject(data) { reader, name throws(JSONError) in try event.take(name, &reader) }
        self.event = event
    }

    /// Reads an object, which must be all of the text.
    private static func readObject(
        _ text: UnsafeBufferPointer<UInt8>,
        _ member: (inout JSONReader, _ name: JSONReader.RawString) throws(JSONError) -> Void
    ) throws(ProtocolViolation) {
        var reader = JSONReader(text)
        do throws(JSONError) {
            try reader.object(member)
            try reader.end()
        } catch {
            throw .json
        }
    }
}

extension WyomingEvent {
    /// Reads one member of the data.
    fileprivate mutating func take(_ name: JSONReader.RawString, _ reader: inout JSONReader) throws(JSONError) {
        switch name {
        case "rate": rate = try reader.integer()
        case "width": width = try reader.integer()
        case "channels": channels = try reader.integer()
        case "timestamp": timestamp = try reader.integer()
        case "names": names = try reader.strings()
        case "context": context = try reader.objectText(most: WyomingParser.mostContext)
        case "text": text = try reader.string()
        case "satellite" where try reader.kind() == .object:
            try reader.object { reader, name throws(JSONError) in
                switch name {
                case "name": self.name = try reader.string()
                default: try reader.skip()
                }
            }
        default: try reader.skip()
        }
    }
}

extension JSONReader {
    /// Reads any value; returns it if it is a number, and 0 if it is null.
    fileprivate mutating func length() throws(JSONError) -> Int? {
        let none = try isNull() ? 0 : nil
        return try integer() ?? none
    }

    /// Reads any value; returns it if it is a list, with those of its elements that are strings of UTF-8.
    fileprivate mutating func strings() throws(JSONError) -> [String]? {
        guard try kind() == .list else {
            try skip()
            return nil
        }
        var strings: [String] = []
        try list { reader throws(JSONError) in
            if let string = try reader.string() { strings.append(string) }
        }
        return strings
    }
}
