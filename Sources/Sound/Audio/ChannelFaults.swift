/// What ``ChannelMixer`` corrects: channels that are the opposite of the others, and dead ones. A value of fixed size.
public struct ChannelFaults: Equatable, Sendable, BitwiseCopyable {
    private var turnedBits: UInt64 = 0
    private var deadBits: UInt64 = 0

    public init() {}

    /// - Parameters:
    ///   - turned: channels, 0–63, whose sign is turned in the mix.
    ///   - dead: channels, 0–63, that are left out of it.
    public init(turned: some Sequence<Int>, dead: some Sequence<Int>) {
        for number in turned { turn(number) }
        for number in dead { leaveOut(number) }
    }

    mutating func turn(_ number: Int) { turnedBits |= 1 << UInt64(number) }
    mutating func leaveOut(_ number: Int) { deadBits |= 1 << UInt64(number) }

    public var isEmpty: Bool { self == ChannelFaults() }
    public var hasTurned: Bool { turnedBits != 0 }
    public var turned: [Int] { Self.numbers(turnedBits) }
    public var dead: [Int] { Self.numbers(deadBits) }

    private static func numbers(_ bits: UInt64) -> [Int] { (0..<64).filter { bits >> UInt64($0) & 1 == 1 } }

    /// What is wrong, and what is done about it, in plain words; nil for no fault.
    public var text: String? { Self.text(turned: turned, dead: dead) }

    /// The same for lists of channels.
    public static func text(turned: [Int], dead: [Int]) -> String? {
        var parts: [String] = []
        if let (subject, isOne) = subject(turned) {
            let verb = isOne ? "is" : "are"
            parts.append("\(subject) \(verb) the opposite of the others, and \(verb) turned in the mix")
        }
        if let (subject, isOne) = subject(dead) {
            let verb = isOne ? "is" : "are"
            parts.append("\(subject) \(verb) dead, and \(verb) left out of the mix")
        }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    private static func subject(_ numbers: [Int]) -> (text: String, isOne: Bool)? {
        guard let last = numbers.last else { return nil }
        guard numbers.count > 1 else { return ("channel \(last)", true) }
        return ("channels \(numbers.dropLast().map(String.init).joined(separator: ", ")) and \(last)", false)
    }

    /// The line that warns of them; nil for no fault.
    ///
    /// - Parameter source: the name of the device or the file.
    public func warning(_ source: String) -> String? {
        text.map { text in
            let cause = hasTurned ? ", as if wired the wrong way round" : ""
            return "\(source): \(text)\(cause); beckon doctor checks each channel of a microphone"
        }
    }
}
