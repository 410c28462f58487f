import CMosquitto
import Core
import Glibc
import System

/// Why there is no connection to a broker, as one line: what happened, and what to do.
public struct MQTTError: Error, Equatable, Sendable, CustomStringConvertible {
    public let description: String
    /// Whether a broker of MQTT 3.1.1 may have closed the connection because it does not know MQTT 5.
    let mayBeOld: Bool
    /// Whether the broker closed the connection without a reason.
    let isClosed: Bool

    init(_ description: String, mayBeOld: Bool = false, isClosed: Bool = false) {
        (self.description, self.mayBeOld, self.isClosed) = (description, mayBeOld, isClosed)
    }

    /// - Parameters:
    ///   - function: the function of libmosquitto that failed.
    ///   - code: what it returned; the errno counts where it says so.
    init(_ function: String, _ code: Int32) {
        let number = errno
        switch code {
        // MOSQ_ERR_ERRNO says that errno tells more.
        case MOSQ_ERR_ERRNO.rawValue: self = .system(function, number)
        case MOSQ_ERR_CONN_LOST.rawValue, MOSQ_ERR_NO_CONN.rawValue, MOSQ_ERR_CONN_REFUSED.rawValue: self = .closed
        // 2.0.11 has no text for it.
        case MOSQ_ERR_KEEPALIVE.rawValue: self = .silent
        case MOSQ_ERR_EAI.rawValue: self = .unknownName
        case MOSQ_ERR_PROTOCOL.rawValue, MOSQ_ERR_MALFORMED_PACKET.rawValue: self = .notMQTT
        case MOSQ_ERR_INVAL.rawValue: self.init("\(function): libmosquitto does not accept the arguments")
        case MOSQ_ERR_TLS.rawValue: self = .tls("the connection cannot be encrypted")
        default:
            let reason = CMosquitto_strerror(code).map { String(cString: $0) } ?? ""
            self.init("\(function): \(reason.isEmpty || reason == "Unknown error." ? "error \(code)" : reason)")
        }
    }

    // MARK: - Networks

    static func system(_ function: String, _ number: Int32) -> MQTTError {
        let advice =
            switch number {
            case ECONNREFUSED: "is the broker running, and are mqtt.host and mqtt.port its address?"
            case EPERM, EACCES:
                "the system's unit may talk to this machine alone; allow the broker's address with IPAddressAllow= "
                    + "(systemctl edit beckon)"
            case EHOSTUNREACH, ENETUNREACH: "is the network up, and mqtt.host right?"
            case ETIMEDOUT: "its machine does not answer: is it on, is mqtt.host right, does a firewall drop the port?"
            case ECONNRESET, EPIPE: "the broker closed the connection"
            default: "see its log"
            }
        let isClosed = number == ECONNRESET || number == EPIPE
        let text = "\(SystemError.text(number)) (\(function)); \(advice)"
        return MQTTError(text, mayBeOld: isClosed, isClosed: isClosed)
    }

    static let closed = MQTTError(
        "the broker closed the connection without a reason; its log may tell it",
        mayBeOld: true,
        isClosed: true
    )

    /// The end of a connection before the broker has answered CONNECT.
    static let closedAtOnce = MQTTError(
        "the broker closed the connection before it answered; is mqtt.port right for mqtt.tls (8883 with TLS, 1883 without)? Its "
            + "log may tell more"
    )

    static let silent = MQTTError(
        "the broker is silent: it has not answered for the time of the keep-alive; is it overloaded, or the network gone?"
    )
    static let noAnswer = MQTTError(
        "it takes the connection but does not answer; is mqtt.port the port of an MQTT broker, and right for mqtt.tls (8883 with TLS, "
            + "1883 without)?"
    )
    static let unknownName = MQTTError(
        "the name is not known (getaddrinfo); correct mqtt.host, or look at /etc/resolv.conf"
    )

    static let notMQTT = MQTTError(
        "what it sends is not MQTT; is mqtt.port the port of an MQTT broker, and right for mqtt.tls (8883 with TLS, 1883 without)?",
        mayBeOld: true
    )

    static func tooLong(_ head: PacketGate.Head) -> MQTTError {
        MQTTError(
            head.quality > 0
                ? "it sends messages with QoS \(head.quality), which Beckon did not ask for; the connection was closed"
                : "it sends a packet of \(head.length) bytes, more than \(PacketGate.longest); the connection was closed. If a kept "
                    + "message is the cause, remove it: mosquitto_pub -r -n -t TOPIC"
        )
    }

    // MARK: - TLS

    /// A failure of TLS, with what OpenSSL says.
    static func tls(_ reason: String) -> MQTTError { MQTTError("TLS: \(reason)") }

    /// - Parameters:
    ///   - verified: the result of the certificate's check, an `X509_V_ERR`; 0 if it did not fail.
    ///   - text: what OpenSSL calls that.
    ///   - reason: OpenSSL's newest error.
    ///   - authorities: the configured file; empty for those of the system.
    static func tls(verified: Int, text: String, reason: String, host: String, authorities: String) -> MQTTError {
        let trusted = authorities.isEmpty ? "the system's authorities" : "mqtt.caFile"
        switch verified {
        case 18:
            return .tls("the broker's certificate is self-signed; put it into a file and name that in mqtt.caFile")
        case 2, 19, 20, 21:
            return .tls(
                "the broker's certificate is not signed by \(trusted) (\(text)); name the certificate of its authority in mqtt.caFile"
            )
        case 9, 10:
            return .tls("the broker's certificate is not valid now (\(text)); renew it, or set this machine's clock")
        // X509_V_ERR_UNSPECIFIED, or none: libmosquitto itself looks at the name.
        case 2...:
            return .tls("the broker's certificate is not accepted (\(text))")
        default: break
        }
        if verified == 1 || reason.contains("certificate verify failed") {
            return .tls("the broker's certificate is not for the name '\(host)'; set mqtt.host to a name that is in it")
        }
        if reason.contains("wrong version number") || reason.contains("packet length")
            || reason.contains("http request")
        {
            return .plainPort
        }
        if reason.contains("certificate required") || reason.contains("handshake failure") {
            return .tls(
                "the broker refuses (\(reason)); it may ask for a certificate of the client, which Beckon does not have"
            )
        }
        return reason.isEmpty ? closedTLS : .tls(reason)
    }

    static let plainPort = tls(
        "what answers does not speak TLS; set mqtt.port to the broker's TLS port (8883), or tls: false"
    )
    static let closedTLS = tls("the broker closed the connection; does mqtt.port speak TLS (8883)?")
    static let noLibrary = MQTTError("libmosquitto is not installed; apt install libmosquitto1")
    static let noTLS = tls("OpenSSL was not found in libmosquitto")

    // MARK: - The broker's reasons

    /// The refusal of a connection: a return code of MQTT 3.1.1, or a reason code of MQTT 5.
    static func refused(_ code: Int32, _ settings: BrokerConnection.Settings) -> MQTTError {
        let user = settings.user.map { "the user '\(printable($0))'" } ?? "clients without a user (mqtt.user)"
        let text =
            switch code {
            case 1, 132: "it does not speak this version of MQTT"
            case 2, 133: "it does not accept the client's name '\(settings.name)'; set mqtt.name"
            case 3, 136, 137: "it is not available now"
            case 4, 134: "wrong user name or password; correct mqtt.user and the file of mqtt.passwordFile"
            case 5, 135:
                "it does not authorise \(user); correct mqtt.user and the file of mqtt.passwordFile, or its access rules"
            case 138: "it has banned this client"
            case 149: "it does not accept packets of this size"
            case 151, 159: "a quota is exceeded (too many connections); try again later, or look at its log"
            default: "reason code \(code) (\(CMosquitto_reason_string(code).map { String(cString: $0) } ?? ""))"
            }
        return MQTTError("the broker refused: \(text)", mayBeOld: code == 1 || code == 132)
    }

    /// Why the broker ended a connection: a reason code of MQTT 5.
    static func disconnected(_ code: Int32, _ settings: BrokerConnection.Settings) -> MQTTError {
        switch code {
        case 142: return sameName(settings.name, isCertain: true)
        case 149: return MQTTError("the broker closed the connection: a message was too large for it")
        case 139: return MQTTError("the broker closed the connection: it is shutting down")
        case 135: return MQTTError("the broker closed the connection: not authorised; look at its access rules")
        default:
            let text = CMosquitto_reason_string(code).map { String(cString: $0) } ?? ""
            return MQTTError("the broker closed the connection: \(text.isEmpty ? "reason code \(code)" : text)")
        }
    }

    /// The end of a connection that was accepted, without a reason: mosquitto 2.0 gives none where a client takes it over.
    static func closed(_ name: String) -> MQTTError {
        MQTTError(
            "the broker closed the connection without a reason; its log may tell it. If it does so again and again, another client may "
                + "have the name '\(name)'; give each device a name of its own: mqtt.name"
        )
    }

    /// Another client has taken the connection over.
    static func sameName(_ name: String, isCertain: Bool) -> MQTTError {
        MQTTError(
            (isCertain
                ? "another client has connected with the same name"
                : "the broker closes the connection again and again, as it "
                    + "does if another client connects with the same name")
                + " '\(name)'; give each device a name of its own: mqtt.name"
        )
    }
}
