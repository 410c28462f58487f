import DeviceGroup

/// The topics of a group of devices, and who of it is there. A pure value.
///
/// | topic, below `PREFIX/group.GROUP/DEVICE/` | payload | kept |
/// |---|---|---|
/// | `member` | `online`; nothing for a device that has left | yes |
/// | `word` | a message of the group, as JSON | no |
///
/// Who has gone without leaving is known by the topic `PREFIX/DEVICE/availability`, which is also the will. No name of a device has a
/// dot, so that these topics are not another device's.
struct GroupTopics: Equatable, Sendable {
    /// The group's name.
    let name: String
    private let prefix: String
    private let own: String
    /// By the names in topics.
    private var members: Set<String> = []
    private var online: Set<String> = []

    init(_ name: String, prefix: String, _ identity: MQTTIdentity) {
        (self.name, self.prefix, own) = (name, prefix, identity.slug)
    }

    private var base: String { "\(prefix)/group.\(MQTTIdentity.slug(name))" }

    /// This device's own topics.
    var member: String { "\(base)/\(own)/member" }
    var word: String { "\(base)/\(own)/word" }

    /// What to subscribe to.
    var subscriptions: [String] { ["\(base)/+/member", "\(base)/+/word", "\(prefix)/+/availability"] }

    /// The other devices of the group that are there.
    var others: Int { members.intersection(online).subtracting([own]).count }

    /// What a message was.
    enum Taken: Equatable {
        /// It tells who is there.
        case presence
        case word(GroupMessage)
        /// A message of these topics that says nothing: an old one, or one that cannot be read.
        case nothing
        /// One of another topic.
        case other
    }

    /// Takes a message.
    mutating func take(topic: String, payload: [UInt8], isRetained: Bool) -> Taken {
        let rest = topic.hasPrefix(prefix + "/") ? topic.dropFirst(prefix.count + 1) : ""
        let levels = rest.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        if levels.count == 2, levels[1] == "availability" {
            note(levels[0], payload, in: &online)
            return .presence
        }
        guard levels.count == 3, levels[0].hasPrefix("group."), ["member", "word"].contains(levels[2]) else {
            return .other
        }
        guard topic.hasPrefix(base + "/"), levels[1] != own else { return .nothing }
        if levels[2] == "member" {
            note(levels[1], payload, in: &members)
            return .presence
        }
        // A kept one is old.
        return isRetained ? .nothing : GroupMessage(bytes: payload).map { .word($0) } ?? .nothing
    }

    /// Most devices that are known: anybody may publish a name.
    private static let mostDevices = 1000

    private func note(_ device: String, _ payload: [UInt8], in devices: inout Set<String>) {
        if payload != Array(MQTTTopics.online.utf8) {
            devices.remove(device)
        } else if devices.count < Self.mostDevices {
            devices.insert(device)
        }
    }
}
