private import Configuration
import Control
import Core
private import Events
import IntegrationInterface
private import Synchronization
import System

/// What a broker's messages do: on the publisher's thread.
extension MQTTPublisher {
    /// Takes the command of a message, or says why there is none.
    func execute(_ message: BrokerConnection.Received, _ told: ServiceState?, _ refusals: inout RefusalLog) {
        // A kept command is an old one.
        guard !message.isRetained else {
            let reason =
                "the broker has kept it, and an old command is not executed; send it without the flag retain, and remove it: "
                + "mosquitto_pub -r -n -t \(ShellWord.quoted(printable(message.topic)))"
            return refuse(message.topic, message.payload, reason, &refusals)
        }
        do throws(MQTTError) {
            let words = told?.words ?? []
            let command = try topics.command(topic: message.topic, payload: message.payload, words: words)
            thread.withLock {
                $0.counts.commands += 1
                $0.commands.add(command, topic: message.topic)
            }
        } catch {
            refuse(message.topic, message.payload, error.description, &refusals)
        }
    }

    /// Takes a message that turns the Hermes topics on or off.
    func toggle(_ hermes: inout Hermes?, _ message: BrokerConnection.Received, _ refusals: inout RefusalLog) {
        guard hermes != nil else { return }
        guard !message.isRetained else {
            return refuse(message.topic, message.payload, "the broker has kept it; it is too old", &refusals)
        }
        if hermes?.take(topic: message.topic, payload: message.payload) == .unreadable {
            refuse(
                message.topic,
                message.payload,
                "send JSON such as {\"siteId\": \"kitchen\", \"reason\": \"ttsSay\"}",
                &refusals
            )
        }
    }

    /// Counts a message that was not executed, and logs it or not.
    func refuse(_ topic: String, _ payload: [UInt8]?, _ reason: String, _ refusals: inout RefusalLog) {
        thread.withLock { $0.counts.refused += 1 }
        guard let line = refusals.line(topic: topic, payload: payload, reason, at: Clock.now) else { return }
        log.write(.warning, line)
    }

    /// Counts messages that the library did not read, and logs the last of them or not.
    func refuse(_ dropped: BrokerInput.Dropped, _ refusals: inout RefusalLog) {
        if dropped.others > 0 {
            thread.withLock { $0.counts.refused += dropped.others }
            refusals.skip(dropped.others)
        }
        for (topic, length) in dropped.last {
            let reason = "it has \(length) bytes or another QoS than 0, and was not read; commands are short"
            refuse(topic, nil, reason, &refusals)
        }
    }

    /// Hands the commands that wait to the service.
    func submit(_ refusals: inout RefusalLog) {
        while let (topic, command) = thread.withLock({ $0.commands.next() }) {
            let reply = service.perform(command) { [weak self] reply in self?.finish(topic, reply) }
            switch reply {
            case nil: break
            case .failed(ControlReply.noRoom):
                // It is tried again at the next look.
                return thread.withLock { $0.commands.putBack(command, topic: topic) }
            case let reply?: finish(topic, reply)
            }
        }
    }

    /// Notes the end of a command. Any thread.
    private func finish(_ topic: String, _ reply: ControlReply) {
        thread.withLock { $0.commands.finish(topic) }
        if case .failed(let reason) = reply { log.write(.warning, "MQTT: \(printable(topic)): \(reason)") }
        thread.wake()
    }

    /// What a denial means.
    func text(of denial: BrokerConnection.Denial) -> String {
        let user = settings.user.map { "the user '\(printable($0))'" } ?? "clients without a user (mqtt.user)"
        switch denial {
        case .reading(let topic):
            return
                "MQTT broker \(host): it denies reading \(topic), so commands there have no effect; allow it to \(user) in the "
                + "broker's access rules (mosquitto: topic read \(topic))"
        case .writing(let topic):
            return
                "MQTT broker \(host): it denies writing \(topic), so nobody sees the words that are found; allow it to \(user) in "
                + "the broker's access rules (mosquitto: topic readwrite \(topics.base)/#)"
        }
    }
}
