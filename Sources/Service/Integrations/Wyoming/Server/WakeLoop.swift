import Core
import Glibc
import Network
import Spotting
import Synchronization
import System

/// The work of a thread that serves clients: reads what they send, scores the hops that are complete together, and answers.
///
/// Each turn of the thread is short, so that every client's turn comes soon, whatever the others order. Where more is to be done than a turn
/// has time for, a satellite that sends as fast as is spoken is served before new clients, and these before clients that send as fast as
/// they can; of each kind those come first that have had the least of the thread's time lately. A new connection costs nearly nothing until
/// its audio begins, and few at a time have not had their first turn, so that none waits long for it.
///
/// Used by one thread. What it allocates for a client is allocated when the client connects, or changes its audio's rate.
struct WakeLoop: ~Copyable {
    typealias Client = ClientConnection<WakeConversation>

    /// Bytes that are read of one client in a turn: fair, and with the pace a limit for clients that flood.
    private static let mostInput = 32 << 10
    /// The same of a client's first turn, which is short, so that all new clients get it soon.
    private static let firstInput = 2 << 10
    /// Hops that are scored together before further clients are read: enough for the network's batches, few enough not to be late.
    private static let mostWaiting = 96
    /// Hops of one client in a turn.
    private static let mostHops = 32
    /// Turns are at least this long for each client, so that reads, hops and answers of many clients come in batches; but at most
    /// `longestPace`, which is part of the latency.
    private static let pacePerClient = Duration.microseconds(10)
    private static let longestPace = Duration.milliseconds(20)
    /// A turn that lasts longer ends: the other clients are served in the next one, before those that were served in this one.
    private static let longestTurn = Duration.milliseconds(20)
    /// The time in which what a client had of the thread counts half.
    private static let halfLife = 0.5
    /// How much more than its live audio's cost a client may have had to be served first.
    private static let liveMargin = 3.0
    private static let smoothedHops = 16.0
    /// Connections that have ended since memory was given back to the system, and time between two times that it is.
    private static let mostEnded = 32
    private static let trimInterval = Duration.seconds(2)
    private static let hop = Duration.seconds(AudioFormat.hopSeconds)
    /// Time between two checks of all clients' time.
    private static let checkInterval = Duration.milliseconds(500)

    private(set) var clients: [Client] = []
    private(set) var counts = WyomingServer.Counts()
    /// Connections that give their place to a new one where all are taken; see ``Places``.
    private(set) var yielding = 0

    private var words: AnnouncedWords
    private var detector: BatchDetector
    private let server: Server
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: mostInput, alignment: 64)
    private var requests: [pollfd] = []
    private var turnStart = Clock.now
    private var nextCheck = Clock.now
    /// Whether the turn before ended before all clients were served.
    private var isBehind = false
    /// Whether connections wait that could be taken.
    private var hasArrivals = false
    private var lastAging = Clock.now
    /// Processor time of a hop in ns, smoothed.
    private var hopCost = 0.0
    /// Connections that wait for a turn, the oldest first.
    private var arrivals: [Arrival] = []
    /// When one of them last got a place.
    private var lastRoom = Clock.now
    private var endedClients = 0
    private var nextTrim = Clock.now

    /// Clients without their first turn, from which on no more connections are taken.
    private static let mostNew = 128
    /// The time for which a connection waits for another one to make room, while others do; and where none has for a while.
    private static let longestWait = Duration.seconds(5)
    private static let longestVainWait = Duration.seconds(1)
    /// The time that a new client has after its first turn before it makes room for others: its first events may be on their way, or what
    /// was said while it waited.
    private static let beginningTime = Duration.milliseconds(200)

    /// A connection that waits for a place.
    struct Arrival {
        let connection: ConnectionBox
        let peer: Peer
        let time = Clock.now
    }

    /// What all threads of a server share.
    struct Server: Sendable {
        let limits: ConnectionLimits
        let places: WakePlaces
        /// Keeps words of clients; nil for none.
        var clientWords: ClientWords?
        /// Knows what they are called; nil: nobody is told of them.
        var clients: WakeClients?
        var onNotice: @Sendable (WakeNotice) -> Void = { _ in }
    }

    init(_ words: AnnouncedWords, _ server: Server) {
        (self.words, self.server) = (words, server)
        detector = BatchDetector(words.detector)
    }

    deinit { buffer.deallocate() }

    /// Detects other words from each stream's next hop on.
    mutating func update(_ words: AnnouncedWords) {
        self.words = words
        detector.update(words.detector)
    }

    /// Takes connections, which are served from the next turns on.
    mutating func add(_ new: [Arrival]) { arrivals += new }

    /// Connections that it has, or that wait for a turn.
    var load: Int { clients.count + arrivals.count }

    /// Takes connections that wait: those of the peer with the fewest first, then the oldest.
    private mutating func takeArrivals() {
        hasArrivals = false
        guard !arrivals.isEmpty else { return }
        // As one that was served as long as the others: who connects again and again comes no earlier.
        let work = clients.isEmpty ? 0 : clients.reduce(0) { $0 + $1.recentWork } / Double(clients.count)
        let start = Clock.now
        var now = start
        var new = clients.count { $0.firstTurn == nil }
        // Where there is no room for one, there is none for those behind it: their peers have as many places, or more.
        var isVain = false
        var rest: [Int] = []
        let held = clients.reduce(into: [Peer: Int]()) { $0[$1.peer, default: 0] += 1 }
        for index in Places.order(of: arrivals.map(\.peer), held: held) {
            let arrival = arrivals[index]
            now = Clock.now
            guard new < Self.mostNew, now - start < Self.longestTurn / 2 else {
                hasArrivals = true
                rest.append(index)
                continue
            }
            if !server.places.take() {
                isVain = isVain || !makeRoom(for: arrival.peer, at: now)
                guard !isVain else {
                    rest.append(index)
                    continue
                }
            }
            lastRoom = now
            guard let connection = arrival.connection.take() else {
                server.places.giveBack(1)
                continue
            }
            let recorder = server.clients.map { ClientRecorder(server.clientWords, $0, arrival.peer) }
            let conversation = WakeConversation(recorder: recorder, onNotice: server.onNotice)
            let client = Client(connection, conversation, waited: now - arrival.time)
            client.recentWork = work
            clients.append(client)
            counts.accepted += 1
            new += 1
        }
        arrivals = rest.sorted().map { arrivals[$0] }
        refuseLate(at: now)
    }

    /// Refuses those that have waited for too long.
    private mutating func refuseLate(at now: Instant) {
        let isVain = now - lastRoom >= Self.longestVainWait
        arrivals.removeAll { arrival in
            guard now - arrival.time >= (isVain ? Self.longestVainWait : Self.longestWait) else { return false }
            counts.refused += 1
            endedClients += 1
            arrival.connection.take()?.refuse(WyomingServer.refusal)
            return true
        }
    }

    /// Ends a connection, whose place one of this peer gets; false if none has to make room.
    private mutating func makeRoom(for peer: Peer, at now: Instant) -> Bool {
        let full = Places(all: clients.count, isShared: true)
        let holders = clients.map { client in
            let isNew = client.firstTurn.map { now - $0 < Self.beginningTime } ?? true
            return client.holder(at: now, isKept: client.end != nil || isNew)
        }
        guard case .replace(let index) = full.decide(peer, holders) else { return false }
        if holders[index].isSilent { counts.silent += 1 } else { counts.replaced += 1 }
        clients.remove(at: index)
        endedClients += 1
        return true
    }

    /// Whether nothing but a wake-up is of interest.
    var waitsWithoutEnd: Bool { clients.isEmpty && arrivals.isEmpty && endedClients == 0 }

    /// Waits until a client can be served, or `wakeUp` is readable.
    mutating func wait(_ wakeUp: Int32) {
        let pace = min(Self.longestPace, Self.pacePerClient * clients.count)
        if Clock.now < turnStart + pace { Clock.sleep(until: turnStart + pace) }
        requests.removeAll(keepingCapacity: true)
        requests.append(Poll.request(wakeUp, POLLIN))
        var canGoOn = isBehind || hasArrivals
        for client in clients {
            requests.append(client.request)
            canGoOn = canGoOn || client.canGoOn
        }
        let rest = waitsWithoutEnd ? nil : nextCheck
        Poll.wait(&requests, until: canGoOn ? turnStart : arrivals.isEmpty ? rest : turnStart + Self.longestTurn)
        turnStart = Clock.now
    }

    /// Serves the clients once.
    ///
    /// - Parameter isFull: whether connections are scarce.
    mutating func turn(isFull: Bool) {
        var mayEnd = turnStart >= nextCheck
        if mayEnd { nextCheck = turnStart + Self.checkInterval }
        age()
        serve(&mayEnd)
        if mayEnd { removeEnded(isFull: isFull) }
        takeArrivals()
        yielding = arrivals.count + clients.count { $0.yields(at: turnStart) || $0.isEnding }
        giveBackMemory()
    }

    /// Halves what clients had of the thread's time, every half second.
    private mutating func age() {
        let passed = (turnStart - lastAging).seconds
        lastAging = turnStart
        let factor = exp2(-passed / Self.halfLife)
        for client in clients { client.recentWork *= factor }
    }

    private mutating func serve(_ mayEnd: inout Bool) {
        var waiting: [Client] = []
        // Those that have had the least first, where not all were served before.
        let order = isBehind ? orderOfNeed() : nil
        isBehind = false
        var time = Clock.now
        for place in clients.indices {
            let index = order?[place] ?? place
            guard index + 1 < requests.count else { continue }
            let client = clients[index]
            let hasNews = requests[index + 1].revents != 0
            guard hasNews || client.canGoOn else {
                client.rest(at: turnStart)
                continue
            }
            guard time - turnStart < Self.longestTurn else {
                isBehind = true
                continue
            }
            client.conversation.beginTurn()
            if client.pause == .hop {
                waiting.append(client)
            } else {
                if hasNews { client.flush(at: turnStart) }
                if client.canGoOn {
                    client.proceed(at: turnStart) { conversation(client, &$0) }
                } else if hasNews {
                    let most = client.firstTurn == nil ? Self.firstInput : Self.mostInput
                    let buffer = UnsafeMutableRawBufferPointer(rebasing: buffer[..<most])
                    client.receive(buffer, at: turnStart) { conversation(client, &$0) }
                }
                if client.pause == .hop { waiting.append(client) } else { client.flush(at: turnStart) }
                mayEnd = mayEnd || client.isEnding
            }
            let now = Clock.now
            client.recentWork += Double((now - time).nanoseconds)
            time = now
            if waiting.count >= Self.mostWaiting {
                score(&waiting, &mayEnd)
                time = Clock.now
            }
        }
        score(&waiting, &mayEnd)
    }

    /// The clients' indices: those with live audio that have had no more than such audio costs, those without a turn yet, others, and last those
    /// that flood; of each kind those that have had the least first.
    private func orderOfNeed() -> [Int] {
        // In a half-life a client that sends one hop in the time of one has had this much, and a little over.
        let liveWork = hopCost * Self.halfLife / AudioFormat.hopSeconds * Self.liveMargin
        let need = clients.map { client in
            let isLive = client.recentWork <= liveWork && client.isLive(at: turnStart)
            let kind = client.floods(at: turnStart) ? 3 : isLive ? 0 : client.firstTurn == nil ? 1 : 2
            return (kind: kind, work: client.recentWork)
        }
        return need.indices.sorted { (need[$0].kind, need[$0].work) < (need[$1].kind, need[$1].work) }
    }

    /// Gives the memory of connections that have ended back to the system, which the C library would keep.
    private mutating func giveBackMemory() {
        let isWorthIt = endedClients >= Self.mostEnded || endedClients > 0 && clients.isEmpty
        guard isWorthIt, turnStart >= nextTrim else { return }
        endedClients = 0
        nextTrim = turnStart + Self.trimInterval
        FreeMemory.giveBack()
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
        var start = Clock.now
        while !waiting.isEmpty, rounds < Self.mostHops, rounds == 0 || start - turnStart < Self.longestTurn {
            let served = waiting
            waiting = processHops(waiting, &mayEnd)
            rounds += 1
            let now = Clock.now
            let share = Double((now - start).nanoseconds) / Double(served.count)
            for client in served { client.recentWork += share }
            hopCost += (share - hopCost) / Self.smoothedHops
            start = now
        }
        isBehind = isBehind || !waiting.isEmpty
        waiting = []
    }

    /// Processes the complete hop of each of these clients, and goes on with each up to its next hop.
    ///
    /// - Returns: the clients whose next hop is complete too.
    private mutating func processHops(_ waiting: [Client], _ mayEnd: inout Bool) -> [Client] {
        let words = words
        var detections = 0
        // All of them have a stream: their hop is complete.
        detector.process(waiting.compactMap(\.conversation.stream)) { index, detection in
            if waiting[index].conversation.report(detection, words) { detections += 1 }
        }
        counts.detections += detections
        counts.hops += waiting.count
        (counts.looks, counts.refusedLooks) = (detector.looks, detector.refusals)
        var further: [Client] = []
        for client in waiting {
            client.addScored(Self.hop, at: turnStart)
            client.conversation.hopWasScored()
            client.proceed(at: turnStart) { conversation(client, &$0) }
            client.flush(at: turnStart)
            if client.pause == .hop, client.end == nil { further.append(client) }
            mayEnd = mayEnd || client.isEnding
        }
        return further
    }

    private mutating func removeEnded(isFull: Bool) {
        var counts = counts
        let before = clients.count
        let (now, limits) = (turnStart, server.limits)
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
        endedClients += before - clients.count
        server.places.giveBack(before - clients.count)
    }
}

/// How many clients a ``WyomingServer``'s threads serve together, and may.
final class WakePlaces: Sendable {
    private let all: Int
    private let taken = Atomic<Int>(0)

    init(all: Int) { self.all = all }

    /// Takes a place; false if there is none.
    func take() -> Bool {
        guard taken.add(1, ordering: .relaxed).newValue > all else { return true }
        giveBack(1)
        return false
    }

    func giveBack(_ count: Int) { taken.subtract(count, ordering: .relaxed) }

    /// Whether places are scarce.
    var isNearlyFull: Bool { taken.load(ordering: .relaxed) >= all * 3 / 4 }
}

/// A connection on its way to the thread that serves it.
final class ConnectionBox: Sendable {
    private let connection: Mutex<Connection?>

    init(_ connection: consuming Connection) { self.connection = Mutex(connection) }

    /// The connection, once.
    func take() -> Connection? { connection.withLock { $0.take() } }
}
