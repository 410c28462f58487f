public import Configuration
public import Core
import DeviceGroup
public import Events
import Glibc
public import IntegrationInterface
public import Metrics
import Spotting
import System

/// Publishes events and states to a broker, and passes on its commands, on a thread of its own.
///
/// Events while there is no connection are dropped and counted: a word that is told late would do harm. States are told anew after
/// each connect.
public final class MQTTPublisher: Integration {
    public static let key = "mqtt"

    public struct Counts: Counted, Equatable {
        /// Words and phrases that were handed to the broker.
        public var events = 0
        /// Events without a connection, or beyond what waits for the thread.
        public var dropped = 0
        public var commands = 0
        /// Commands that a newer one of the same topic replaced before they were carried out.
        public var replacedCommands = 0
        /// Messages on topics of commands that were not executed, those that were too long to be read included.
        public var refused = 0
        public var connects = 0
        public var isConnected = false
        /// Whether MQTT is off because the service ended while it read.
        public var isOff = false

        public static let counters: [Counter<Counts>] = [
            Counter("connected", \.isConnected).gauge("beckon_mqtt_connected", "Whether the broker is connected."),
            Counter("connects", \.connects)
                .counter("beckon_mqtt_connects", "Connections to the broker that were made."),
            Counter("events", \.events)
                .counter("beckon_mqtt_events", "Words and phrases that were handed to the broker."),
            Counter("dropped", \.dropped)
                .counter("beckon_mqtt_dropped_events", "Words and phrases that were not, for lack of a connection."),
            Counter("commands", \.commands).counter("beckon_mqtt_commands", "Commands from the broker."),
            Counter("replacedCommands", \.replacedCommands)
                .counter(
                    "beckon_mqtt_replaced_commands",
                    "Commands that a newer one of the same topic replaced before they were carried out."
                ),
            Counter("refusedMessages", \.refused)
                .counter(
                    "beckon_mqtt_refused_messages",
                    "Messages to command topics that were not executed, those that were too long included."
                ),
            Counter("off", \.isOff)
                .gauge(
                    "beckon_mqtt_off",
                    "Whether MQTT is off because the service ended while it read from the broker."
                ),
        ]
    }

    struct Inbox {
        var events: [DetectionEvent] = []
        var yielded: [(DetectionEvent, device: String)] = []
        var counts = Counts()
        var commands = CommandQueue()
        var group = GroupState()
        /// Whether to remove the device at the broker before the end.
        var isRemoved = false
    }

    /// Most events that wait for the thread.
    private static let capacity = 64
    /// The time between two looks at the state, and the longest between two attempts to connect.
    private static let interval = Duration.seconds(1), timeout = Duration.seconds(60)
    /// The time that a broker has to answer.
    private static let answerTime = Duration.seconds(10)
    /// A connection that the broker closes sooner may be taken over by another client; so many in a row are.
    private static let briefTime = Duration.seconds(20), mostBrief = 3

    let settings: Configuration.MQTT
    let host: String
    let topics: MQTTTopics
    private let discovery: Discovery?
    let identity: MQTTIdentity
    let service: any Service
    let log: ServiceLog
    let thread: InboxThread<Inbox>
    private let marker: ReadingMarker?

    /// Whether it does nothing, because a process before this one ended while it read what the broker sent. It stays so over further
    /// starts, as what the broker keeps would end them, too, until ``retry()``.
    public var isOff: Bool { thread.withLock { $0.counts.isOff } }

    public static func configured(in configuration: Configuration) -> Configuration.MQTT? {
        configuration.mqtt.host == nil ? nil : configuration.mqtt
    }

    /// Starts the thread, which connects.
    ///
    /// - Throws: ``SystemError`` if the system gives no descriptor or thread.
    public convenience init(_ settings: Configuration.MQTT, _ service: any Service) throws {
        try self.init(settings, service, state: StateFolder.path(of: service.instance))
    }

    /// - Parameter state: the folder for what is kept over restarts; nil for none.
    init(_ settings: Configuration.MQTT, _ service: any Service, state: String?) throws {
        self.settings = settings
        host = settings.host ?? "localhost"
        identity = MQTTIdentity(name: settings.name ?? service.name)
        topics = MQTTTopics(prefix: settings.prefix, identity)
        discovery = settings.discovery.map { [identity, topics] prefix in
            Discovery(prefix: prefix, identity, topics, form: settings.discoveryForm)
        }
        self.service = service
        log = service.log
        thread = try InboxThread(Inbox(), or: Self.unchanged)
        marker = ReadingMarker(
            state.map { "\($0)/mqtt-\(MQTTIdentity(name: settings.name ?? service.name).slug).reading" }
        )
        if marker?.hasFound == true {
            thread.withLock { $0.counts.isOff = true }
            log.write(
                .error,
                "MQTT is off: the service ended suddenly while it read what the broker \(host) sent. Look for a large or strange "
                    + "kept message below \(topics.base)/ and remove it (mosquitto_pub -r -n -t TOPIC); beckon reload then turns "
                    + "MQTT on again"
            )
            return
        }
        try start()
    }

    private func start() throws(SystemError) {
        service.group?.add(self)
        try thread.start(name: "beckon-mqtt", stackSize: 1 << 20, or: Self.unchanged) { [self] in
            run()
            service.group?.remove(self)
        }
    }

    private static func unchanged(_ error: SystemError) -> SystemError { error }

    public var counts: Counts {
        thread.withLock { inbox in
            inbox.counts.replacedCommands = inbox.commands.replaced
            return inbox.counts
        }
    }

    public func receive(_ event: DetectionEvent) {
        thread.post { inbox in
            guard inbox.counts.isConnected, inbox.events.count < Self.capacity else {
                inbox.counts.dropped += 1
                return
            }
            inbox.events.append(event)
        }
    }

    public func withheld(_ event: DetectionEvent, _ reason: WithheldReason) {
        guard event.kind == .word || event.kind == .phrase, case .yielded(let device) = reason else { return }
        thread.post { inbox in
            guard inbox.counts.isConnected, inbox.yielded.count < Self.capacity else { return }
            inbox.yielded.append((event, device))
        }
    }

    /// Turns MQTT on again where it is off: who reloads has read why it is.
    public func retry() {
        guard isOff, !thread.isStopped else { return }
        marker?.end()
        do throws(SystemError) {
            try start()
            thread.withLock { $0.counts.isOff = false }
            log.write(.notice, "MQTT is on again, with the broker \(host)")
        } catch {
            log.write(.error, "MQTT stays off: \(error)")
        }
    }

    /// The end also removes the device from Home Assistant, and what the broker keeps.
    public func remove() {
        thread.withLock { $0.isRemoved = true }
        // Other settings are a new beginning, too.
        if isOff { marker?.end() }
    }

    /// Says `offline` and ends the thread.
    ///
    /// - Returns: whether it has ended; it may wait for a name server or a broker's machine.
    @discardableResult
    public func stop(until time: Instant?) -> Bool { thread.stop(until: time) }

    // MARK: - On the publisher's thread

    private func run() {
        var pause = Self.interval
        var said: String?
        var isVersion5 = true
        // Connections in a row that the broker closed soon.
        var brief = 0
        while !thread.isStopped {
            let begin = Clock.now
            var wasAccepted = false
            do throws(MQTTError) {
                let connection = try BrokerConnection(try brokerSettings(isVersion5: isVersion5), marker: marker)
                try serve(connection) {
                    wasAccepted = true
                    if said != nil || brief == 0 { log.write(.notice, "connected to the MQTT broker \(host)") }
                    if brief == 0 { said = nil }
                }
                return
            } catch {
                var error = error
                if !wasAccepted, error.mayBeOld {
                    isVersion5.toggle()
                    // The other version is tried at once; what is wrong shows if that fails too.
                    if !isVersion5 { continue }
                    if error.isClosed { error = .closedAtOnce }
                }
                brief = wasAccepted && error.isClosed && Clock.now - begin < Self.briefTime ? brief + 1 : 0
                if wasAccepted, error.isClosed { error = .closed("beckon-" + identity.slug) }
                if brief >= Self.mostBrief { error = .sameName("beckon-" + identity.slug, isCertain: false) }
                thread.withLock { inbox in
                    inbox.counts.isConnected = false
                    inbox.counts.dropped += inbox.events.count
                    inbox.events = []
                    inbox.group = GroupState()
                }
                if wasAccepted { service.group?.cut() }
                // The same reason again is not worth a line.
                if said != error.description {
                    log.write(.warning, "MQTT broker \(host): \(error); trying again")
                }
                said = error.description
            }
            // A connection that lasted is tried again at once.
            pause = Clock.now - begin > Self.timeout ? Self.interval : min(pause + pause, Self.timeout)
            wait(until: Clock.now + pause)
        }
    }

    private func wait(until end: Instant) {
        while !thread.isStopped, thread.wait(until: end) {}
    }

    /// Serves a connection until ``stop(until:)``.
    ///
    /// - Throws: if the connection is refused or lost.
    private func serve(_ connection: borrowing BrokerConnection, onConnect: () -> Void) throws(MQTTError) {
        var told: ServiceState?
        // What toggled it before may be forgotten: its end would not be known.
        var hermes = settings.hermes.map { Hermes(site: $0) }
        var joined: (topics: GroupTopics, since: Instant)?
        var isAccepted = false
        var refusals = RefusalLog()
        let deadline = Clock.now + Self.answerTime
        var nextLook = Clock.now
        while true {
            let (events, yielded) = take()
            if isAccepted {
                try followGroup(&joined, connection)
                for (event, device) in yielded {
                    try connection.publish(topics.message(for: event, yieldedTo: device))
                }
                for event in events {
                    for message in topics.messages(for: event) { try connection.publish(message) }
                    let isTaught = told?.words.contains { $0.name == event.name && $0.isTaught } ?? false
                    for message in hermes?.messages(for: event, isTaught: isTaught) ?? [] {
                        try connection.publish(message)
                    }
                }
                if Clock.now >= nextLook {
                    try report(service.state, &told, connection)
                    nextLook = Clock.now + Self.interval
                }
            }
            if thread.isStopped {
                do throws(MQTTError) {
                    try leaveGroup(&joined, connection)
                    try leave(connection, told)
                } catch {
                    // It is closed: nobody is left to be told.
                }
                return
            }
            for message in try work(connection, until: nextLook) {
                let isNews = message.topic == discovery?.birth
                // Home Assistant has just started, and knows nothing of what is not kept.
                if isNews {
                    if !message.isRetained, message.payload == Array("online".utf8) { told = nil }
                } else if message.topic == Hermes.toggleOn || message.topic == Hermes.toggleOff {
                    toggle(&hermes, message, &refusals)
                } else if takeGroup(message, &joined) {
                    continue
                } else {
                    execute(message, told, &refusals)
                }
                nextLook = Clock.now
            }
            refuse(connection.takeDropped(), &refusals)
            for denial in connection.takeDenials() { log.write(.warning, text(of: denial)) }
            submit(&refusals)
            guard !isAccepted else { continue }
            isAccepted = try connection.isAccepted()
            guard isAccepted else {
                if Clock.now > deadline { throw .noAnswer }
                nextLook = Clock.now + .milliseconds(100)
                continue
            }
            thread.withLock {
                $0.counts.isConnected = true
                $0.counts.connects += 1
            }
            onConnect()
            nextLook = Clock.now
            let toggles = hermes == nil ? [] : [Hermes.toggleOn, Hermes.toggleOff]
            for topic in topics.commands + (discovery.map { [$0.birth] } ?? []) + toggles {
                try connection.subscribe(topic)
            }
            try connection.publish(
                MQTTMessage(topics.availability, MQTTTopics.online, isRetained: true),
                isConfirmed: true
            )
        }
    }

    private func take() -> (events: [DetectionEvent], yielded: [(DetectionEvent, device: String)]) {
        thread.withLock { inbox in
            let (events, yielded) = (inbox.events, inbox.yielded)
            (inbox.events, inbox.yielded) = ([], [])
            if inbox.counts.isConnected { inbox.counts.events += events.count }
            return (events, yielded)
        }
    }

    private func report(
        _ state: ServiceState,
        _ told: inout ServiceState?,
        _ connection: borrowing BrokerConnection
    ) throws(MQTTError) {
        var state = state
        // The level changes all the time: told when it has moved by a decibel or more.
        if let old = told?.level, let new = state.level, abs(old - new) < 1 { state.level = old }
        for message in discovery?.messages(for: state, since: told) ?? [] { try connection.publish(message) }
        for message in topics.messages(for: state, since: told) { try connection.publish(message) }
        told = state
    }

    /// Waits for the socket, a wake-up or a time, then reads and writes.
    private func work(
        _ connection: borrowing BrokerConnection,
        until time: Instant
    ) throws(MQTTError) -> [BrokerConnection.Received] {
        let events = connection.wantsToWrite ? POLLIN | POLLOUT : POLLIN
        var polled = [Poll.request(thread.descriptor, POLLIN), Poll.request(connection.descriptor, events)]
        Poll.wait(&polled, until: time)
        thread.drain()
        let ready = Int32(polled[1].revents)
        return try connection.work(
            canRead: ready & (POLLIN | POLLHUP | POLLERR) != 0,
            canWrite: ready & POLLOUT != 0
        )
    }

    /// Says that the device is gone, and waits a moment until the broker has read it.
    ///
    /// - Throws: when the broker closes the connection, at the latest.
    private func leave(_ connection: borrowing BrokerConnection, _ told: ServiceState?) throws(MQTTError) {
        if thread.withLock({ $0.isRemoved }) {
            for message in discovery?.removal(since: told) ?? [] { try connection.publish(message) }
            for topic in told.map({ topics.messages(for: $0, since: nil) }) ?? [] {
                try connection.publish(MQTTMessage(topic.topic, "", isRetained: true))
            }
            try connection.publish(MQTTMessage(topics.availability, "", isRetained: true))
        } else {
            try connection.publish(MQTTMessage(topics.availability, MQTTTopics.offline, isRetained: true))
        }
        connection.disconnect()
        // Until the broker has closed: closing first, with its answers unread, would make it drop what it has not read.
        let end = Clock.now + .milliseconds(300)
        while connection.descriptor >= 0, Clock.now < end { _ = try work(connection, until: end) }
    }
}
