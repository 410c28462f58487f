public import Audio
import Capture
public import Core
import Glibc
import Synchronization
import System

/// Audio that another program writes to standard input, as it comes: `arecord … | beckon listen -`.
///
/// A thread of its own reads, so that a writer that stalls holds up nothing. A writer that is faster than the detector waits:
/// nothing is lost. At the end a second of silence follows, so that the last word is decided too.
public final class PipeSource: AudioSource {
    private struct State {
        var problem: AudioError?
        /// What was read is told once: the format, and the end before its time.
        var messages: [(level: LogLevel, text: String)] = []
        var lastAudio = Clock.now
        var isSilenceReported = false
        var samples = 0
    }

    /// A writer that gives no audio for so long is reported.
    private static let timeout = Duration.seconds(3)

    private let descriptor: Int32
    private let ring: BlockRing
    private let reader: EventFD
    private let stopping: EventFD
    private let isStopping = Atomic<Bool>(false)
    /// Set by the reading thread after its last block.
    private let isRead = Atomic<Bool>(false)
    /// Set by the detector's thread when that block is processed.
    private let isOver = Atomic<Bool>(false)
    private let finished = Latch()
    private let state = Mutex(State())
    /// Until the thread takes them.
    private let blocks: Mutex<StreamBlocks?>

    /// - Parameters:
    ///   - descriptor: stays open and is not changed.
    ///   - raw: the format of audio without a header; nil for WAV.
    /// - Throws: ``AudioError`` if the format does not have the channels of `mix`; `CaptureError` if the system gives no
    ///   descriptor.
    public init(_ descriptor: Int32, raw: RawFormat?, mix: ChannelMix) throws {
        self.descriptor = descriptor
        ring = try BlockRing(minimumCapacity: 4, keepsPlayed: mix.echo != nil)
        reader = try EventFD(or: CaptureError.noEventFD)
        stopping = try EventFD(or: CaptureError.noEventFD)
        blocks = Mutex(try StreamBlocks(raw: raw, mix: mix))
    }

    public func start() throws {
        _ = try SystemThread(name: "beckon-input", stackSize: 512 << 10, or: CaptureError.noThread) { [self] in
            if var blocks = blocks.withLock({ $0.take() }) { read(&blocks) }
            isRead.store(true, ordering: .releasing)
            reader.signal()
            finished.open()
        }
    }

    public func copyPlayed(to samples: inout [Float]) -> Bool { ring.copyPlayed(to: &samples) }

    public var lost: LostAudio { ring.lost }

    public var waits: Bool { true }

    public var hasEnded: Bool { isOver.load(ordering: .acquiring) }

    public var problem: AudioError? { state.withLock { $0.problem } }

    public var progress: AudioProgress? {
        AudioProgress(seconds: Double(state.withLock { $0.samples }) / Double(AudioFormat.sampleRate), length: nil)
    }

    public func next(until time: Instant, _ body: (Span<Float>, AudioBlock) -> Void) -> Bool {
        while true {
            let isRead = isRead.load(ordering: .acquiring)
            let isFound = ring.withWindow { window, block in
                // Nobody knows when it was captured: it is as old as it is here.
                var block = block
                block.time = Clock.now
                body(window, block)
            }
            if isFound { return true }
            if isRead {
                isOver.store(true, ordering: .releasing)
                return false
            }
            guard reader.wait(until: time) else { return false }
        }
    }

    public func messages(at now: Instant) -> [(level: LogLevel, text: String)] {
        state.withLock { state in
            defer { state.messages = [] }
            let isSilent = now - state.lastAudio >= Self.timeout && !isRead.load(ordering: .relaxed)
            if isSilent, !state.isSilenceReported {
                state.isSilenceReported = true
                state.messages.append((.warning, "standard input: no audio comes; it is waited for"))
            }
            return state.messages
        }
    }

    public var trouble: String? { state.withLock { $0.isSilenceReported ? "no audio comes" : nil } }

    public func stop(until time: Instant) -> Bool {
        isStopping.store(true, ordering: .relaxed)
        stopping.signal()
        return finished.wait(until: time)
    }

    // MARK: - On the reading thread

    private func read(_ blocks: inout StreamBlocks) {
        var part = [UInt8](repeating: 0, count: 1 << 14)
        // The format of audio without a header is known before any of it came.
        var isFormatReported = false
        var reported = ChannelFaults()
        do throws(AudioError) {
            while let count = try wait(&part), count > 0 {
                try blocks.take(part[..<count]) { block, played in put(block, played) }
                note(blocks, isNew: !isFormatReported)
                isFormatReported = blocks.format != nil
                report(blocks.faults, &reported)
            }
            if isStopping.load(ordering: .relaxed) { return }
            try blocks.finish { block, played in put(block, played) }
            report(blocks.faults, &reported)
        } catch {
            state.withLock { $0.problem = error }
        }
        var closing = ClosingSilence()
        var silence = [Float](repeating: 0, count: AudioFormat.hopSamples)
        while closing.next(&silence) { put(silence.span) }
    }

    /// The next bytes; nil when reading is to stop, 0 at the end.
    private func wait(_ part: inout [UInt8]) throws(AudioError) -> Int? {
        while !isStopping.load(ordering: .relaxed) {
            var requests = [Poll.request(descriptor, POLLIN), Poll.request(stopping.descriptor, POLLIN)]
            Poll.wait(&requests, until: nil)
            guard requests[0].revents != 0 else { continue }
            let count = Glibc.read(descriptor, &part, part.count)
            if count >= 0 { return count }
            guard errno == EINTR || errno == EAGAIN else {
                throw .unreadableInput(errno)
            }
        }
        return nil
    }

    private func note(_ blocks: borrowing StreamBlocks, isNew: Bool) {
        if isNew, let format = blocks.format {
            report(.info, "listening to standard input, \(format.rate) Hz, channels: \(format.channels)")
        }
        let samples = blocks.samples
        state.withLock { state in
            if state.isSilenceReported {
                let seconds = durationText((Clock.now - state.lastAudio).seconds)
                state.messages.append((.notice, "standard input: audio comes again after \(seconds)"))
            }
            (state.lastAudio, state.isSilenceReported, state.samples) = (Clock.now, false, samples)
        }
    }

    /// Warns, once, of faulty channels.
    private func report(_ faults: ChannelFaults, _ reported: inout ChannelFaults) {
        guard reported.isEmpty, let warning = faults.warning("standard input") else { return }
        reported = faults
        report(.warning, warning)
    }

    private func report(_ level: LogLevel, _ text: String) { state.withLock { $0.messages.append((level, text)) } }

    /// Writes a block, and what was played meanwhile, to the ring; waits while it is full.
    private func put(_ block: Span<Float>, _ played: Span<Float> = Span()) {
        while ring.counts.unread >= UInt64(ring.capacity), !isStopping.load(ordering: .relaxed) {
            Clock.sleep(until: Clock.now + .milliseconds(2))
        }
        ring.write(block, time: Clock.now, played: played)
        reader.signal()
    }
}
