import Core
import Glibc
import Spotting
import System

/// The work of a thread that serves clients: reads what they send, scores the hops that are complete together, and answers.
///
/// Used by one thread. What it allocates for a client is allocated when the client connects, or changes its audio's rate.
struct WakeLoop: ~Copyable {
    typealias Client = WyomingConnection<WakeConversation>

    /// Bytes that are read of one client in a turn: fair, and with the pace a limit for clients that flood.
    private static let mostInput = 32 << 10
    /// Hops that are scored together before further clients are read: enough for the network's batches, few enough not to be late.
    private static let mostWaiting = 96
    /// Hops of one client in a turn.
    private static let mostHops = 32
    /// Turns are at least this long for each client, so that reads, hops and answers of many clients come in batches; but at most
    /// `longestPace`, which is part of the latency.
    private static let pacePerClient = Duration.microseconds(10)
    private static let longestPace = Duration.milliseconds(20)
    /// Time between two checks of all clients' time.
    private static let checkInterval = Duration.milliseconds(500)

    private(set) var clients: [Client] = []
    private(set) var counts = WyomingServer.Counts()

    private var words: WakeWords
    private var detector: BatchDetector
    private let limits: ConnectionLimits
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: mostInput, alignment: 64)
    private let onUnknown: @Sendable ([String]) -> Void
    private var requests: [pollfd] = []
    private var turnStart = Clock.now
    private var nextCheck = Clock.now

    init(_ words: WakeWords, _ limits: ConnectionLimits, onUnknown: @escaping @Sendable ([String]) -> Void) {
        self.words = words
        self.limits = limits
        self.onUnknown = onUnknown
        detector = words.detector
    }

    deinit { buffer.deallocate() }

    /// Detects other words from each stream's next hop on.
    mutating func apply(_ words: WakeWords) {
        self.words = words
        detector.apply(
            words.vocabulary,
            settings: words.gate,
            thresholds: words.thresholds,
            phrases: words.phrases
        )
    }

    mutating func add(_ descriptor: consuming FileDescriptor) {
        let conversation = WakeConversation(detector.makeStream(), onUnknown: onUnknown)
        clients.append(Client(descriptor, conversation))
        counts.accepted += 1
    }

    /// Waits until a client can be served, or `wakeUp` is readable.
    mutating func wait(_ wakeUp: Int32) {
        let pace = min(Self.longestPace, Self.pacePerClient * clients.count)
        if Clock.now < turnStart + pace { Clock.sleep(until: turnStart + pace) }
        requests.removeAll(keepingCapacity: true)
        requests.append(Poll.request(wakeUp, POLLIN))
        var canGoOn = false
        for client in clients {
            requests.append(client.request)
            canGoOn = canGoOn || client.canGoOn
        }
        Poll.wait(&requests, until: canGoOn ? turnStart : clients.isEmpty ? nil : nextCheck)
        turnStart = Clock.now
    }

    /// Serves the clients once.
    ///
    /// - Parameter isFull: whether connections are scarce.
    mutating func turn(isFull: Bool) {
        var waiting: [Client] = []
        var mayEnd = turnStart >= nextCheck
        if mayEnd { nextCheck = turnStart + Self.checkInterval }
        for (client, request) in zip(clients, requests.dropFirst()) {
            if client.pause == .hop {
                waiting.append(client)
                continue
            }
            if request.revents != 0 { client.flush(at: turnStart) }
            if client.canGoOn {
                client.proceed(at: turnStart) { conversation(client, &$0) }
            } else if request.revents != 0 {
                client.receive(buffer, at: turnStart) { conversation(client, &$0) }
            }
            if client.pause == .hop { waiting.append(client) } else { client.flush(at: turnStart) }
            mayEnd = mayEnd || client.isEnding
            if waiting.count >= Self.mostWaiting { score(&waiting, &mayEnd) }
        }
        score(&waiting, &mayEnd)
        if mayEnd { removeEnded(isFull: isFull) }
    }

    private mutating func conversation(
        _ client: Client,
        _ input: inout UnsafeBufferPointer<UInt8>
    ) -> ConversationPause {
        client.conversation.advance(&input, words, &detector)
    }

    /// Processes the complete hops of these clients, and those that follow at once from what they have sent.
    private mutating func score(_ waiting: inout [Client], _ mayEnd: inout Bool) {
        var rounds = 0
        while !waiting.isEmpty, rounds < Self.mostHops {
            waiting = processHops(waiting, &mayEnd)
            rounds += 1
        }
        waiting = []
    }

    /// Processes the complete hop of each of these clients, and goes on with each up to its next hop.
    ///
    /// - Returns: the clients whose next hop is complete too.
    private mutating func processHops(_ waiting: [Client], _ mayEnd: inout Bool) -> [Client] {
        let words = words
        var detections = 0
        detector.process(waiting.map(\.conversation.stream)) { index, detection in
            if waiting[index].conversation.report(detection, words) { detections += 1 }
        }
        counts.detections += detections
        counts.hops += waiting.count
        var further: [Client] = []
        for client in waiting {
            client.proceed(at: turnStart) { conversation(client, &$0) }
            client.flush(at: turnStart)
            if client.pause == .hop, client.end == nil { further.append(client) }
            mayEnd = mayEnd || client.isEnding
        }
        return further
    }

    private mutating func removeEnded(isFull: Bool) {
        var counts = counts
        let (now, limits) = (turnStart, limits)
        clients.removeAll { client in
            client.check(at: now, limits, isFull: isFull)
            guard let end = client.end else { return false }
            switch end {
            case .gone: counts.closed += 1
            case .silent: counts.silent += 1
            case .slow: counts.slow += 1
            case .violation: counts.violations += 1
            }
            return true
        }
        self.counts = counts
    }
}
