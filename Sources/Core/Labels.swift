/// The labels of a model in the order of its outputs: words, and at the end the two special labels for what is no word.
///
/// A collection of names. A special name begins with an underscore, and no word may be called so.
public struct Labels: Hashable, Sendable, RandomAccessCollection, ExpressibleByArrayLiteral {
    /// Speech that is none of the words.
    public static let unknown = "_unknown_"
    /// No speech.
    public static let silence = "_silence_"
    /// How every list of labels ends.
    public static let special = [unknown, silence]

    public let names: [String]

    /// - Parameter names: all of them, ``special`` at the end.
    public init(_ names: [String]) { self.names = names }

    /// Labels with these words and ``special`` after them.
    public init(words: some Sequence<String>) { names = Array(words) + Labels.special }

    public init(arrayLiteral names: String...) { self.names = names }

    public var startIndex: Int { 0 }
    public var endIndex: Int { names.count }
    public subscript(index: Int) -> String { names[index] }

    /// The words alone.
    public var words: [String] { Array(names.prefix(wordIndices.count)) }
    /// Where the words are.
    public var wordIndices: Range<Int> { 0..<Swift.max(0, names.count - Labels.special.count) }
    public var unknownIndex: Int { names.count - 2 }
    public var silenceIndex: Int { names.count - 1 }

    /// Where a name is; nil where there is none such.
    public func index(of name: String) -> Int? { names.firstIndex(of: name) }

    public func isSpecial(at index: Int) -> Bool { Labels.isSpecial(names[index]) }

    /// Whether a name is that of a special label, or reserved for one: no word can be called so.
    public static func isSpecial(_ name: String) -> Bool { name.utf8.first == UInt8(ascii: "_") }
}
