import Audio
import Core

/// How a client's audio is coded: whole numbers with a sign, little-endian, channels interleaved.
struct PCMFormat: Equatable {
    let rate: Int
    /// Bytes of a sample, 1–4.
    let width: Int
    let channels: Int

    /// The audio that needs no conversion, and that Home Assistant sends.
    static let usual = PCMFormat(rate: AudioFormat.sampleRate, width: 2, channels: 1)

    var frameBytes: Int { width * channels }

    private init(rate: Int, width: Int, channels: Int) {
        self.rate = rate
        self.width = width
        self.channels = channels
    }

    /// The format of an event; keys that it lacks are those of `other`. Nil outside the limits.
    init?(_ event: WyomingEvent, else other: PCMFormat) {
        let rate = event.rate ?? other.rate
        let width = event.width ?? other.width
        let channels = event.channels ?? other.channels
        guard Resampler.inputRates.contains(rate), (1...4).contains(width), (1...64).contains(channels) else {
            return nil
        }
        self.init(rate: rate, width: width, channels: channels)
    }

    static let limits =
        "audio has \(Resampler.inputRates.lowerBound) to \(Resampler.inputRates.upperBound) samples a second, "
        + "1 to 4 bytes a sample and 1 to 64 channels"
}

/// Converts a client's audio, in pieces of any size, to mono at 16 kHz.
///
/// Only ``begin(_:)`` allocates, and only for another rate.
struct PCMConverter: ~Copyable {
    private(set) var format = PCMFormat.usual
    /// Nil at 16 kHz.
    private var resampler: Resampler?
    /// An incomplete frame.
    private var partial = [UInt8](repeating: 0, count: 4 * 64)
    private var partialCount = 0
    /// Mono samples for the resampler; those of `used..<filled` it has not taken yet.
    private var mono = [Float](repeating: 0, count: 256)
    private var used = 0
    private var filled = 0
    /// Frames of the audio so far.
    private(set) var frames = 0
    /// How often the rate changed; each change makes new filters.
    private var changes = 0

    /// Most changes of the rate in one connection. Filters cost milliseconds.
    private static let mostChanges = 64

    init() {}

    /// Begins audio of a format, and forgets what is left of the audio before.
    ///
    /// - Throws: ``AudioError`` for a rate that cannot be converted, or too many changes.
    mutating func begin(_ format: PCMFormat) throws(AudioError) {
        partialCount = 0
        frames = 0
        (used, filled) = (0, 0)
        if format.rate != self.format.rate {
            changes += 1
            guard changes <= Self.mostChanges else { throw .converter }
            resampler = format.rate == AudioFormat.sampleRate ? nil : try Resampler(from: format.rate)
        } else {
            try resampler?.reset()
        }
        self.format = format
    }

    /// Ends a piece of audio that should have held whole frames: an incomplete one is dropped.
    mutating func endPiece() { partialCount = 0 }

    /// Converts until the bytes are used up or the room is full.
    ///
    /// - Parameter room: gets samples at 16 kHz.
    /// - Returns: the bytes used and the samples written. Where the room is full, call again with more room, even without bytes.
    mutating func convert(
        _ bytes: UnsafeBufferPointer<UInt8>,
        into room: UnsafeMutableBufferPointer<Float>
    ) throws(AudioError) -> (used: Int, written: Int) {
        var (taken, written) = (0, 0)
        guard resampler != nil else {
            while written < room.count {
                let part = UnsafeMutableBufferPointer(rebasing: room[written...])
                let (count, frames) = decode(UnsafeBufferPointer(rebasing: bytes[taken...]), into: part)
                taken += count
                written += frames
                if frames == 0 { break }
            }
            return (taken, written)
        }
        while written < room.count {
            let before = used
            let made = try resample(into: UnsafeMutableBufferPointer(rebasing: room[written...]))
            written += made
            if made > 0 || used > before { continue }
            taken += refill(UnsafeBufferPointer(rebasing: bytes[taken...]))
            if filled == 0 { break }
        }
        return (taken, written)
    }

    /// Writes the samples that the filters still hold, at the end of the audio; 0 when there are no more. Then ``begin(_:)``.
    mutating func drain(into room: UnsafeMutableBufferPointer<Float>) throws(AudioError) -> Int {
        guard resampler != nil else { return 0 }
        let empty = UnsafeBufferPointer<Float>(start: nil, count: 0)
        return try process(empty, into: room, endOfInput: true).produced
    }

    /// Decodes the next mono samples for the resampler; returns the number of bytes used.
    private mutating func refill(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        var samples: [Float] = []
        swap(&samples, &mono)
        defer { swap(&samples, &mono) }
        let result = samples.withUnsafeMutableBufferPointer { decode(bytes, into: $0) }
        (used, filled) = (0, result.frames)
        return result.used
    }

    /// Gives the resampler the waiting mono samples; returns the number of samples it wrote.
    private mutating func resample(into room: UnsafeMutableBufferPointer<Float>) throws(AudioError) -> Int {
        var waiting: [Float] = []
        swap(&waiting, &mono)
        defer { swap(&waiting, &mono) }
        let range = used..<filled
        let result: Result<(consumed: Int, produced: Int), AudioError> = waiting.withUnsafeBufferPointer { waiting in
            do throws(AudioError) {
                return .success(
                    try process(UnsafeBufferPointer(rebasing: waiting[range]), into: room, endOfInput: false)
                )
            } catch {
                return .failure(error)
            }
        }
        let progress = try result.get()
        used += progress.consumed
        return progress.produced
    }

    private mutating func process(
        _ input: UnsafeBufferPointer<Float>,
        into room: UnsafeMutableBufferPointer<Float>,
        endOfInput: Bool
    ) throws(AudioError) -> (consumed: Int, produced: Int) {
        guard var resampler = resampler.take() else { return (0, 0) }
        var span = room.mutableSpan
        let result: Result<Resampler.Progress, AudioError>
        do throws(AudioError) {
            result = .success(try resampler.process(input.span, into: &span, endOfInput: endOfInput))
        } catch {
            result = .failure(error)
        }
        self.resampler = consume resampler
        let progress = try result.get()
        return (progress.consumed, progress.produced)
    }

    // MARK: - Samples

    private mutating func decode(
        _ bytes: UnsafeBufferPointer<UInt8>,
        into mono: UnsafeMutableBufferPointer<Float>
    ) -> (used: Int, frames: Int) {
        let result = Self.decode(bytes, format, &partial, &partialCount, into: mono)
        frames += result.frames
        return result
    }

    /// Decodes whole frames and mixes their channels, as many as are there and fit; bytes of an incomplete last one are kept.
    private static func decode(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ format: PCMFormat,
        _ partial: inout [UInt8],
        _ partialCount: inout Int,
        into mono: UnsafeMutableBufferPointer<Float>
    ) -> (used: Int, frames: Int) {
        guard !mono.isEmpty else { return (0, 0) }
        let size = format.frameBytes
        var used = 0
        var frames = 0
        if partialCount > 0 {
            while partialCount < size, used < bytes.count {
                partial[partialCount] = bytes[used]
                partialCount += 1
                used += 1
            }
            guard partialCount == size else { return (used, 0) }
            partialCount = 0
            partial.withUnsafeBytes { mix($0, 0, format, frames: 1, into: mono) }
            frames = 1
        }
        let whole = min((bytes.count - used) / size, mono.count - frames)
        let target = UnsafeMutableBufferPointer(rebasing: mono[frames...])
        mix(UnsafeRawBufferPointer(bytes), used, format, frames: whole, into: target)
        used += whole * size
        frames += whole
        if frames < mono.count {
            // Less than a frame is left.
            while used < bytes.count {
                partial[partialCount] = bytes[used]
                partialCount += 1
                used += 1
            }
        }
        return (used, frames)
    }

    /// Writes the mean of the channels of some frames, full scale ±1.
    private static func mix(
        _ bytes: UnsafeRawBufferPointer,
        _ start: Int,
        _ format: PCMFormat,
        frames: Int,
        into mono: UnsafeMutableBufferPointer<Float>
    ) {
        let (width, channels) = (format.width, format.channels)
        if width == 2, channels == 1 {
            for frame in 0..<frames {
                let sample = bytes.loadUnaligned(fromByteOffset: start + 2 * frame, as: Int16.self)
                mono[frame] = Float(Int16(littleEndian: sample)) * 0x1p-15
            }
            return
        }
        let scale = 1 / Float(channels)
        for frame in 0..<frames {
            var sum: Float = 0
            for channel in 0..<channels {
                sum += sample(bytes, start + (frame * channels + channel) * width, width)
            }
            mono[frame] = sum * scale
        }
    }

    private static func sample(_ bytes: UnsafeRawBufferPointer, _ place: Int, _ width: Int) -> Float {
        switch width {
        case 1: return Float(Int8(bitPattern: bytes[place])) * 0x1p-7
        case 2:
            return Float(Int16(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: Int16.self))) * 0x1p-15
        case 3:
            let high = Int32(Int8(bitPattern: bytes[place + 2])) << 16
            return Float(high | Int32(bytes[place + 1]) << 8 | Int32(bytes[place])) * 0x1p-23
        default:
            return Float(Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: Int32.self))) * 0x1p-31
        }
    }
}
