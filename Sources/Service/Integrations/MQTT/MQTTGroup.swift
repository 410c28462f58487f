private import Configuration
import Core
public import DeviceGroup
private import IntegrationInterface
import System

/// The publisher as a way to the other devices of the group.
extension MQTTPublisher: GroupLink {
    /// The time after joining in which others may be there without being known: the broker then sends what it keeps.
    static let joiningTime = Duration.seconds(1)

    public func send(_ message: GroupMessage) -> Int {
        thread.post { inbox in
            guard inbox.counts.isConnected, inbox.group.others > 0, inbox.group.messages.count < Self.mostGroupMessages
            else { return 0 }
            inbox.group.messages.append(message)
            return inbox.group.others
        }
    }

    /// What the thread and the group share.
    struct GroupState {
        /// What waits to be published.
        var messages: [GroupMessage] = []
        /// Devices that may get it.
        var others = 0
    }

    /// Most messages that wait for the thread.
    private static let mostGroupMessages = 64

    // MARK: - On the publisher's thread

    /// Joins the group in which the service is now, leaves another one, and publishes what waits.
    ///
    /// - Parameter joined: the group that this connection has joined, and when.
    func followGroup(
        _ joined: inout (topics: GroupTopics, since: Instant)?,
        _ connection: borrowing BrokerConnection
    ) throws(MQTTError) {
        let name = service.group?.name
        if name != joined?.topics.name {
            try leaveGroup(&joined, connection)
            if let name {
                let group = GroupTopics(name, prefix: settings.prefix, identity)
                for topic in group.subscriptions { try connection.subscribe(topic) }
                try connection.publish(MQTTMessage(group.member, MQTTTopics.online, isRetained: true))
                joined = (group, Clock.now)
            }
        }
        guard let joined else { return }
        countMembers(joined)
        let messages = thread.withLock { inbox in
            defer { inbox.group.messages = [] }
            return inbox.group.messages
        }
        for message in messages {
            try connection.publish(MQTTMessage(joined.topics.word, "\(message.json)", isRetained: false))
        }
    }

    /// Takes a message of the group's topics.
    ///
    /// - Returns: whether it was one.
    func takeGroup(
        _ message: BrokerConnection.Received,
        _ joined: inout (topics: GroupTopics, since: Instant)?
    ) -> Bool {
        let taken = joined?.topics.take(topic: message.topic, payload: message.payload, isRetained: message.isRetained)
        switch taken {
        case nil, .other: return false
        case .word(let word): service.group?.take(word)
        case .presence, .nothing: break
        }
        if let joined { countMembers(joined) }
        return true
    }

    /// Tells the others that this device has left.
    func leaveGroup(
        _ joined: inout (topics: GroupTopics, since: Instant)?,
        _ connection: borrowing BrokerConnection
    ) throws(MQTTError) {
        guard let left = joined?.topics else { return }
        joined = nil
        thread.withLock { $0.group = GroupState() }
        try connection.publish(MQTTMessage(left.member, "", isRetained: true))
    }

    private func countMembers(_ joined: (topics: GroupTopics, since: Instant)) {
        let isJoining = Clock.now - joined.since < Self.joiningTime
        let others = max(joined.topics.others, isJoining ? 1 : 0)
        thread.withLock { $0.group.others = others }
    }
}
