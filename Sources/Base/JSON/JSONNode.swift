import Core

/// A place in a text: line and column, both from 1. The column counts characters as editors do, a tab as one.
public struct TextPlace: Equatable, Comparable, Sendable, CustomStringConvertible {
    public let line: Int
    public let column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    public static func < (left: TextPlace, right: TextPlace) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }

    /// `3:14`.
    public var description: String { "\(line):\(column)" }
}

/// A value of a text in JSON or JSON5, and the place where it begins.
package struct JSONNode: Equatable, Sendable {
    package indirect enum Value: Equatable, Sendable {
        case null
        case bool(Bool)
        case number(Double)
        case string(String)
        case array([JSONNode])
        /// The members in the order of the text; a name may occur twice.
        case object([Member])
    }

    package struct Member: Equatable, Sendable {
        package let name: String
        /// Where its name begins.
        package let place: TextPlace
        package let node: JSONNode
    }

    package let value: Value
    package let place: TextPlace

    /// Parses a text that holds one value, with blanks around it.
    package static func parse(_ text: String, _ dialect: JSONDialect = .strict) throws(JSONError) -> JSONNode {
        try Array(text.utf8).withUnsafeBufferPointer { bytes throws(JSONError) in
            var reader = JSONReader(bytes, dialect)
            let node = try JSONNode(&reader)
            try reader.end()
            return node
        }
    }

    private init(_ reader: inout JSONReader) throws(JSONError) {
        let kind = try reader.kind()
        place = reader.place(at: reader.position)
        switch kind {
        case .object:
            var members: [Member] = []
            try reader.object { reader, name throws(JSONError) in
                let place = reader.place(at: name.start)
                let text = try reader.decode(name)
                members.append(Member(name: text, place: place, node: try JSONNode(&reader)))
            }
            value = .object(members)
        case .list:
            var elements: [JSONNode] = []
            try reader.list { reader throws(JSONError) in elements.append(try JSONNode(&reader)) }
            value = .array(elements)
        case .string: value = .string(try reader.decode(try reader.rawString()))
        case .number: value = .number(try reader.number())
        case .word: value = try reader.word()
        }
    }

    init(value: Value, place: TextPlace) {
        self.value = value
        self.place = place
    }

    /// The value as an error message quotes it.
    package var description: String {
        switch value {
        case .null: "null"
        case .bool(let flag): flag ? "true" : "false"
        case .number(let number): shortest(number)
        case .string(let text): text.count <= 40 ? "'\(text)'" : "'\(text.prefix(40))…'"
        case .array: "a list"
        case .object: "an object"
        }
    }
}

/// The value as one type; nil or empty if it is another.
extension JSONNode {
    package var flag: Bool? { if case .bool(let flag) = value { flag } else { nil } }
    package var number: Double? { if case .number(let number) = value { number } else { nil } }
    /// A number without a fraction.
    package var integer: Int? { number.flatMap { Int(exactly: $0) } }
    package var text: String? { if case .string(let text) = value { text } else { nil } }
    package var elements: [JSONNode] { if case .array(let elements) = value { elements } else { [] } }
    package var members: [Member] { if case .object(let members) = value { members } else { [] } }
    package var isObject: Bool { if case .object = value { true } else { false } }

    /// The first member of this name.
    package subscript(_ name: String) -> JSONNode? { members.first { $0.name == name }?.node }
}
