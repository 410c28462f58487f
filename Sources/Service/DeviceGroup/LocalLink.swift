import Core
import Glibc
import Network
import System

/// The way to the other services of this machine: each has a socket for datagrams beside its control socket, which only the owner and the
/// group of the folder may use. Its name is that of the group, so that services without a common group do not meet.
///
/// A service is found where its folder lies beside this one's: `beckon` or `beckon@NAME`.
final class LocalLink: GroupLink {
    private let folder: String
    private let name: String
    private let sender = UnixSocket.makeSender()
    private let receiver: FileDescriptor

    /// - Parameter folder: that of the control socket, without a slash at its end.
    /// - Throws: ``SocketError`` if the socket cannot be made.
    init(folder: String, group: String) throws(SocketError) {
        self.folder = folder
        name = "group.\(Self.fileName(group)).socket"
        receiver = try UnixSocket.makeReceiver("\(folder)/\(name)", mode: 0o660)
    }

    deinit { unlink("\(folder)/\(name)") }

    /// A name for a file, different for different texts: bytes that are no letters or digits are written as `-` and two digits.
    private static func fileName(_ text: String) -> String {
        text.utf8.map { byte in
            let character = Character(Unicode.Scalar(byte))
            guard byte >= 0x80 || !(character.isLetter || character.isNumber) else { return String(character) }
            return "-" + String(0x100 + Int(byte), radix: 16).dropFirst()
        }.joined()
    }

    /// Readable when a message has come.
    var descriptor: Int32 { receiver.rawValue }

    func send(_ message: GroupMessage) -> Int {
        let bytes = Array("\(message.json)".utf8)
        let (parent, own) = splitPath(folder)
        return namesInFolder(parent).filter { other in
            guard other != own, other == "beckon" || other.hasPrefix("beckon@") else { return false }
            // A full queue is one of a service that is there.
            return UnixSocket.send(bytes, from: sender, to: "\(parent)\(other)/\(name)") || errno == EAGAIN
        }.count
    }

    /// The messages that have come, at most as many as the system queues.
    func receive() -> [GroupMessage] {
        var messages: [GroupMessage] = []
        var bytes = [UInt8](repeating: 0, count: GroupMessage.longest + 1)
        for _ in 0..<64 {
            let count = recv(receiver.rawValue, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            guard count >= 0 else { break }
            if let message = GroupMessage(bytes: Array(bytes.prefix(count))) { messages.append(message) }
        }
        return messages
    }
}
