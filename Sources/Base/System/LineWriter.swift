public import Core
import Glibc
import Synchronization

/// Lines for a descriptor whose reader may stall: a terminal, a pipe, the journal.
///
/// ``write(_:)`` never waits. One thread writes the lines. While the reader takes none, lines wait in a bounded queue;
/// those beyond its limits are dropped and counted.
public final class LineWriter: Sendable {
    public struct Settings: Sendable {
        /// Most lines that wait.
        public var lines = 1024
        /// Most bytes that wait, unless a single line has more.
        public var bytes = 256 << 10
        /// Called on the thread that writes when lines are written again after some were dropped. The result, if any, is
        /// written at the place of the dropped lines.
        public var resumed: @Sendable (_ dropped: Int) -> String? = { _ in nil }
        /// Called on the thread that writes with the errno of each failed write; its line counts as dropped. With EPIPE also where the
        /// reader of a pipe has gone while there is nothing to write.
        public var failed: @Sendable (Int32) -> Void = { _ in }
        /// Makes what is written out of the waiting lines, which may be none; called on the thread that writes when there are
        /// lines, at ``LineWriter/refresh()``, and every 100 ms. For a terminal with something below its lines; nil writes the
        /// lines as they are.
        public var frame: (@Sendable (_ lines: String, _ isEnding: Bool) -> String)?

        public init() {}
    }

    public struct Counts: Equatable, Sendable {
        public var written = 0
        public var dropped = 0
    }

    private struct State {
        var waiting: [String] = []
        var waitingBytes = 0
        /// Dropped lines that ``Settings/resumed`` has not reported yet.
        var unreported = 0
        var counts = Counts()
        /// Turns that have ended; in each, what waits is written.
        var turns = 0
        /// Whether a turn is under way.
        var isBusy = false
        /// Whether the last turn, after ``finish(until:)``, is made or under way.
        var isOver = false
        /// When the thread gives up on waiting lines; nil before ``finish(until:)``.
        var end: Instant?
    }

    /// A pipe of which `poll` says that it is writable takes this many bytes (PIPE_BUF) without waiting.
    private static let pieceSize = 4096

    private let descriptor: Int32
    private let settings: Settings
    private let state = Mutex(State())
    private let wakeUp: EventFD
    private let finishing: EventFD
    private let finished = Latch()

    /// Starts the thread, which runs until ``finish(until:)``.
    ///
    /// - Parameters:
    ///   - descriptor: stays open and is not changed; it may be blocking, and shared with other programs.
    ///   - name: the thread's name, at most 15 bytes.
    /// - Throws: if the system gives no descriptor or thread.
    public init(_ descriptor: Int32, name: StaticString, settings: Settings = Settings()) throws(SystemError) {
        self.descriptor = descriptor
        self.settings = settings
        func same(_ error: SystemError) -> SystemError { error }
        wakeUp = try EventFD(or: same)
        finishing = try EventFD(or: same)
        _ = try SystemThread(name: name, stackSize: 512 << 10, or: same) { [self] in
            run()
            finished.open()
        }
    }

    /// The counts so far. Any thread.
    public var counts: Counts { state.withLock { $0.counts } }

    /// Queues a text; never waits for the reader. Any thread.
    ///
    /// - Parameter text: one line or more, each with its line end.
    /// - Returns: false if the text was dropped.
    @discardableResult
    public func write(_ text: String) -> Bool {
        let size = text.utf8.count
        let isTaken = state.withLock { state in
            let hasRoom =
                state.waiting.count < settings.lines
                && (state.waiting.isEmpty || state.waitingBytes + size <= settings.bytes)
            guard hasRoom, state.end == nil else {
                state.counts.dropped += 1
                state.unreported += 1
                return false
            }
            state.waiting.append(text)
            state.waitingBytes += size
            return true
        }
        if isTaken { wakeUp.signal() }
        return isTaken
    }

    /// Calls ``Settings/frame`` now. Any thread.
    public func refresh() { wakeUp.signal() }

    /// Waits until all lines and the frame of now are written. Any thread but the writer's.
    ///
    /// - Parameter time: when to give up, on ``Clock``.
    public func flush(until time: Instant) {
        // The turn that is under way may have begun before.
        let end = state.withLock { $0.turns } + 2
        while state.withLock({ $0.turns < end }), Clock.now < time {
            wakeUp.signal()
            Clock.sleep(until: Clock.now + .milliseconds(2))
        }
    }

    /// Writes the waiting lines and ends the thread; later lines are dropped.
    ///
    /// What waits is written on the calling thread, unless the writer's is at it: on a busy machine that one may get no
    /// processor in time, and a terminal would be left without its last frame.
    ///
    /// - Parameter time: when to give up, on ``Clock``.
    /// - Returns: whether the thread has ended.
    @discardableResult
    public func finish(until time: Instant) -> Bool {
        state.withLock { $0.end = $0.end ?? time }
        finishing.signal()
        makeTurn()
        wakeUp.signal()
        return finished.wait(until: time)
    }

    // MARK: - On the writer's thread

    private func run() {
        var hasReader = true
        while !state.withLock({ $0.isOver && !$0.isBusy }) {
            // Without interest in anything poll still tells that a pipe has no reader.
            var requests = [
                Poll.request(wakeUp.descriptor, POLLIN), Poll.request(hasReader ? descriptor : -1, 0),
            ]
            Poll.wait(&requests, until: Clock.now + (settings.frame == nil ? .seconds(3600) : .milliseconds(100)))
            wakeUp.drain()
            if Int32(requests[1].revents) & POLLERR != 0 {
                hasReader = false
                settings.failed(EPIPE)
            }
            makeTurn()
        }
    }

    /// Writes what waits; does nothing while another thread does, or after the end.
    private func makeTurn() {
        let taken = state.withLock { state -> (lines: [String], unreported: Int, isEnding: Bool)? in
            guard !state.isBusy, !state.isOver else { return nil }
            defer {
                state.waiting = []
                state.waitingBytes = 0
                state.unreported = 0
            }
            state.isBusy = true
            state.isOver = state.end != nil
            return (state.waiting, state.unreported, state.isOver)
        }
        guard let taken else { return }
        if let frame = settings.frame {
            let text = frame(taken.lines.joined(), taken.isEnding)
            if !text.isEmpty { put(text, lines: taken.lines.count) }
        } else {
            for line in taken.lines { put(line) }
        }
        if taken.unreported > 0, let text = settings.resumed(taken.unreported) { put(text) }
        state.withLock { state in
            state.turns += 1
            state.isBusy = false
        }
    }

    /// Writes a text that counts as so many lines, piece by piece; waits for room before each piece.
    private func put(_ text: String, lines: Int = 1) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            guard waitForRoom() else { return drop(lines, isReported: true) }
            let count = rest.prefix(Self.pieceSize).withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count < 0, errno != EINTR, errno != EAGAIN {
                let number = errno
                drop(lines, isReported: false)
                return settings.failed(number)
            }
        }
        state.withLock { $0.counts.written += lines }
    }

    private func drop(_ lines: Int, isReported: Bool) {
        state.withLock { state in
            state.counts.dropped += lines
            if !isReported { state.unreported += lines }
        }
    }

    /// Waits until the descriptor takes bytes; false if the time of ``finish(until:)`` has passed.
    private func waitForRoom() -> Bool {
        while true {
            let end = state.withLock { $0.end }
            var requests = [
                Poll.request(descriptor, POLLOUT), Poll.request(end == nil ? finishing.descriptor : -1, POLLIN),
            ]
            Poll.wait(&requests, until: end)
            // An error or a reader that has gone also ends the wait: the write then says what it is.
            if requests[0].revents != 0 { return true }
            if let end, Clock.now >= end { return false }
        }
    }
}
