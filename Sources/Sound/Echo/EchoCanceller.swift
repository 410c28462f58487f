import Core

/// Removes the echo of a loudspeaker from audio at 16 kHz: keeps what was played, finds how much later it is heard, and cancels it.
///
/// It adds no delay. Where nothing was played for the filter's length, the audio is left as it is. Nothing allocates after `init`.
public struct EchoCanceller: ~Copyable {
    /// Largest magnitude that counts as nothing: half a step of 16 bits.
    private static let silence: Float = 0.5 / 32768
    /// Samples that are read from the reference at once: a block.
    private static let most = AudioFormat.hopSamples

    private var filter: EchoFilter
    private var line: ReferenceLine
    private var delay: EchoDelay
    /// Nil where no echo is removed.
    private let filterSamples: Int?
    /// Whether the reference is a device, whose samples are placed by their times.
    private let isDevice: Bool
    /// Whether it is known which sample of the reference belongs to the next one of the microphone.
    public private(set) var isAligned: Bool
    /// What was played during the newest block, as it is read: all zeros before it is aligned.
    private var aligned: [Float]
    /// The next place of the reference, in samples from its beginning, and how many samples later it is each second.
    private var place = 0.0
    private var rate = 0.0
    /// Samples of the reference since its last sound.
    private var silent = Int.max / 2
    private var account = EchoAccount()

    /// Loads libspeexdsp.
    ///
    /// - Parameter settings: nil for one that does nothing and takes no memory. It stands for an optional canceller, of which Swift 6.3.1
    ///   destroys a value that is not there, where another module has it in its own types.
    public init(_ settings: EchoSettings?) throws(EchoError) {
        // First what may fail: Swift 6.2.3 fails to compile that behind other values that cannot be copied.
        let filter = try EchoFilter(seconds: settings?.filter)
        filterSamples = settings.map { Int($0.filter * Double(AudioFormat.sampleRate)) }
        isDevice = settings?.reference == .device
        isAligned = !isDevice
        delay = EchoDelay(filter: filterSamples)
        line = ReferenceLine(isUsed: settings != nil)
        aligned = [Float](repeating: 0, count: settings == nil ? 0 : Self.most)
        self.filter = filter
    }

    /// Takes what is played at 16 kHz, before the microphone's audio of the same time is cancelled.
    public mutating func add(reference: Span<Float>) { if filterSamples != nil { line.add(reference) } }

    /// Samples of a device's reference that may be late: what its thread reads at once.
    private static let lateness = 160.0

    /// Tells which sample of a device's reference was captured with which one of the microphone. Does nothing where that is known.
    ///
    /// - Parameters:
    ///   - first: samples by which the newest one of the reference is later than the next one that ``cancel(in:)`` gets.
    ///   - newest: and than the newest one that was captured, which a later block may have; negative if it is earlier.
    public mutating func align(first: Double, newest: Double) {
        guard isDevice, !isAligned, line.count > 0 else { return }
        // It is read later by what is not there yet when a block is complete.
        let needed = Double(ReferenceLine.taps / 2) + Self.lateness
        let shift = max(0, needed - newest).rounded(.up)
        place = (Double(line.count - 1) - first - shift).rounded()
        delay.reset(later: ReferenceLine.taps + Int(shift + newest - needed))
        isAligned = true
    }

    /// What was played during the block that was cancelled last, of at most 1600 samples, in time with its echo; empty where no echo is removed.
    public var played: Span<Float> { aligned.span }

    /// How many decibels of the echo are removed, from the last seconds with sound in the reference; nil before that.
    public var reduction: Float? { account.decibels }

    /// Removes the echo from the next samples, of which there are a multiple of 160.
    public mutating func cancel(in block: inout MutableSpan<Float>) {
        guard let filterSamples, isAligned else { return }
        var start = 0
        while start < block.count {
            let count = min(Self.most, block.count - start)
            var part = block.extracting(start..<start + count)
            cancelPart(&part, filterSamples)
            start += count
        }
    }

    private mutating func cancelPart(_ block: inout MutableSpan<Float>, _ filterSamples: Int) {
        let step = 1 - rate / Double(AudioFormat.sampleRate)
        for index in 0..<block.count {
            aligned[index] = line.value(at: place)
            place += step
            silent = aligned[index].magnitude > Self.silence ? 0 : silent + 1
        }
        switch delay.add(block.span, aligned) {
        case .jump(let samples):
            // Between two samples those after them are needed.
            place = min((place - Double(samples)).rounded(), Double(line.count - ReferenceLine.taps / 2))
            rate = 0
            filter.reset()
        case .rate(let samples): rate = samples
        case nil: break
        }
        guard silent < filterSamples + block.count else { return }
        let before = EchoAccount.energy(block.span)
        for start in stride(from: 0, through: block.count - EchoFilter.frame, by: EchoFilter.frame) {
            filter.cancel(in: &block, at: start, reference: aligned)
        }
        if silent < block.count { account.add(before: before, after: EchoAccount.energy(block.span)) }
    }

    /// Begins anew, as after a gap.
    public mutating func reset() {
        line.reset()
        delay.reset()
        filter.reset()
        (place, rate, silent, isAligned) = (0, 0, .max / 2, !isDevice)
        for index in aligned.indices { aligned[index] = 0 }
        account = EchoAccount()
    }
}
