public import Configuration
public import Core
public import Events
import Glibc
public import Metrics
import Network
import Spotting
import Synchronization
public import System

/// Between the dispatcher and all sinks: where devices share a group, it hands on only those words on which this device acts, in their
/// order, and tells of the others that they were yielded. What a loudspeaker said is no matter of the group.
///
/// Without a group events pass through on the dispatcher's thread. With one, a thread of its own runs the ``Arbiter``, speaks to the other
/// devices by links, and calls the sinks. A device that reaches no other acts at once.
public final class GroupSink: EventSink {
    public struct Counts: Counted, Equatable {
        /// Words and phrases on which this device acted, and those on which another one did.
        public var acted = 0
        public var yielded = 0
        /// Those of the first on which it acted at once, as it reached no other device.
        public var alone = 0

        public static let counters: [Counter<Counts>] = [
            Counter("acted", \.acted)
                .counter("beckon_group_acted", "Words and phrases on which this device of its group acted."),
            Counter("alone", \.alone)
                .counter(
                    "beckon_group_alone",
                    "Words and phrases on which this device acted at once, as it reached no other device."
                ),
            Counter("yielded", \.yielded)
                .counter("beckon_group_yielded", "Words and phrases on which another device of the group acted."),
        ]
    }

    private struct Inbox {
        var group = Configuration.Group()
        var device = ""
        /// Whether the group, or this device's name in it, is another one than the thread knows.
        var hasChanged = false
        var events: [DetectionEvent] = []
        var messages: [GroupMessage] = []
        /// Whether a link was lost.
        var isCut = false
        var counts = Counts()
        var links: [any GroupLink] = []
    }

    /// Most messages that wait for the thread.
    private static let mostMessages = 256

    private let sinks: [any EventSink]
    private let folder: String?
    private let log: ServiceLog
    private let thread: InboxThread<Inbox>
    /// Whether the thread runs, and events go through it.
    private let isRunning = Atomic<Bool>(false)

    /// - Parameters:
    ///   - folder: that of the control socket, for the services of this machine; nil for none.
    ///   - sinks: called on the dispatcher's thread, or, once there was a group, on its own.
    /// - Throws: ``SystemError`` if the system gives no descriptor.
    public init(folder: String?, log: ServiceLog, sinks: [any EventSink]) throws(SystemError) {
        (self.folder, self.log, self.sinks) = (folder, log, sinks)
        thread = try InboxThread(Inbox(), or: Self.unchanged)
    }

    private static func unchanged(_ error: SystemError) -> SystemError { error }

    /// The group; nil for none. Any thread.
    public var name: String? { thread.withLock { $0.group.name } }
    public var counts: Counts { thread.withLock { $0.counts } }

    /// Joins another group, or none.
    ///
    /// - Parameter device: this device's name, another one than those of the others.
    public func update(_ group: Configuration.Group, device: String) {
        let isNew = thread.post { inbox in
            let isNew = inbox.group != group || inbox.device != device
            if isNew { (inbox.group, inbox.device, inbox.hasChanged) = (group, device, true) }
            return isNew
        }
        guard isNew, group.name != nil, !isRunning.load(ordering: .acquiring) else { return }
        do throws(SystemError) {
            try thread.start(name: "beckon-group", stackSize: 512 << 10, or: Self.unchanged) { [self] in run() }
            isRunning.store(true, ordering: .releasing)
        } catch {
            log.write(.error, "group: \(error); this device acts on every word")
        }
    }

    /// Adds a link; those of this machine are there already. Any thread.
    public func add(_ link: any GroupLink) { thread.post { $0.links.append(link) } }

    /// Removes a link. Any thread.
    public func remove(_ link: any GroupLink) { thread.post { $0.links.removeAll { $0 === link } } }

    /// Takes a message that came by a link. Any thread.
    public func take(_ message: GroupMessage) {
        thread.post { if $0.messages.count < Self.mostMessages { $0.messages.append(message) } }
    }

    /// Tells that a link was lost: what is not decided is acted on. Any thread.
    public func cut() { thread.post { $0.isCut = true } }

    public func receive(_ event: DetectionEvent) {
        guard isRunning.load(ordering: .acquiring) else {
            for sink in sinks { sink.receive(event) }
            return
        }
        thread.post { $0.events.append(event) }
    }

    public func withheld(_ event: DetectionEvent, _ reason: WithheldReason) {
        guard isRunning.load(ordering: .acquiring) else { return withhold(event, reason) }
        thread.post { $0.events.append(event) }
    }

    private func withhold(_ event: DetectionEvent, _ reason: WithheldReason) {
        if reason == .ownSpeech, event.isWhole {
            log.write(.info, "\(printable(event.name)): said by the loudspeaker itself, so nothing acts on it")
        }
        for sink in sinks { sink.withheld(event, reason) }
    }

    /// Decides what waits, and ends the thread.
    ///
    /// - Returns: whether it has ended; it may wait for the window.
    @discardableResult
    public func stop(until time: Instant?) -> Bool { thread.stop(until: time) }

    // MARK: - On the group's thread

    /// An event in the order of the detector, and what was decided on it; nil: nothing yet.
    private struct Waiting {
        let event: DetectionEvent
        var outcome: Arbiter.Outcome?
    }

    /// What the thread knows.
    private struct State {
        var group = Configuration.Group()
        var device = ""
        var arbiter = Arbiter(group: "", window: .zero)
        var local: LocalLink?
        var links: [any GroupLink] = []
        var waiting: [Waiting] = []
        /// The wake words whose last one another device acted on, and that device: their sessions are its own.
        var yielded: [String: String] = [:]
    }

    private func run() {
        var state = State()
        while true {
            let (inbox, isStopped) = thread.take { inbox in
                let taken = inbox
                (inbox.events, inbox.messages, inbox.hasChanged, inbox.isCut) = ([], [], false, false)
                return taken
            }
            state.links = inbox.links
            if inbox.hasChanged { join(inbox.group, inbox.device, &state) }
            for message in inbox.messages + (state.local?.receive() ?? []) { take(message, &state) }
            for event in inbox.events { begin(event, &state) }
            if inbox.isCut { carryOut(state.arbiter.release(at: Clock.now), &state) }
            carryOut(state.arbiter.advance(to: Clock.now), &state)
            deliver(&state)
            if isStopped, state.waiting.isEmpty { return }
            var requests = [
                Poll.request(thread.descriptor, POLLIN), Poll.request(state.local?.descriptor ?? -1, POLLIN),
            ]
            Poll.wait(&requests, until: state.arbiter.deadline)
        }
    }

    private func join(_ group: Configuration.Group, _ device: String, _ state: inout State) {
        carryOut(state.arbiter.release(at: Clock.now), &state)
        (state.group, state.device, state.local) = (group, device, nil)
        state.arbiter = Arbiter(group: group.name ?? "", window: .seconds(group.window))
        guard let name = group.name, let folder else { return }
        do throws(SocketError) {
            state.local = try LocalLink(folder: folder, group: name)
        } catch {
            log.write(.warning, "group: \(error); other services of this machine are not heard")
        }
    }

    private func take(_ message: GroupMessage, _ state: inout State) {
        guard message.group == state.group.name, message.bid.device != state.device else { return }
        carryOut(state.arbiter.receive(message, at: Clock.now), &state)
    }

    /// Begins the contest for a word or phrase; other events only keep their place.
    private func begin(_ event: DetectionEvent, _ state: inout State) {
        let isContested = state.group.name != nil && event.isContested
        state.waiting.append(Waiting(event: event, outcome: isContested ? nil : .act))
        guard isContested else { return }
        let bid = Bid(event, device: state.device)
        let effects = state.arbiter.begin(event.sequence, word: event.name, bid: bid, at: Clock.now)
        let isReached = effects.messages.isEmpty || effects.messages.contains { send($0, state) > 0 }
        carryOut(Arbiter.Effects(decisions: effects.decisions), &state)
        guard !isReached else { return }
        thread.withLock { $0.counts.alone += 1 }
        carryOut(state.arbiter.release(event.sequence, at: Clock.now), &state)
    }

    private func send(_ message: GroupMessage, _ state: State) -> Int {
        state.links.reduce(state.local?.send(message) ?? 0) { $0 + $1.send(message) }
    }

    private func carryOut(_ effects: Arbiter.Effects, _ state: inout State) {
        for message in effects.messages { _ = send(message, state) }
        for decision in effects.decisions {
            let index = state.waiting.firstIndex { $0.event.sequence == decision.number && $0.outcome == nil }
            guard let index else { continue }
            state.waiting[index].outcome = decision.outcome
        }
    }

    /// Hands on what is decided, up to the first event that is not.
    private func deliver(_ state: inout State) {
        while let first = state.waiting.first, let outcome = first.outcome {
            state.waiting.removeFirst()
            hand(on: first.event, outcome, &state)
        }
    }

    private func hand(on event: DetectionEvent, _ outcome: Arbiter.Outcome, _ state: inout State) {
        switch outcome {
        case .yield(let bid):
            thread.withLock { $0.counts.yielded += 1 }
            state.yielded[event.name] = bid.device
            let own = Bid(event, device: state.device)
            log.write(
                .info,
                "\(printable(event.name)): yielded to \(printable(bid.device)), \(bid.text) there, \(own.text) here"
            )
            withhold(event, .yielded(to: bid.device))
        case .act where event.isOwnSpeech: withhold(event, .ownSpeech)
        case .act:
            if event.kind.isSession, let other = state.yielded[event.name] {
                return withhold(event, .yielded(to: other))
            }
            if state.group.name != nil, event.isContested {
                thread.withLock { $0.counts.acted += 1 }
                state.yielded[event.name] = nil
            }
            for sink in sinks { sink.receive(event) }
        }
    }
}

extension DetectionEvent {
    /// Whether the devices of a group contest it; sessions follow their wake word.
    fileprivate var isContested: Bool { isWhole && !isOwnSpeech }
}
