import Audio

/// What is played next.
enum PlaybackItem: Sendable {
    /// An audio file, by its path.
    case file(String)
    case speech(SpeechStream)
}

/// A file or speech as mono samples at the rate of the loudspeaker.
///
/// Nothing allocates after `init`, except what a file's decoder does.
struct PlayedSound: ~Copyable {
    private static let framesAtOnce = 1024

    /// A file that is read piece by piece.
    private final class FileReader {
        var file: AudioFile
        var interleaved: [Float]
        var mixer: ChannelMixer

        init(path: String) throws(AudioError) {
            let file = try AudioFile(path: path)
            interleaved = [Float](repeating: 0, count: PlayedSound.framesAtOnce * file.channels)
            mixer = ChannelMixer(.mix, channels: file.channels)
            self.file = file
        }

        /// The mean of the channels. Returns the number of samples; 0 at the end.
        func read(into mono: inout [Float]) throws(AudioError) -> Int {
            let channels = file.channels
            // A span of a property would borrow it for longer than Swift can see.
            var interleaved: [Float] = []
            swap(&interleaved, &self.interleaved)
            defer { swap(&interleaved, &self.interleaved) }
            var room = interleaved.mutableSpan
            let count = try file.read(into: &room, maxFrames: PlayedSound.framesAtOnce)
            var mixed = mono.mutableSpan
            mixer.mix(interleaved.span.extracting(first: count * channels), into: &mixed)
            return count
        }
    }

    private enum Source {
        case file(FileReader)
        case speech(SpeechStream)
    }

    private let source: Source
    private let converter: Converter
    private let inputRate: Int
    private let outputRate: Int
    /// Samples of the source, of which those of `used..<filled` are not converted yet.
    private var mono: [Float]
    private var used = 0
    private var filled = 0
    /// Samples so far, of the source and of the loudspeaker.
    private var taken = 0
    private var made = 0
    /// Whether the source gives no more.
    private var isComplete = false
    /// Why the source ended early.
    private(set) var failure: AudioError?
    private let silence = [Float](repeating: 0, count: 256)

    /// Whether ``read(into:)`` has given all samples.
    private(set) var isAtEnd = false

    /// Opens a file.
    ///
    /// - Parameter rate: of the loudspeaker, in hertz.
    /// - Throws: the errors of opening a file, or `AudioError.converter`.
    init(_ item: PlaybackItem, rate: Int) throws(AudioError) {
        let (source, inputRate) = try Self.open(item)
        self.init(source, try Converter(from: inputRate, to: rate), from: inputRate, to: rate)
    }

    /// See `AudioFile` for why there are two.
    private init(_ source: Source, _ converter: consuming Converter, from inputRate: Int, to outputRate: Int) {
        self.source = source
        (self.inputRate, self.outputRate) = (inputRate, outputRate)
        mono = [Float](repeating: 0, count: Self.framesAtOnce)
        self.converter = converter
    }

    private static func open(_ item: PlaybackItem) throws(AudioError) -> (Source, rate: Int) {
        switch item {
        case .file(let path):
            let reader = try FileReader(path: path)
            return (.file(reader), reader.file.sampleRate)
        case .speech(let stream): return (.speech(stream), stream.rate)
        }
    }

    /// The next samples, as many as are there and fit; 0 at the end, and where speech has not arrived yet.
    mutating func read(into room: UnsafeMutableBufferPointer<Float>) -> Int {
        var written = 0
        while written < room.count, !isAtEnd {
            if used == filled, !isComplete { refill() }
            if used == filled, !isComplete { break }
            var rest = UnsafeMutableBufferPointer(rebasing: room[written...])
            let isFlushing = used == filled
            if isFlushing {
                // Silence pushes the last samples out of the converter; the exact length says when to stop.
                let left = length - made
                guard left > 0 else {
                    isAtEnd = true
                    break
                }
                rest = UnsafeMutableBufferPointer(rebasing: rest.prefix(left))
            }
            do throws(AudioError) {
                let progress = try convert(isFlushing, into: rest)
                used += isFlushing ? 0 : progress.consumed
                taken += isFlushing ? 0 : progress.consumed
                written += progress.produced
                made += progress.produced
                if progress.consumed == 0, progress.produced == 0 { break }
            } catch {
                (failure, isAtEnd) = (failure ?? error, true)
            }
        }
        return written
    }

    /// Samples of all that the source has given, at the loudspeaker's rate.
    private var length: Int {
        let (seconds, rest) = taken.quotientAndRemainder(dividingBy: inputRate)
        return seconds * outputRate + (rest * outputRate + inputRate - 1) / inputRate
    }

    private func convert(
        _ isFlushing: Bool,
        into room: UnsafeMutableBufferPointer<Float>
    ) throws(AudioError) -> Resampler.Progress {
        guard !isFlushing else {
            return try silence.withUnsafeBufferPointer { silence throws(AudioError) in
                try converter.run(silence, room)
            }
        }
        let range = used..<filled
        return try mono.withUnsafeBufferPointer { mono throws(AudioError) in
            try converter.run(UnsafeBufferPointer(rebasing: mono[range]), room)
        }
    }

    private mutating func refill() {
        (used, filled) = (0, 0)
        switch source {
        case .file(let reader):
            do throws(AudioError) {
                filled = try reader.read(into: &mono)
                isComplete = filled == 0
            } catch {
                // What was read before it is played.
                (failure, isComplete) = (error, true)
            }
        case .speech(let stream):
            (filled, isComplete) = mono.withUnsafeMutableBufferPointer { stream.take(into: $0) }
        }
    }
}
