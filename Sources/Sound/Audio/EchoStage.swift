import Core
import Echo

/// A canceller with the resampler of its reference.
///
/// Nothing allocates after `init`.
struct EchoStage: ~Copyable {
    private var resampler: Resampler?
    private var canceller: EchoCanceller
    private var samples: [Float]

    /// - Parameters:
    ///   - settings: nil for one that does nothing and takes no memory.
    ///   - rate: of the reference, in hertz.
    ///   - quality: of the resampler of the microphone, so that both are delayed alike.
    /// - Throws: ``AudioError/library`` without libspeexdsp; ``AudioError/converter``.
    init(_ settings: EchoSettings?, rate: Int, quality: Resampler.Quality) throws(AudioError) {
        let resampler = settings?.channel == nil ? nil : try Resampler(from: rate, quality: quality)
        do throws(EchoError) {
            let canceller = try EchoCanceller(settings)
            self.init(resampler, canceller, samples: settings?.channel == nil ? 0 : 2048)
        } catch {
            throw .library.saying(error.description)
        }
    }

    private init(_ resampler: consuming Resampler?, _ canceller: consuming EchoCanceller, samples count: Int) {
        self.resampler = resampler
        self.canceller = canceller
        samples = [Float](repeating: 0, count: count)
    }

    /// Takes what is played, before the microphone's audio of the same time is cancelled.
    ///
    /// - Throws: ``AudioError/converter``.
    mutating func add(reference: Span<Float>) throws(AudioError) {
        // A span of a property would borrow all of `self`.
        var samples: [Float] = []
        swap(&samples, &self.samples)
        defer { swap(&samples, &self.samples) }
        var used = 0
        while true {
            var room = samples.mutableSpan
            let rest = reference.extracting(used..<reference.count)
            guard let progress = try resampler?.process(rest, into: &room, endOfInput: false) else { return }
            used += progress.consumed
            canceller.add(reference: samples.span.extracting(first: progress.produced))
            if progress.produced == 0, used == reference.count || progress.consumed == 0 { return }
        }
    }

    /// Takes what a device of its own plays, at 16 kHz.
    ///
    /// - Parameter continues: whether these samples follow those before; else the canceller begins anew.
    mutating func add(piece: Span<Float>, continues: Bool) {
        if !continues { canceller.reset() }
        canceller.add(reference: piece)
    }

    var isAligned: Bool { canceller.isAligned }

    /// See ``EchoCanceller/align(first:newest:)``.
    mutating func align(first: Double, newest: Double) { canceller.align(first: first, newest: newest) }

    /// See ``EchoCanceller/reduction``.
    var reduction: Float? { canceller.reduction }

    /// See ``EchoCanceller/played``.
    var played: Span<Float> { canceller.played }

    /// See ``EchoCanceller/cancel(in:)``.
    mutating func cancel(in block: inout MutableSpan<Float>) { canceller.cancel(in: &block) }

    /// Begins anew, as after a gap.
    mutating func reset() throws(AudioError) {
        try resampler?.reset()
        canceller.reset()
    }
}
