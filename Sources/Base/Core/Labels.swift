/// The labels of a model in the order of its outputs: the words, then the special labels ``unknown`` and ``silence``.
///
/// A collection of names. Special names begin with an underscore; the names of words must not.
public struct Labels: Hashable, Sendable, RandomAccessCollection, ExpressibleByArrayLiteral {
    /// Speech other than the words.
    public static let unknown = "_unknown_"
    /// No speech.
    public static let silence = "_silence_"
    /// The special labels, in the order in which they end every list of labels.
    public static let special = [unknown, silence]

    public let names: [String]

    /// - Parameter names: all labels, with ``special`` at the end.
    public init(_ names: [String]) { self.names = names }

    /// Labels with these words and ``special`` after them.
    public init(words: some Sequence<String>) { names = Array(words) + Labels.special }

    public init(arrayLiteral names: String...) { self.names = names }

    public var startIndex: Int { 0 }
    public var endIndex: Int { names.count }
    public subscript(index: Int) -> String { names[index] }

    /// The labels without the special ones.
    public var words: [String] { Array(names.prefix(wordIndices.count)) }
    /// The indices of the words.
    public var wordIndices: Range<Int> { 0..<Swift.max(0, names.count - Labels.special.count) }
    public var unknownIndex: Int { names.count - 2 }
    public var silenceIndex: Int { names.count - 1 }

    /// The index of a name; nil if there is no such label.
    public func index(of name: String) -> Int? { names.firstIndex(of: name) }

    public func isSpecial(at index: Int) -> Bool { Labels.isSpecial(names[index]) }

    /// A label in words for people: ``unknown`` and ``silence`` are names of the model's.
    public static func spoken(_ name: String) -> String {
        switch name {
        case unknown: "other speech"
        case silence: "no speech"
        default: name
        }
    }

    /// Whether a name is special or reserved, because it begins with an underscore; no word may have such a name.
    public static func isSpecial(_ name: String) -> Bool { name.utf8.first == UInt8(ascii: "_") }
}
