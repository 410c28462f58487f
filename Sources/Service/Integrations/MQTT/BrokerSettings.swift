private import Configuration
import Core
private import Network
private import System

/// How the configuration becomes a connection.
extension MQTTPublisher {
    /// What to connect with; reads the password's file.
    ///
    /// - Throws: what is wrong with a file that the configuration names.
    func brokerSettings(isVersion5: Bool) throws(MQTTError) -> BrokerConnection.Settings {
        var broker = BrokerConnection.Settings()
        broker.isVersion5 = isVersion5
        broker.host = host
        broker.port = settings.port ?? (settings.tls ? 8883 : 1883)
        broker.user = settings.user
        if let path = settings.passwordFile {
            do throws(ReadFileError) {
                broker.password = firstLine(of: String(decoding: try readFile(path, limit: 4096).bytes, as: UTF8.self))
            } catch {
                throw MQTTError("passwordFile \(path): \(error)")
            }
        }
        if settings.tls {
            // libmosquitto would call it "Invalid function arguments".
            if let path = settings.caFile, let problem = certificateProblem(path) {
                throw MQTTError(
                    "mqtt.caFile \(printable(path)): \(problem); name the file with the certificate of the broker's authority"
                )
            }
            broker.authorities = settings.caFile ?? ""
        }
        broker.will = MQTTMessage(topics.availability, MQTTTopics.offline, isRetained: true)
        broker.name = "beckon-" + identity.slug
        return broker
    }
}
