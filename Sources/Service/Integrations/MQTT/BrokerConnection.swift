private import CMosquitto
import Core
import Glibc

/// A connection to a broker, driven by the thread that owns it: it has no thread of its own, and no lock.
///
/// The owner waits for ``descriptor``, then calls ``work(canRead:canWrite:)``. It speaks MQTT 5, whose brokers keep what is larger than
/// ``PacketGate/longest`` from it, or 3.1.1. ``BrokerInput`` looks at everything before libmosquitto reads it.
struct BrokerConnection: ~Copyable {
    /// What a connection is made with.
    struct Settings: Equatable, Sendable {
        var host = ""
        var port = 1883
        var user: String?
        var password: String?
        /// Nil: not encrypted. Otherwise the file of trusted authorities; an empty text means those of the system.
        var authorities: String?
        var will: MQTTMessage?
        /// Names the connection at the broker, which closes an older one of the same name.
        var name = ""
        /// MQTT 5, or 3.1.1 for brokers that do not know it.
        var isVersion5 = true
    }

    /// What came from the broker.
    struct Received: Sendable {
        var topic: String
        var payload: [UInt8]
        /// The broker kept it from earlier.
        var isRetained: Bool
    }

    /// What a broker does not let this client do.
    enum Denial: Equatable, Sendable {
        case reading(topic: String)
        case writing(topic: String)
    }

    /// What the callbacks note. They are called on the owner's thread, within ``work(canRead:canWrite:)``.
    private final class Inbox {
        var received: [Received] = []
        /// The answer to CONNECT; nil before it.
        var answer: Int32?
        /// The reason that the broker gave for the end of the connection.
        var ending: Int32?
        /// Published messages that are not sent, or, if they are to be confirmed, not acknowledged.
        var unfinished = 0
        var denials: [Denial] = []
        /// Topics by the number of the packet that names them: subscriptions, and messages to be confirmed.
        var subscribed: [Int32: String] = [:]
        var confirmed: [Int32: String] = [:]
    }

    /// Most published messages that wait for the broker: the library keeps them all. Hundreds of words have some thousands.
    static let mostUnfinished = 10_000
    /// Seconds without a message after which the client pings the broker.
    private static let keepAlive: Int32 = 30
    private static let trusted = "/etc/ssl/certs"

    private let client: OpaquePointer
    private let settings: Settings
    private let inbox: Unmanaged<Inbox>
    private let input: BrokerInput
    private let marker: ReadingMarker?

    /// Connects. Waits for the look-up of the name and for the broker's machine to answer, up to some minutes.
    ///
    /// - Parameter marker: notes that bytes of the broker are being read.
    init(_ settings: Settings, marker: ReadingMarker? = nil) throws(MQTTError) {
        guard CMosquitto_load() else { throw .noLibrary }
        let inbox = Unmanaged.passRetained(Inbox())
        guard let client = CMosquitto_new(settings.name, true, inbox.toOpaque()) else {
            inbox.release()
            throw .system("mosquitto_new", errno)
        }
        do throws(MQTTError) {
            try Self.prepare(client, settings)
            try Self.connect(client, settings)
            input = try BrokerInput(client, settings)
        } catch {
            CMosquitto_destroy(client)
            inbox.release()
            throw error
        }
        self.client = client
        self.settings = settings
        self.inbox = inbox
        self.marker = marker
    }

    deinit {
        CMosquitto_destroy(client)
        inbox.release()
    }

    private static func connect(_ client: OpaquePointer, _ settings: Settings) throws(MQTTError) {
        var properties: OpaquePointer?
        defer { CMosquitto_property_free_all(&properties) }
        if settings.isVersion5 {
            try check(
                "mosquitto_int_option",
                CMosquitto_int_option(client, MOSQ_OPT_PROTOCOL_VERSION, Int32(MQTT_PROTOCOL_V5))
            )
            // With the fixed header, which counts here.
            let longest = UInt32(PacketGate.longest + 4)
            try check(
                "mosquitto_property_add_int32",
                CMosquitto_property_add_int32(&properties, Int32(MQTT_PROP_MAXIMUM_PACKET_SIZE.rawValue), longest)
            )
            try check("mosquitto_int_option", CMosquitto_int_option(client, MOSQ_OPT_RECEIVE_MAXIMUM, 1))
        }
        try check(
            "mosquitto_connect",
            CMosquitto_connect_bind_v5(client, settings.host, Int32(settings.port), keepAlive, nil, properties)
        )
    }

    private static func prepare(_ client: OpaquePointer, _ settings: Settings) throws(MQTTError) {
        if let will = settings.will {
            try check(
                "mosquitto_will_set",
                CMosquitto_will_set(
                    client,
                    will.topic,
                    Int32(will.payload.utf8.count),
                    will.payload,
                    1,
                    will.isRetained
                )
            )
        }
        if let user = settings.user {
            try check("mosquitto_username_pw_set", CMosquitto_username_pw_set(client, user, settings.password))
        }
        if let authorities = settings.authorities {
            let file = authorities.isEmpty ? nil : authorities
            try check(
                "mosquitto_tls_set",
                CMosquitto_tls_set(client, file, file == nil ? Self.trusted : nil, nil, nil, nil)
            )
        }
        CMosquitto_connect_callback_set(client) { _, inbox, code in inbox.map(BrokerConnection.notes)?.answer = code }
        CMosquitto_disconnect_callback_set(client) { _, inbox, code in
            // Lower numbers are of the library, not of the broker.
            if code >= 128 { inbox.map(BrokerConnection.notes)?.ending = code }
        }
        CMosquitto_publish_v5_callback_set(client) { _, inbox, number, code, _ in
            guard let notes = inbox.map(BrokerConnection.notes) else { return }
            notes.unfinished -= 1
            if let topic = notes.confirmed.removeValue(forKey: number), code >= 128 {
                notes.denials.append(.writing(topic: topic))
            }
        }
        CMosquitto_subscribe_callback_set(client) { _, inbox, number, count, granted in
            guard let notes = inbox.map(BrokerConnection.notes),
                let topic = notes.subscribed.removeValue(forKey: number)
            else { return }
            if count > 0, let granted, granted.pointee >= 128 { notes.denials.append(.reading(topic: topic)) }
        }
        CMosquitto_message_callback_set(client) { _, inbox, message in
            guard let notes = inbox.map(BrokerConnection.notes), let message = message?.pointee,
                let topic = message.topic
            else { return }
            let payload = UnsafeRawBufferPointer(start: message.payload, count: max(0, Int(message.payloadlen)))
            notes.received.append(
                Received(topic: String(cString: topic), payload: Array(payload), isRetained: message.retain)
            )
        }
    }

    private static func notes(_ pointer: UnsafeMutableRawPointer) -> Inbox {
        Unmanaged<Inbox>.fromOpaque(pointer).takeUnretainedValue()
    }

    private static func check(_ function: String, _ code: Int32) throws(MQTTError) {
        guard code == MOSQ_ERR_SUCCESS.rawValue else { throw MQTTError(function, code) }
    }

    /// The socket to wait for; −1 if it is closed.
    var descriptor: Int32 { CMosquitto_socket(client) }
    /// Whether it has something to write.
    var wantsToWrite: Bool { CMosquitto_want_write(client) }

    /// Whether the broker has accepted the connection.
    ///
    /// - Throws: its refusal, such as a wrong password.
    func isAccepted() throws(MQTTError) -> Bool {
        guard let answer = inbox.takeUnretainedValue().answer else { return false }
        guard answer == 0 else { throw .refused(answer, settings) }
        return true
    }

    /// Reads and writes what the socket is ready for, and keeps the connection alive. Call it at least every few seconds.
    ///
    /// - Returns: what was received.
    /// - Throws: if the connection is lost.
    func work(canRead: Bool, canWrite: Bool) throws(MQTTError) -> [Received] {
        let inbox = inbox.takeUnretainedValue()
        if canRead {
            marker?.begin()
            defer { marker?.end() }
            do throws(MQTTError) {
                try input.read { () throws(MQTTError) in
                    try Self.check("mosquitto_loop_read", CMosquitto_loop_read(client, 1))
                }
            } catch {
                try throwReason()
                throw error
            }
        }
        try throwReason()
        try input.checkProgress()
        if canWrite { try Self.check("mosquitto_loop_write", CMosquitto_loop_write(client, 1)) }
        try Self.check("mosquitto_loop_misc", CMosquitto_loop_misc(client))
        defer { inbox.received = [] }
        return inbox.received
    }

    /// Throws the broker's own reason, which says more than the library's.
    private func throwReason() throws(MQTTError) {
        _ = try isAccepted()
        if let ending = inbox.takeUnretainedValue().ending { throw .disconnected(ending, settings) }
    }

    /// Messages that were not read since the last call, because they are too long or of a quality that was not asked for.
    func takeDropped() -> BrokerInput.Dropped { input.takeDropped() }

    /// What the broker has denied since the last call.
    func takeDenials() -> [Denial] {
        let inbox = inbox.takeUnretainedValue()
        defer { inbox.denials = [] }
        return inbox.denials
    }

    /// Hands a message to the broker.
    ///
    /// With QoS 0: what was not delivered is not sent again after a reconnect, when all states are told anew. More than one message
    /// that is to be confirmed at a time would let the library read several packets at once, past ``BrokerInput``.
    ///
    /// - Parameter isConfirmed: whether the broker is asked to confirm it, and so to say if it denies it.
    /// - Throws: if the connection is lost, or the broker takes no messages.
    func publish(_ message: MQTTMessage, isConfirmed: Bool = false) throws(MQTTError) {
        let inbox = inbox.takeUnretainedValue()
        guard inbox.unfinished < Self.mostUnfinished else {
            throw MQTTError("the broker takes no messages: \(Self.mostUnfinished) wait for it")
        }
        inbox.unfinished += 1
        let confirms = isConfirmed && inbox.confirmed.isEmpty
        var number: Int32 = 0
        try Self.check(
            "mosquitto_publish",
            CMosquitto_publish(
                client,
                &number,
                message.topic,
                Int32(message.payload.utf8.count),
                message.payload,
                confirms ? 1 : 0,
                message.isRetained
            )
        )
        if confirms { inbox.confirmed[number] = message.topic }
    }

    func subscribe(_ topic: String) throws(MQTTError) {
        var number: Int32 = 0
        try Self.check("mosquitto_subscribe", CMosquitto_subscribe(client, &number, topic, 0))
        inbox.takeUnretainedValue().subscribed[number] = topic
    }

    /// Says goodbye, so that the broker does not publish the will.
    func disconnect() { _ = CMosquitto_disconnect(client) }
}
