/// A way to the other devices of a group: a broker, or the sockets of the services of this machine.
public protocol GroupLink: AnyObject, Sendable {
    /// Sends a message to all members, without waiting.
    ///
    /// - Returns: how many members may get it; 0 if there is no other, or the link is lost. Called on the group's thread.
    func send(_ message: GroupMessage) -> Int
}
