/// Reads samples as ``ReadingRule`` tells, whatever the pieces are in which they come.
///
/// Until it is told, the newest second is kept back, so that the first word is read rightly too: samples go in by ``push(_:)`` and come out by
/// ``pull(into:)``. Then nothing is kept, and ``pass(_:)`` reads samples in place. A live source keeps nothing back: it passes all. Nothing
/// allocates after `init`.
public struct SampleReader: Sendable {
    private var rule: ReadingRule
    /// How samples are read now.
    public private(set) var reading: SampleReading
    /// Whether ``reading`` was told, and not only declared.
    private var isTold = false
    /// Whether no more comes.
    private var hasEnded = false
    private let isLive: Bool
    private var kept: [Float]
    /// Samples in `kept`, where they begin, and how many of them may go.
    private var count = 0
    private var first = 0
    private var free = 0
    /// Samples that stay back until it is told.
    private let delay: Int
    private var warned: SampleReading?
    private var hasWarnedOfQuiet = false

    /// Most samples that are kept: a second, but less of many channels.
    private static let mostKept = 1 << 18
    /// Slices with sound after which a live source, and one that goes on, is reported as quiet: half a minute.
    private static let quietSlices = 1500

    /// - Parameters:
    ///   - rate: frames a second.
    ///   - channels: how many are interleaved.
    ///   - isLive: whether nothing may be kept back.
    public init(_ declared: SampleReading.Declared, rate: Int, channels: Int, isLive: Bool = false) {
        rule = ReadingRule(declared, rate: rate, channels: channels)
        reading = SampleReading(declared)
        self.isLive = isLive
        let slice = rule.sliceSamples
        delay = isLive ? 0 : max(1, min(ReadingRule.slices, Self.mostKept / slice)) * slice
        kept = isLive ? [] : [Float](repeating: 0, count: delay + slice)
    }

    /// Whether samples pass at once.
    public var isPassing: Bool { isLive || (isTold || hasEnded) && count == 0 }

    /// Samples that are kept back.
    public var waiting: Int { count }

    /// Samples that ``push(_:)`` takes now.
    public var room: Int { isTold || hasEnded ? 0 : min(rule.left, kept.count - count) }

    /// Takes the next samples, at most ``room``.
    public mutating func push(_ samples: UnsafeBufferPointer<Float>) {
        var place = first + count
        for sample in samples {
            kept[place % kept.count] = sample
            place += 1
        }
        count += samples.count
        // At the end of a slice only, so that the pieces do not matter.
        guard rule.add(samples) else { return }
        decide(isEnd: false)
        if !isTold { free = max(0, count - delay) }
    }

    /// Tells by what came, as no more comes; all may go.
    public mutating func finish() {
        guard !isLive, !hasEnded else { return }
        if !isTold { decide(isEnd: true) }
        (hasEnded, free) = (true, count)
    }

    /// Forgets what is kept back, where other audio begins. The reading stays as it is.
    public mutating func reset() { (count, first, free, hasEnded) = (0, 0, 0, false) }

    /// Gives samples that may go, as many as there are and fit; returns their number.
    public mutating func pull(into room: UnsafeMutableBufferPointer<Float>) -> Int {
        let number = min(free, room.count)
        for index in 0..<number { room[index] = reading.value(kept[(first + index) % kept.count]) }
        first = count == number ? 0 : (first + number) % kept.count
        count -= number
        free -= number
        return number
    }

    /// Reads samples in place, where ``isPassing``.
    public mutating func pass(_ samples: UnsafeMutableBufferPointer<Float>) {
        var done = 0
        while done < samples.count {
            // All bits are used: there is nothing more to tell.
            if isTold, reading.isDeclared, reading.declared != .floats { return }
            let piece = UnsafeMutableBufferPointer(
                rebasing: samples[done..<done + min(rule.left, samples.count - done)]
            )
            done += piece.count
            let isComplete = rule.add(UnsafeBufferPointer(piece))
            for index in piece.indices { piece[index] = reading.value(piece[index]) }
            if isComplete { decide(isEnd: false) }
        }
    }

    private mutating func decide(isEnd: Bool) {
        guard let told = rule.reading(isEnd: isEnd, present: isTold ? reading : nil) else {
            if !isTold { reading.unused = -rule.provisional }
            return
        }
        (reading, isTold, free) = (told, true, count)
    }

    /// Whether audio goes on that is too quiet to tell how it is to be read.
    public func isQuiet(isEnd: Bool = false) -> Bool {
        reading.isDeclared && rule.isQuiet && rule.soundingSlices >= (isEnd ? 5 : Self.quietSlices)
    }

    /// A line that is due on how samples are read; each once.
    ///
    /// - Parameter isEnd: no more come.
    public mutating func warning(_ source: String, isEnd: Bool = false) -> String? {
        if reading != warned, isTold || isEnd {
            let former = warned
            warned = reading
            if let line = reading.warning(source) { return line }
            if let former, !former.isDeclared {
                return
                    "\(source) is now louder than \(former.declared.bits - former.unused) bits: it is read as \(former.declared.bits) bits from here on"
            }
        }
        guard !hasWarnedOfQuiet, isQuiet(isEnd: isEnd) else { return nil }
        hasWarnedOfQuiet = true
        return reading.quietWarning(source)
    }
}
