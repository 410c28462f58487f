private import CMosquitto
import Glibc

/// A function of libmosquitto that failed, or a broker's refusal; as text, `mosquitto_connect: Connection refused`.
struct MQTTError: Error, Equatable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    fileprivate init(_ function: String, _ code: Int32) {
        // MOSQ_ERR_ERRNO says that errno tells more.
        let reason =
            code == MOSQ_ERR_ERRNO.rawValue
            ? strerror(errno) : UnsafeMutablePointer(mutating: mosquitto_strerror(code))
        description = "\(function): " + (reason.map { String(cString: $0) } ?? "error \(code)")
    }
}

/// A connection to a broker, driven by the thread that owns it: it has no thread of its own, and no lock.
///
/// The owner waits for ``descriptor``, then calls ``work(canRead:canWrite:)``.
struct BrokerConnection: ~Copyable {
    /// What a connection is made with.
    struct Settings: Equatable, Sendable {
        var host = ""
        var port = 1883
        var user: String?
        var password: String?
        /// Nil: not encrypted. Otherwise the file of trusted authorities; an empty text means those of the system.
        var authorities: String?
        var will: (topic: String, payload: String)?
        /// Names the connection at the broker, which closes an older one of the same name.
        var name = ""

        static func == (left: Self, right: Self) -> Bool {
            left.host == right.host && left.port == right.port && left.user == right.user
                && left.password == right.password
                && left.authorities == right.authorities && left.will?.topic == right.will?.topic
                && left.will?.payload == right.will?.payload && left.name == right.name
        }
    }

    /// What came from the broker.
    struct Received: Sendable {
        var topic: String
        var payload: [UInt8]
        /// The broker kept it from earlier.
        var isRetained: Bool
    }

    /// What the callbacks note. They are called on the owner's thread, within ``work(canRead:canWrite:)``.
    private final class Inbox {
        var received: [Received] = []
        /// The answer to CONNECT; nil before it.
        var answer: Int32?
        /// Published messages that are not sent, or, with QoS 1, not acknowledged.
        var unfinished = 0
    }

    /// Largest payload that is looked at, and most messages that wait.
    private static let longest = 4096, most = 64
    /// Most published messages that wait for the broker: the library keeps them all. Hundreds of words have some thousands.
    static let mostUnfinished = 10_000
    /// Seconds without a message after which the client pings the broker.
    private static let keepAlive: Int32 = 30
    private static let trusted = "/etc/ssl/certs"
    private static let library: Int32 = mosquitto_lib_init()

    private let client: OpaquePointer
    private let inbox: Unmanaged<Inbox>

    /// Connects. Waits for the look-up of the name and for the broker's machine to answer, up to some minutes.
    init(_ settings: Settings) throws(MQTTError) {
        _ = Self.library
        let inbox = Unmanaged.passRetained(Inbox())
        guard let client = mosquitto_new(settings.name, true, inbox.toOpaque()) else {
            inbox.release()
            throw MQTTError("mosquitto_new: \(String(cString: strerror(errno)))")
        }
        do throws(MQTTError) {
            try Self.prepare(client, settings)
            try Self.check(
                "mosquitto_connect",
                mosquitto_connect(client, settings.host, Int32(settings.port), Self.keepAlive)
            )
        } catch {
            mosquitto_destroy(client)
            inbox.release()
            throw error
        }
        self.client = client
        self.inbox = inbox
    }

    deinit {
        mosquitto_destroy(client)
        inbox.release()
    }

    private static func prepare(_ client: OpaquePointer, _ settings: Settings) throws(MQTTError) {
        if let will = settings.will {
            try check(
                "mosquitto_will_set",
                mosquitto_will_set(client, will.topic, Int32(will.payload.utf8.count), will.payload, 1, true)
            )
        }
        if let user = settings.user {
            try check("mosquitto_username_pw_set", mosquitto_username_pw_set(client, user, settings.password))
        }
        if let authorities = settings.authorities {
            let file = authorities.isEmpty ? nil : authorities
            try check(
                "mosquitto_tls_set",
                mosquitto_tls_set(client, file, file == nil ? Self.trusted : nil, nil, nil, nil)
            )
        }
        mosquitto_connect_callback_set(client) { _, inbox, code in
            guard let inbox else { return }
            Unmanaged<Inbox>.fromOpaque(inbox).takeUnretainedValue().answer = code
        }
        mosquitto_publish_callback_set(client) { _, inbox, _ in
            guard let inbox else { return }
            Unmanaged<Inbox>.fromOpaque(inbox).takeUnretainedValue().unfinished -= 1
        }
        mosquitto_message_callback_set(client) { _, inbox, message in
            guard let inbox, let message = message?.pointee, let topic = message.topic else { return }
            let notes = Unmanaged<Inbox>.fromOpaque(inbox).takeUnretainedValue()
            let count = Int(message.payloadlen)
            guard notes.received.count < BrokerConnection.most, count <= BrokerConnection.longest else { return }
            let payload = UnsafeRawBufferPointer(start: message.payload, count: count)
            notes.received.append(
                Received(topic: String(cString: topic), payload: Array(payload), isRetained: message.retain)
            )
        }
    }

    private static func check(_ function: String, _ code: Int32) throws(MQTTError) {
        guard code == MOSQ_ERR_SUCCESS.rawValue else { throw MQTTError(function, code) }
    }

    /// The socket to wait for; −1 if it is closed.
    var descriptor: Int32 { mosquitto_socket(client) }
    /// Whether it has something to write.
    var wantsToWrite: Bool { mosquitto_want_write(client) }

    /// Whether the broker has accepted the connection.
    ///
    /// - Throws: its refusal, such as a wrong password.
    func isAccepted() throws(MQTTError) -> Bool {
        guard let answer = inbox.takeUnretainedValue().answer else { return false }
        guard answer == 0 else {
            throw MQTTError("the broker refused: \(String(cString: mosquitto_connack_string(answer)))")
        }
        return true
    }

    /// Reads and writes what the socket is ready for, and keeps the connection alive. Call it at least every few seconds.
    ///
    /// - Returns: what was received.
    /// - Throws: if the connection is lost.
    func work(canRead: Bool, canWrite: Bool) throws(MQTTError) -> [Received] {
        if canRead {
            let code = mosquitto_loop_read(client, 1)
            // The broker's own reason says more than the library's.
            _ = try isAccepted()
            try Self.check("mosquitto_loop_read", code)
        }
        if canWrite { try Self.check("mosquitto_loop_write", mosquitto_loop_write(client, 1)) }
        try Self.check("mosquitto_loop_misc", mosquitto_loop_misc(client))
        let inbox = inbox.takeUnretainedValue()
        defer { inbox.received = [] }
        return inbox.received
    }

    /// Hands a message to the broker.
    ///
    /// What is kept goes with QoS 1. Events go with QoS 0: what was not delivered is not sent again after a reconnect. So do empty
    /// messages: Debian's mosquitto 2.0.11 closes the connection ("out of memory") after some with QoS 1.
    ///
    /// - Throws: if the connection is lost, or the broker takes or acknowledges no messages.
    func publish(_ message: MQTTMessage) throws(MQTTError) {
        let inbox = inbox.takeUnretainedValue()
        guard inbox.unfinished < Self.mostUnfinished else {
            throw MQTTError("the broker takes no messages: \(Self.mostUnfinished) wait for it")
        }
        inbox.unfinished += 1
        let count = Int32(message.payload.utf8.count)
        let quality: Int32 = message.isRetained && count > 0 ? 1 : 0
        try Self.check(
            "mosquitto_publish",
            mosquitto_publish(
                client,
                nil,
                message.topic,
                count,
                message.payload,
                quality,
                message.isRetained
            )
        )
    }

    func subscribe(_ topic: String) throws(MQTTError) {
        try Self.check("mosquitto_subscribe", mosquitto_subscribe(client, nil, topic, 0))
    }

    /// Says goodbye, so that the broker does not publish the will.
    func disconnect() { _ = mosquitto_disconnect(client) }
}
