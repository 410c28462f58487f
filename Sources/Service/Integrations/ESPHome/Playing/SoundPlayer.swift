import Audio
import Core
import Network
import Playback
import Synchronization
import System

/// Plays sounds by their addresses, one after the other, on a thread of its own, with a volume: answers and announcements, or music.
///
/// A sound is fetched as a whole, up to ``mostBytes``, and decoded as it is played. All members may be used from any thread; none waits.
final class SoundPlayer: Sendable {
    enum Source: Equatable, Sendable {
        /// An address that begins with `http://` or `https://`.
        case address(String)
        case file(String)
        case chime(Chime)
    }

    /// What became of a sound.
    struct End: Equatable, Sendable {
        var id: Int
        /// Whether all of it was given to the loudspeaker.
        var isWhole: Bool
        /// Why not; nil if it was stopped.
        var problem: String?
    }

    private struct Job {
        var id: Int
        var sources: [Source]
    }

    private struct Inbox {
        var jobs: [Job] = []
        /// What is played; nil while nothing is.
        var current: Int?
        /// Of these jobs nothing more is heard.
        var stopped: Set<Int> = []
        var isHeld = false
        var gain: Float = 1
    }

    /// The longest sound that is fetched: an hour of compressed speech.
    static let mostBytes = 64 << 20
    /// Seconds that fetching may take.
    private static let longestFetch = 120.0
    /// Sounds that may wait.
    private static let capacity = 4
    private static let framesAtOnce = 1024
    /// How often there may be room for more to play.
    private static let interval = Duration.milliseconds(20)

    private let speaker: Speaker
    private let report: @Sendable (End) -> Void
    private let thread: InboxThread<Inbox>

    /// Starts the thread.
    ///
    /// - Parameter report: gets the end of each sound; called on the thread.
    init(_ speaker: Speaker, report: @escaping @Sendable (End) -> Void) throws(SocketError) {
        (self.speaker, self.report) = (speaker, report)
        thread = try InboxThread(Inbox(), or: SocketError.noEventFD)
        try thread.start(name: "beckon-answers", stackSize: 512 << 10, or: SocketError.noThread) { [self] in run() }
    }

    /// Plays sounds as one, after those that wait. Returns false if too many do.
    ///
    /// - Parameter id: of no other sound that is played or waits.
    func play(_ id: Int, _ sources: [Source]) -> Bool {
        thread.post { inbox in
            guard inbox.jobs.count < Self.capacity else { return false }
            inbox.jobs.append(Job(id: id, sources: sources))
            return true
        }
    }

    /// Ends a sound that is played or waits.
    func stop(_ id: Int) {
        thread.post { inbox in
            guard inbox.current == id || inbox.jobs.contains(where: { $0.id == id }) else { return }
            inbox.stopped.insert(id)
        }
    }

    /// Whether it is silent until it is told otherwise, and then goes on where it was.
    func hold(_ isHeld: Bool) { if thread.withLock({ $0.isHeld != isHeld }) { thread.post { $0.isHeld = isHeld } } }

    /// How much weaker than it is all is played, 0…1.
    func setGain(_ gain: Float) { thread.withLock { $0.gain = gain } }

    @discardableResult
    func end(until time: Instant?) -> Bool { thread.stop(until: time) }

    // MARK: - On the thread

    private func run() {
        while !thread.isStopped {
            let job = thread.withLock { inbox in
                let first = inbox.jobs.first
                if first != nil { inbox.jobs.removeFirst() }
                inbox.current = first?.id
                return first
            }
            guard let job else {
                thread.wait(until: .distantFuture)
                continue
            }
            var end = End(id: job.id, isWhole: true)
            for source in job.sources where end.isWhole { play(source, job.id, &end) }
            thread.withLock { inbox in
                inbox.current = nil
                inbox.stopped.remove(job.id)
            }
            report(end)
        }
    }

    private func isStopped(_ id: Int) -> Bool { thread.isStopped || thread.withLock { $0.stopped.contains(id) } }

    private func play(_ source: Source, _ id: Int, _ end: inout End) {
        var problem: String?
        switch source {
        case .chime(let chime):
            var samples = chime.samples[...]
            pump(rate: Chime.rate, id, &end) { room in
                defer { samples = samples.dropFirst(room) }
                return Array(samples.prefix(room))
            }
        case .file(let path): problem = play(file: path, id, &end)
        case .address(let address): problem = play(address: address, id, &end)
        }
        guard let problem else { return }
        (end.isWhole, end.problem) = (false, isStopped(id) ? nil : problem)
    }

    /// Returns what went wrong.
    private func play(address: String, _ id: Int, _ end: inout End) -> String? {
        do throws(SystemError) {
            let file = try UnnamedFile(in: nil)
            if let problem = fetch(address, into: file.descriptor, id) { return problem }
            return play(file: file.path, id, &end).map { "\(printable(address)) cannot be played: \($0)" }
        } catch {
            return "no memory for \(printable(address)): \(error)"
        }
    }

    private func fetch(_ address: String, into file: Int32, _ id: Int) -> String? {
        func isCancelled() -> Bool {
            thread.drain()
            return isStopped(id)
        }
        do throws(HTTPError) {
            try HTTPDownload(address, limit: Self.mostBytes).fetch(
                timeout: Self.longestFetch,
                wakeUp: thread.descriptor,
                isCancelled: isCancelled
            ) { writeAll($0, to: file) }
            return nil
        } catch {
            return error.description
        }
    }

    private func play(file path: String, _ id: Int, _ end: inout End) -> String? {
        do throws(AudioError) {
            let file = try DecodedFile(path)
            pump(rate: file.rate, id, &end) { file.read(atMost: min($0, Self.framesAtOnce)) }
            return file.failure?.description
        } catch {
            return error.description
        }
    }

    /// A file that is read piece by piece, as one channel.
    private final class DecodedFile {
        let rate: Int
        /// Why it ended early.
        private(set) var failure: AudioError?
        private var file: AudioFile
        private var mixer: ChannelMixer
        private var interleaved: [Float]
        private var mono = [Float](repeating: 0, count: SoundPlayer.framesAtOnce)

        init(_ path: String) throws(AudioError) {
            let file = try AudioFile(path: path)
            rate = file.sampleRate
            mixer = ChannelMixer(.mix, channels: file.channels)
            interleaved = [Float](repeating: 0, count: SoundPlayer.framesAtOnce * file.channels)
            self.file = file
        }

        /// None at the end. What was read before damage is given.
        func read(atMost frames: Int) -> [Float] {
            // A span of a property would borrow all of `self`.
            var (interleaved, mono): ([Float], [Float]) = ([], [])
            swap(&interleaved, &self.interleaved)
            swap(&mono, &self.mono)
            defer {
                swap(&interleaved, &self.interleaved)
                swap(&mono, &self.mono)
            }
            do throws(AudioError) {
                var room = interleaved.mutableSpan
                let count = try file.read(into: &room, maxFrames: frames)
                var mixed = mono.mutableSpan
                mixer.mix(interleaved.span.extracting(first: count * file.channels), into: &mixed)
                return Array(mono.prefix(count))
            } catch {
                failure = error
                return []
            }
        }
    }

    /// Gives samples to the loudspeaker until there are no more.
    ///
    /// - Parameter read: gives at most so many samples; none at the end.
    private func pump(rate: Int, _ id: Int, _ end: inout End, _ read: (Int) -> [Float]) {
        let outlet = Outlet(speaker, rate: rate)
        while !isStopped(id) {
            let (isHeld, gain) = thread.withLock { ($0.isHeld, $0.gain) }
            let room = isHeld ? outlet.close() : outlet.room
            if let problem = outlet.problem {
                (end.isWhole, end.problem) = (false, problem)
                return
            }
            if room == 0 {
                thread.wait(until: Clock.now + Self.interval)
                continue
            }
            let samples = read(min(room, Self.framesAtOnce))
            if samples.isEmpty {
                finish(outlet, id, &end)
                return
            }
            // Half of the volume is a sixteenth of the power, which sounds like half.
            outlet.write(samples.map { $0 * gain * gain })
        }
        _ = outlet.close()
        end.isWhole = false
    }

    /// Waits until all was heard.
    private func finish(_ outlet: Outlet, _ id: Int, _ end: inout End) {
        outlet.finish()
        while !outlet.isOver, !isStopped(id) { thread.wait(until: Clock.now + Self.interval) }
        if !outlet.isOver {
            _ = outlet.close()
            end.isWhole = false
        }
    }

    /// The stream to the loudspeaker, which is opened when there is a place for it. Used by one thread.
    private final class Outlet {
        private let speaker: Speaker
        private let rate: Int
        private var stream: SpeechStream?
        /// Why nothing more is heard.
        private(set) var problem: String?

        init(_ speaker: Speaker, rate: Int) { (self.speaker, self.rate) = (speaker, rate) }

        /// How many samples may be written; 0: later, as other sounds may wait.
        var room: Int {
            if speaker.device == nil { problem = "there is no speaker any more" }
            if stream == nil { stream = speaker.speech(rate: rate) }
            // A stream that is over, as its device failed, takes any number.
            if isOver, stream != nil { problem = "the speaker has stopped playing" }
            return problem == nil ? stream?.room ?? 0 : 0
        }

        /// Whether all was heard, or no more will be.
        var isOver: Bool { stream?.isOver ?? true }

        func write(_ samples: [Float]) { stream?.write(samples.span) }

        func finish() { stream?.finish() }

        /// What was not heard yet is dropped. Returns the room, which is none.
        func close() -> Int {
            stream?.cancel()
            stream = nil
            return 0
        }
    }
}
