import Audio
import Capture
import Core
import Glibc

/// One sound on its way to the device: fills the device's buffer again and again, until the last sample was heard.
///
/// Silence follows the sound until then, so that no device has to be drained, which some do not do without waiting. Nothing allocates
/// after `init`, except what a file's decoder does.
struct PlaybackRun: ~Copyable {
    enum Step {
        /// Call again after this time, or when more speech has come.
        case wait(Duration)
        /// All of it was heard.
        case ended
        /// The device failed: the call, and a negative errno.
        case failed(StaticString, Int32)
        /// The device or the speech has not gone on for ``longestStall``.
        case stalled
    }

    /// How long a device may take no frames, and speech may give none.
    static let longestStall = Duration.seconds(10)
    /// How long to wait for speech before the device starts with what is there.
    private static let longestPrelude = Duration.milliseconds(100)
    private static let shortestWait = Duration.milliseconds(2)

    /// Times that the device ran out of frames.
    private(set) var underruns = 0
    private(set) var sound: PlayedSound
    private let format: StreamFormat
    private var mono: [Float]
    private let frames: UnsafeMutableRawBufferPointer
    /// Bytes of `frames` that are not written yet, and whether they are silence after the sound.
    private var waiting = 0..<0
    private var isSilence = false
    /// Frames written since the device was prepared: all, and those of silence after the sound.
    private var written = 0
    private var silence = 0
    private var isStarted = false
    private var isPrepared = false
    /// When the first frames were written, and when something was written last.
    private var firstWrite: Instant?
    private var lastProgress: Instant

    init(_ sound: consuming PlayedSound, _ format: StreamFormat, at now: Instant) {
        self.sound = sound
        self.format = format
        let count = max(1, format.period)
        mono = [Float](repeating: 0, count: count)
        frames = .allocate(byteCount: count * format.frameBytes, alignment: 16)
        lastProgress = now
    }

    deinit { frames.deallocate() }

    /// Writes what the device takes.
    ///
    /// - Parameters:
    ///   - reference: gets what is heard.
    ///   - resampler: for it, from the device's rate.
    mutating func advance(
        _ pcm: borrowing PlaybackPCM,
        _ reference: inout PlayedReference,
        _ resampler: ReferenceResampler,
        at now: Instant
    ) -> Step {
        if !isPrepared {
            let result = pcm.prepare()
            guard result >= 0 else { return .failed("snd_pcm_prepare", result) }
            (isPrepared, isStarted, written, silence, firstWrite) = (true, false, 0, 0, nil)
            resampler.reset()
            reference.begin()
        }
        let count = fill(pcm, &reference, resampler)
        guard count >= 0 else { return recover(pcm, "snd_pcm_writei", count, at: now) }
        if count > 0 {
            lastProgress = now
            firstWrite = firstWrite ?? now
        }
        if sound.isAtEnd, waiting.isEmpty || isSilence, written - silence == 0 { return .ended }
        if !isStarted, written > 0, isEnough(at: now) {
            let result = pcm.start()
            guard result >= 0 else { return recover(pcm, "snd_pcm_start", Int(result), at: now) }
            isStarted = true
            let frames = Int64(max(0, pcm.delay() - written))
            reference.started(at: now + .nanoseconds(frames * 1_000_000_000 / Int64(max(1, format.rate))))
        }
        guard isStarted else {
            reference.silence(until: now)
            return rest(Self.longestPrelude / 5, at: now)
        }
        let delay = pcm.delay()
        guard delay >= 0 else { return recover(pcm, "snd_pcm_delay", delay, at: now) }
        let isWritten = sound.isAtEnd && (waiting.isEmpty || isSilence)
        if isWritten, delay <= silence { return .ended }
        // Half of the buffer stays for a thread that is late.
        let ahead = min(delay, format.buffer)
        let spare = isWritten ? min(delay - silence, ahead / 2) : ahead - format.buffer / 2
        let wait = Duration.nanoseconds(Int64(max(0, spare)) * 1_000_000_000 / Int64(max(1, format.rate)))
        return rest(wait, at: now)
    }

    private func rest(_ wait: Duration, at now: Instant) -> Step {
        now - lastProgress >= Self.longestStall ? .stalled : .wait(max(Self.shortestWait, wait))
    }

    /// Whether the device may start: with half its buffer, or with all there is.
    private func isEnough(at now: Instant) -> Bool {
        sound.isAtEnd || written >= format.buffer / 2 || now - (firstWrite ?? now) >= Self.longestPrelude
    }

    /// Fills the room that the device has now. Returns the frames written, or a negative errno.
    private mutating func fill(
        _ pcm: borrowing PlaybackPCM,
        _ reference: inout PlayedReference,
        _ resampler: ReferenceResampler
    ) -> Int {
        var room = pcm.room()
        guard room > 0 else { return room }
        var count = 0
        while room > 0 {
            if waiting.isEmpty { load(&reference, resampler) }
            guard !waiting.isEmpty else { break }
            let most = min(waiting.count, room * format.frameBytes)
            let part = UnsafeRawBufferPointer(rebasing: frames[waiting.prefix(most)])
            let taken = pcm.write(part)
            guard taken > 0 else { return taken == -Int(EAGAIN) || taken == 0 ? count : taken }
            waiting = (waiting.lowerBound + taken * format.frameBytes)..<waiting.upperBound
            written += taken
            silence += isSilence ? taken : 0
            count += taken
            room -= taken
        }
        return count
    }

    /// Makes the next frames, at most a period: of the sound, or of the silence after it. None if speech has not arrived yet.
    private mutating func load(_ reference: inout PlayedReference, _ resampler: ReferenceResampler) {
        // A span of a property would borrow all of `self`.
        var mono: [Float] = []
        swap(&mono, &self.mono)
        defer { swap(&mono, &self.mono) }
        let count = mono.withUnsafeMutableBufferPointer { sound.read(into: $0) }
        isSilence = count == 0 && sound.isAtEnd && isStarted
        let frameCount = isSilence ? mono.count : count
        if isSilence { for index in mono.indices { mono[index] = 0 } }
        format.sample.encode(mono.span.extracting(first: frameCount), channels: format.channels, into: frames)
        waiting = 0..<frameCount * format.frameBytes
        // After the sound it is silent until the next one, however long that takes.
        if !isSilence { reference.add(mono.span.extracting(first: count), resampler) }
    }

    /// After an underrun the device goes on with what comes next, after a suspend with what it has.
    private mutating func recover(
        _ pcm: borrowing PlaybackPCM,
        _ call: StaticString,
        _ result: Int,
        at now: Instant
    ) -> Step {
        let number = Int32(clamping: result)
        switch -number {
        case EPIPE:
            isPrepared = false
            // What was written was heard.
            if sound.isAtEnd, waiting.isEmpty || isSilence { return .ended }
            underruns += 1
            return rest(Self.shortestWait, at: now)
        case ESTRPIPE:
            let resumed = pcm.resume()
            if resumed == -EAGAIN { return rest(Self.longestPrelude, at: now) }
            // Not all drivers can resume.
            if resumed < 0 { isPrepared = false }
            isStarted = pcm.isRunning
            return rest(Self.shortestWait, at: now)
        default: return .failed(call, number)
        }
    }
}
