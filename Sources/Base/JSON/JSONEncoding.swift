import Core

extension JSON {
    /// A value as JSON, its keys in alphabetical order.
    ///
    /// - Throws: `EncodingError` for a number that is not finite.
    package init(encoding value: some Encodable) throws {
        let place = Place()
        try TreeEncoder(place: place, codingPath: []).encode(value)
        self = place.json
    }
}

/// Where an encoder puts its value.
private final class Place {
    /// Of no member and no element.
    var value = JSON.object([])
    var members: [String: Place]?
    var elements: [Place]?

    var json: JSON {
        if let members {
            return .object(members.sorted { $0.key < $1.key }.map { JSON.Member($0.key, $0.value.json) })
        }
        return elements.map { .array($0.map(\.json)) } ?? value
    }

    func member(_ name: String) -> Place {
        let inner = Place()
        members?[name] = inner
        return inner
    }

    func element() -> Place {
        let inner = Place()
        elements?.append(inner)
        return inner
    }
}

private struct TreeEncoder: Encoder, SingleValueEncodingContainer {
    let place: Place
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        place.members = place.members ?? [:]
        return KeyedEncodingContainer(MemberEncoder<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        place.elements = place.elements ?? []
        return ElementEncoder(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    private func put(_ json: JSON) { place.value = json }

    /// The shortest text that reads back as the number; without a fraction where it is whole.
    private func put(_ value: some BinaryFloatingPoint & CustomStringConvertible) throws {
        guard value.isFinite else {
            let context = EncodingError.Context(
                codingPath: codingPath,
                debugDescription: "\(value) is no number in JSON"
            )
            throw EncodingError.invalidValue(value, context)
        }
        let text = value.description
        put(.encoded(text.hasSuffix(".0") ? String(text.dropLast(2)) : text))
    }

    func encodeNil() { put(.null) }
    func encode(_ value: Bool) { put(.bool(value)) }
    func encode(_ value: String) { put(.string(value)) }
    func encode(_ value: Double) throws { try put(value) }
    func encode(_ value: Float) throws { try put(value) }
    func encode(_ value: Int) { put(.number(value)) }
    func encode(_ value: Int8) { put(.number(value)) }
    func encode(_ value: Int16) { put(.number(value)) }
    func encode(_ value: Int32) { put(.number(value)) }
    func encode(_ value: Int64) { put(.number(value)) }
    func encode(_ value: UInt) { put(.number(value)) }
    func encode(_ value: UInt8) { put(.number(value)) }
    func encode(_ value: UInt16) { put(.number(value)) }
    func encode(_ value: UInt32) { put(.number(value)) }
    func encode(_ value: UInt64) { put(.number(value)) }
    func encode<Value: Encodable>(_ value: Value) throws { try value.encode(to: self) }
}

private struct MemberEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: TreeEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    private func inner(_ key: Key) -> TreeEncoder {
        TreeEncoder(place: encoder.place.member(key.stringValue), codingPath: codingPath + [key])
    }

    func encodeNil(forKey key: Key) { inner(key).encodeNil() }
    func encode(_ value: Bool, forKey key: Key) { inner(key).encode(value) }
    func encode(_ value: String, forKey key: Key) { inner(key).encode(value) }
    func encode(_ value: Double, forKey key: Key) throws { try inner(key).encode(value) }
    func encode(_ value: Float, forKey key: Key) throws { try inner(key).encode(value) }
    func encode(_ value: Int, forKey key: Key) { inner(key).encode(value) }
    func encode(_ value: Int8, forKey key: Key) { inner(key).encode(value) }
    func encode(_ value: Int16, forKey key: Key) { inner(key).encode(value) }
    func encode(_ value: Int32, forKey key: Key) { inner(key).encode(value) }
    func encode(_ value: Int64, forKey key: Key) { inner(key).encode(value) }
    func encode(_ value: UInt, forKey key: Key) { inner(key).encode(value) }
    func encode(_ value: UInt8, forKey key: Key) { inner(key).encode(value) }
    func encode(_ value: UInt16, forKey key: Key) { inner(key).encode(value) }
    func encode(_ value: UInt32, forKey key: Key) { inner(key).encode(value) }
    func encode(_ value: UInt64, forKey key: Key) { inner(key).encode(value) }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try inner(key).encode(value) }
    func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type, forKey key: Key) -> KeyedEncodingContainer<Inner> {
        inner(key).container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { inner(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder }
    func superEncoder(forKey key: Key) -> any Encoder { inner(key) }
}

private struct ElementEncoder: UnkeyedEncodingContainer {
    let encoder: TreeEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.place.elements?.count ?? 0 }

    private func inner() -> TreeEncoder { TreeEncoder(place: encoder.place.element(), codingPath: codingPath) }

    func encodeNil() { inner().encodeNil() }
    func encode(_ value: Bool) { inner().encode(value) }
    func encode(_ value: String) { inner().encode(value) }
    func encode(_ value: Double) throws { try inner().encode(value) }
    func encode(_ value: Float) throws { try inner().encode(value) }
    func encode(_ value: Int) { inner().encode(value) }
    func encode(_ value: Int8) { inner().encode(value) }
    func encode(_ value: Int16) { inner().encode(value) }
    func encode(_ value: Int32) { inner().encode(value) }
    func encode(_ value: Int64) { inner().encode(value) }
    func encode(_ value: UInt) { inner().encode(value) }
    func encode(_ value: UInt8) { inner().encode(value) }
    func encode(_ value: UInt16) { inner().encode(value) }
    func encode(_ value: UInt32) { inner().encode(value) }
    func encode(_ value: UInt64) { inner().encode(value) }
    func encode<Value: Encodable>(_ value: Value) throws { try inner().encode(value) }
    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        inner().container(keyedBy: type)
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { inner().unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder }
}
