import Beckon
import CBeckon

extension Spotter.Settings {
    /// Reads the settings of a caller.
    ///
    /// - Throws: if they are of another version of the header, or a value is not one of its own.
    init(_ pointer: UnsafePointer<beckon_settings>) throws(CallError) {
        var settings = beckon_default_settings()
        // First alone: behind a smaller size may be nothing.
        let size = UnsafeRawPointer(pointer).load(as: Int.self)
        guard Self.sizes.contains(size) else {
            throw CallError(
                "the settings' size is \(size); begin with beckon_default_settings(), of this library's header or an older one"
            )
        }
        withUnsafeMutableBytes(of: &settings) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: size))
        }
        self.init()
        mode = try Self.choice(settings.mode.rawValue, [.spot, .command], "mode")
        trigger = try Self.choice(settings.trigger.rawValue, [.early, .end], "trigger")
        sensitivity = try Self.choice(settings.sensitivity.rawValue, [.strict, .balanced, .eager], "sensitivity")
        threshold = settings.threshold.isNaN ? nil : settings.threshold
        if settings.threshold_count > 0 {
            guard let first = settings.thresholds else {
                throw CallError("thresholds is NULL, but threshold_count is not 0")
            }
            for item in UnsafeBufferPointer(start: first, count: settings.threshold_count) {
                thresholds[try text(item.word, "the word of a threshold")] = item.confidence
            }
        }
        taughtWords = try settings.taught_words.map { path throws(CallError) in
            try text(path, "the path of taught words")
        }
        guard (-1..<64).contains(settings.channel) else {
            throw CallError("the channel is \(settings.channel); it counts from 0 to 63, and -1 is the mean of all")
        }
        channel = settings.channel < 0 ? nil : Int(settings.channel)
        confirms = settings.confirms != 0
        if settings.words != nil {
            words = try texts(settings.words, settings.word_count, "words")
        }
        wakeWords = try texts(settings.wake_words, settings.wake_word_count, "wake_words")
        phrases = try texts(settings.phrases, settings.phrase_count, "phrases")
        for text in try texts(settings.typed_words, settings.typed_word_count, "typed_words") {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            typedWords[parts.first ?? "", default: []] += parts.dropFirst()
        }
    }

    /// Those of the interfaces so far.
    private static var sizes: [Int] {
        [
            MemoryLayout<beckon_settings>.offset(of: \.words) ?? 0,
            MemoryLayout<beckon_settings>.offset(of: \.typed_words) ?? 0, MemoryLayout<beckon_settings>.stride,
        ]
    }

    private static func choice<Value>(_ number: UInt32, _ values: [Value], _ name: String) throws(CallError) -> Value {
        guard number < values.count else { throw CallError("\(name) is \(number); beckon.h has its values") }
        return values[Int(number)]
    }
}

/// The texts of an array of the caller's.
///
/// - Parameter what: what they are, for messages.
func texts(
    _ pointer: UnsafePointer<UnsafePointer<CChar>?>?,
    _ count: Int,
    _ what: String
) throws(CallError) -> [String] {
    guard count > 0 else { return [] }
    guard let pointer else { throw CallError("\(what) is NULL, but its count is not 0") }
    var found: [String] = []
    for item in UnsafeBufferPointer(start: pointer, count: count) { found.append(try text(item, "one of \(what)")) }
    return found
}
