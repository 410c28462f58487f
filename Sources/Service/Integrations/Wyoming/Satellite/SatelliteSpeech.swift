import Audio
import Playback

/// The speech that Home Assistant sends, on its way to the speaker. Where it cannot be played it is read and dropped.
///
/// Speech that was begun is cancelled with this value.
struct SatelliteSpeech: ~Copyable {
    private static let samplesAtOnce = 256

    /// Begins to play speech of a rate in hertz; nil where that is not possible.
    private let open: (Int) -> SpeechStream?
    private var stream: SpeechStream?
    private var format = PCMFormat.usual
    private var decoder = PCMDecoder(.s16, channels: 1, mix: .mix)
    private var samples = [Float](repeating: 0, count: samplesAtOnce)
    /// Whether speech has begun, and whether its end was not answered yet.
    private var isOpen = false
    private(set) var isEnding = false

    init(open: @escaping (Int) -> SpeechStream?) { self.open = open }

    deinit { stream?.cancel() }

    /// Whether ``isEnding`` speech was heard to its end, or cannot be played.
    var isPlayed: Bool { isEnding && stream?.isOver ?? true }

    /// Begins speech, or goes on with speech of the same rate.
    ///
    /// - Parameter isNew: whether it begins, however it was before.
    /// - Throws: for audio that cannot be decoded, or another rate in the midst of speech.
    mutating func begin(_ event: WyomingEvent, isNew: Bool) throws(ProtocolViolation) {
        guard let format = PCMFormat(event, else: isOpen && !isNew ? format : .usual) else {
            throw ProtocolViolation(description: PCMFormat.limits)
        }
        if isNew || !isOpen {
            // What was begun and not ended is played as far as it came.
            stream?.finish()
            stream = open(format.rate)
        } else if format.rate != self.format.rate {
            throw ProtocolViolation(description: "speech goes on with the rate that it began with")
        }
        if format.layout != decoder.layout || format.channels != decoder.channels || isNew || !isOpen {
            decoder = PCMDecoder(format.layout, channels: format.channels, mix: .mix)
        }
        (self.format, isOpen) = (format, true)
    }

    /// Uses bytes of the speech, as far as there is room for them.
    ///
    /// - Returns: the bytes used; 0 where the speaker has to play first.
    mutating func take(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        guard isOpen, let stream else { return bytes.count }
        // A span of a property would borrow all of `self`.
        var samples: [Float] = []
        swap(&samples, &self.samples)
        defer { swap(&samples, &self.samples) }
        var used = 0
        while used < bytes.count {
            let room = min(stream.room, samples.count)
            guard room > 0 else { break }
            // No more than there is room for, with the beginning of a frame that is kept.
            let most = min(bytes.count - used, room * decoder.frameBytes - decoder.waiting)
            var span = samples.mutableSpan
            let progress = decoder.decode(
                UnsafeBufferPointer(rebasing: bytes[used..<used + most]).span,
                into: &span
            )
            stream.write(samples.span.extracting(first: progress.frames))
            used += progress.bytes
        }
        return used
    }

    /// The speech is complete.
    mutating func end() {
        stream?.finish()
        (isOpen, isEnding) = (false, true)
    }

    /// Somebody talks into the speech: the rest of it is read and dropped.
    func interrupt() { stream?.cancel() }

    /// That it was played was answered.
    mutating func close() { (stream, isEnding) = (nil, false) }
}
