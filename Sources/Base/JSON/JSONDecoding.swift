import Core

extension Decodable {
    /// A value from JSON (RFC 8259).
    ///
    /// - Throws: ``JSONError`` for text that is no JSON, `DecodingError` for other JSON than that of the type.
    package init(json: some Sequence<UInt8>) throws {
        guard let text = String(validating: json, as: UTF8.self) else {
            throw JSONError(place: TextPlace(line: 1, column: 1), reason: "not UTF-8 text")
        }
        self = try TreeDecoder(node: try JSONNode.parse(text), codingPath: []).value(Self.self)
    }
}

/// Decodes a value from a tree. Whole numbers beyond 2⁵³ are rounded, as they are in a tree.
private struct TreeDecoder: Decoder {
    let node: JSONNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard node.isObject else { throw mismatch([String: Any].self, "an object") }
        return KeyedDecodingContainer(Members<Key>(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = node.value else { throw mismatch([Any].self, "a list") }
        return Elements(decoder: self, elements: elements)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func inner(_ node: JSONNode, _ key: some CodingKey) -> TreeDecoder {
        TreeDecoder(node: node, codingPath: codingPath + [key])
    }

    /// The value as a type, which itself asks for what it holds.
    func value<Value: Decodable>(_ type: Value.Type) throws -> Value { try Value(from: self) }

    func mismatch(_ type: Any.Type, _ wanted: String) -> DecodingError {
        let context = DecodingError.Context(
            codingPath: codingPath,
            debugDescription: "\(wanted) was expected, not \(node.description)"
        )
        return node.value == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }
}

extension TreeDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { node.value == .null }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard let flag = node.flag else { throw mismatch(type, "true or false") }
        return flag
    }

    func decode(_ type: String.Type) throws -> String {
        guard let text = node.text else { throw mismatch(type, "text") }
        return text
    }

    func decode(_ type: Double.Type) throws -> Double {
        guard let number = node.number else { throw mismatch(type, "a number") }
        return number
    }

    func decode(_ type: Float.Type) throws -> Float {
        guard let number = node.number else { throw mismatch(type, "a number") }
        guard Float(number).isFinite else { throw doesNotFit(number, type) }
        return Float(number)
    }

    private func whole<Number: BinaryInteger>(_ type: Number.Type) throws -> Number {
        guard let number = node.number else { throw mismatch(type, "a whole number") }
        guard let whole = Number(exactly: number) else { throw doesNotFit(number, type) }
        return whole
    }

    private func doesNotFit(_ number: Double, _ type: Any.Type) -> DecodingError {
        .dataCorrupted(
            DecodingError.Context(
                codingPath: codingPath,
                debugDescription: "\(shortest(number)) is no number of type \(type)"
            )
        )
    }

    func decode(_ type: Int.Type) throws -> Int { try whole(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try whole(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try whole(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try whole(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try whole(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try whole(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try whole(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try whole(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try whole(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try whole(type) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try value(type) }
}

private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: TreeDecoder
    private let nodes: [String: JSONNode]

    init(decoder: TreeDecoder) {
        self.decoder = decoder
        nodes = Dictionary(decoder.node.members.map { ($0.name, $0.node) }) { first, _ in first }
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { decoder.node.members.compactMap { Key(stringValue: $0.name) } }

    func contains(_ key: Key) -> Bool { nodes[key.stringValue] != nil }

    private func inner(_ key: Key) throws -> TreeDecoder {
        guard let node = nodes[key.stringValue] else {
            let context = DecodingError.Context(
                codingPath: codingPath,
                debugDescription: "“\(key.stringValue)” is missing"
            )
            throw DecodingError.keyNotFound(key, context)
        }
        return decoder.inner(node, key)
    }

    func decodeNil(forKey key: Key) throws -> Bool { try inner(key).decodeNil() }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try inner(key).decode(type) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try inner(key).decode(type) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try inner(key).decode(type) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try inner(key).decode(type) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try inner(key).decode(type) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try inner(key).decode(type) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try inner(key).decode(type) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try inner(key).decode(type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try inner(key).decode(type) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try inner(key).decode(type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try inner(key).decode(type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try inner(key).decode(type) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try inner(key).decode(type) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try inner(key).decode(type) }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try inner(key).value(type) }

    func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Inner> { try inner(key).container(keyedBy: type) }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try inner(key).unkeyedContainer()
    }
    func superDecoder() -> any Decoder { decoder }
    func superDecoder(forKey key: Key) throws -> any Decoder { try inner(key) }
}

private struct Elements: UnkeyedDecodingContainer {
    private struct Index: CodingKey {
        let intValue: Int?
        var stringValue: String { "Index \(intValue ?? 0)" }
        init(intValue: Int) { self.intValue = intValue }
        init?(stringValue: String) { nil }
    }

    let decoder: TreeDecoder
    let elements: [JSONNode]
    private(set) var currentIndex = 0

    init(decoder: TreeDecoder, elements: [JSONNode]) {
        self.decoder = decoder
        self.elements = elements
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    private mutating func next<Value>(_ read: (TreeDecoder) throws -> Value) throws -> Value {
        guard !isAtEnd else { throw decoder.mismatch(Value.self, "another element") }
        let value = try read(decoder.inner(elements[currentIndex], Index(intValue: currentIndex)))
        currentIndex += 1
        return value
    }

    mutating func decodeNil() -> Bool {
        guard !isAtEnd, elements[currentIndex].value == .null else { return false }
        currentIndex += 1
        return true
    }
    mutating func decode(_ type: Bool.Type) throws -> Bool { try next { try $0.decode(type) } }
    mutating func decode(_ type: String.Type) throws -> String { try next { try $0.decode(type) } }
    mutating func decode(_ type: Double.Type) throws -> Double { try next { try $0.decode(type) } }
    mutating func decode(_ type: Float.Type) throws -> Float { try next { try $0.decode(type) } }
    mutating func decode(_ type: Int.Type) throws -> Int { try next { try $0.decode(type) } }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try next { try $0.decode(type) } }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try next { try $0.decode(type) } }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try next { try $0.decode(type) } }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try next { try $0.decode(type) } }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try next { try $0.decode(type) } }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try next { try $0.decode(type) } }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try next { try $0.decode(type) } }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try next { try $0.decode(type) } }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try next { try $0.decode(type) } }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next { try $0.value(type) } }

    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try next { try $0.container(keyedBy: type) }
    }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next { try $0.unkeyedContainer() }
    }
    mutating func superDecoder() throws -> any Decoder { try next { $0 } }
}
