private import CMosquitto
import Core
import Glibc
import System

/// Reads what a broker sends through ``PacketGate``, so that libmosquitto gets short packets only.
///
/// Without TLS the bytes are looked at while they are still in the socket (`MSG_PEEK`); the library is called when a whole packet
/// is there, and reads that one. With TLS each record is handed to OpenSSL alone, and what it holds is looked at before the
/// library reads it. For the library's thread only.
final class BrokerInput {
    /// Packets or records that are read in one turn, so that a broker that sends and sends does not keep the thread.
    private static let perTurn = 16
    /// The time in which a packet that has begun must be complete.
    private static let timeout = Duration.seconds(10)
    /// Most bytes of a TLS record after its header: 16 KiB and what encryption may add.
    private static let longestRecord = 16_384 + 2_048

    private let client: OpaquePointer
    private let settings: BrokerConnection.Settings
    private var tls: CMosquitto_TLS?
    private var isSecured = false
    private var gate = PacketGate()
    /// Bytes still to come of a message that is dropped, without TLS.
    private var toDrop = 0
    /// Since when the beginning of a packet waits for its end.
    private var waitingSince: Instant?
    private var lowWater: Int32 = 1
    /// The TLS record that is being received.
    private var record = [UInt8](repeating: 0, count: 5 + BrokerInput.longestRecord)
    private var received = 0
    private var buffer = [UInt8](repeating: 0, count: PacketGate.longest + 5)
    /// Messages that were dropped since ``takeDropped()``: the last of them, and how many there were before.
    private var dropped = Dropped()

    /// - Throws: if the client is to use TLS and cannot.
    init(_ client: OpaquePointer, _ settings: BrokerConnection.Settings) throws(MQTTError) {
        self.client = client
        self.settings = settings
        guard settings.authorities != nil else { return }
        var tls = CMosquitto_TLS()
        guard CMosquitto_beginTLS(&tls, client) else { throw .noTLS }
        self.tls = tls
    }

    /// Messages that were too long, or of a quality that was not asked for, since the last call.
    func takeDropped() -> Dropped {
        defer { dropped = Dropped() }
        return dropped
    }

    /// Messages that the library did not read.
    struct Dropped {
        /// The last of them, oldest first: topic and length in bytes.
        fileprivate(set) var last: [(topic: String, length: Int)] = []
        /// Those before, which are only counted.
        fileprivate(set) var others = 0
    }

    /// Reads what is there, at most ``perTurn`` packets.
    ///
    /// - Parameter pass: lets the library read.
    /// - Throws: if the connection is lost, or what comes is not MQTT.
    func read(_ pass: () throws(MQTTError) -> Void) throws(MQTTError) {
        for _ in 0..<Self.perTurn {
            let socket = CMosquitto_socket(client)
            guard socket >= 0 else { return }
            let goesOn = if let tls { try readRecord(socket, tls, pass) } else { try readPacket(socket, pass) }
            guard goesOn else { return }
        }
    }

    /// Looks whether the broker has stopped in the middle of a packet.
    func checkProgress() throws(MQTTError) {
        if let waitingSince, Clock.now - waitingSince > Self.timeout {
            throw MQTTError("it stopped in the middle of a message; the connection was closed")
        }
    }

    // MARK: - Without TLS

    /// Lets the library read one packet, or drops a part of one. Returns whether there may be more to do now.
    private func readPacket(_ socket: Int32, _ pass: () throws(MQTTError) -> Void) throws(MQTTError) -> Bool {
        if toDrop > 0 {
            guard let count = try receive(socket, into: &buffer, from: 0, count: min(toDrop, buffer.count), flags: 0)
            else { return false }
            toDrop -= count
            waitingSince = toDrop > 0 ? Clock.now : nil
            return true
        }
        let flags = Int32(MSG_PEEK)
        guard let count = try receive(socket, into: &buffer, from: 0, count: buffer.count, flags: flags) else {
            return false
        }
        guard let head = try PacketGate.Head(buffer[..<count]) else {
            try wait(socket, for: count + 1)
            return false
        }
        let size = head.size + head.length
        guard head.isPassed else {
            guard head.isDroppable else { throw .tooLong(head) }
            // Enough of it to know its topic.
            if count < min(size, 600), waitingSince == nil {
                try wait(socket, for: min(size, 600))
                return false
            }
            note(PacketGate.topic(buffer[..<count]), head)
            setLowWater(socket, 1)
            toDrop = size
            return true
        }
        guard count >= size else {
            try wait(socket, for: size)
            return false
        }
        waitingSince = nil
        setLowWater(socket, 1)
        try pass()
        return true
    }

    /// Lets `poll` report the socket when so many bytes are there, so that the thread does not spin meanwhile.
    ///
    /// - Throws: if nothing will follow.
    private func wait(_ socket: Int32, for count: Int) throws(MQTTError) {
        // POLLRDHUP, which Glibc does not show.
        var polled = pollfd(fd: socket, events: 0x2000, revents: 0)
        if poll(&polled, 1, 0) > 0 { throw .closed }
        waitingSince = waitingSince ?? Clock.now
        setLowWater(socket, Int32(count))
    }

    private func setLowWater(_ socket: Int32, _ count: Int32) {
        guard count != lowWater else { return }
        var value = count
        setsockopt(socket, SOL_SOCKET, SO_RCVLOWAT, &value, socklen_t(MemoryLayout<Int32>.size))
        lowWater = count
    }

    // MARK: - With TLS

    private func readRecord(
        _ socket: Int32,
        _ tls: CMosquitto_TLS,
        _ pass: () throws(MQTTError) -> Void
    ) throws(MQTTError) -> Bool {
        let wanted = received < 5 ? 5 : 5 + recordLength
        guard let count = try receive(socket, into: &record, from: received, count: wanted - received, flags: 0) else {
            return false
        }
        received += count
        if received < 5 { return true }
        guard (20...24).contains(record[0]), record[1] == 3, recordLength <= Self.longestRecord else {
            throw isSecured ? .notMQTT : .plainPort
        }
        guard received == 5 + recordLength else {
            waitingSince = waitingSince ?? Clock.now
            return true
        }
        let size = received
        (received, waitingSince) = (0, nil)
        try withUnsafePointer(to: tls) { tls throws(MQTTError) in
            guard CMosquitto_feedTLS(tls, record, Int32(size)) else { throw .tls("no memory") }
            try takeRecord(tls, pass)
        }
        return true
    }

    private var recordLength: Int { Int(record[3]) << 8 | Int(record[4]) }

    private func takeRecord(
        _ tls: UnsafePointer<CMosquitto_TLS>,
        _ pass: () throws(MQTTError) -> Void
    ) throws(MQTTError) {
        guard isSecured else {
            let result = CMosquitto_shakeHands(tls)
            if result < 0 { throw failure(tls) }
            isSecured = result == 1
            // The library notices it, and sends its first packet.
            if isSecured { try pass() }
            return
        }
        while true {
            let count = Int(CMosquitto_peekTLS(tls, &buffer, Int32(buffer.count)))
            if count == 0 { break }
            guard count > 0 else { throw count == -1 ? .closed : failure(tls) }
            let dropped = gate.dropped
            switch try gate.take(buffer[..<count]) {
            case .drop(let drop):
                if gate.dropped > dropped, let head = try PacketGate.Head(buffer[..<count]) {
                    note(PacketGate.topic(buffer[..<count]), head)
                }
                guard CMosquitto_readTLS(tls, &buffer, Int32(drop)) == Int32(drop) else { throw failure(tls) }
            case .pass:
                // It may stop before the end of the record, and reads no further.
                for _ in 0..<Self.longestRecord where CMosquitto_pendingTLS(tls) > 0 && CMosquitto_socket(client) >= 0 {
                    try pass()
                }
            }
        }
        waitingSince = gate.isInside ? waitingSince ?? Clock.now : nil
    }

    private func failure(_ tls: UnsafePointer<CMosquitto_TLS>) -> MQTTError {
        let result = CMosquitto_verifiedTLS(tls)
        let text = CMosquitto_verifiedText(tls, result).map { String(cString: $0) } ?? ""
        let reason = CMosquitto_reasonTLS(tls).map { String(cString: $0) } ?? ""
        return .tls(
            verified: Int(result),
            text: text,
            reason: reason,
            host: settings.host,
            authorities: settings.authorities ?? ""
        )
    }

    // MARK: -

    /// Receives bytes without waiting; nil if there are none now.
    private func receive(
        _ socket: Int32,
        into bytes: inout [UInt8],
        from start: Int,
        count: Int,
        flags: Int32
    ) throws(MQTTError) -> Int? {
        let result = bytes.withUnsafeMutableBytes { bytes in
            let room = UnsafeMutableRawBufferPointer(rebasing: bytes[start..<min(start + count, bytes.count)])
            return recv(socket, room.baseAddress, room.count, flags | Int32(MSG_DONTWAIT))
        }
        if result > 0 { return result }
        let number = errno
        if tls != nil, !isSecured, result == 0 || number == ECONNRESET { throw .closedTLS }
        guard result < 0 else { throw .closed }
        guard number == EAGAIN || number == EINTR else { throw .system("recv", number) }
        return nil
    }

    private func note(_ topic: String?, _ head: PacketGate.Head) {
        dropped.last.append((topic ?? "?", head.length))
        if dropped.last.count > 4 {
            dropped.last.removeFirst()
            dropped.others += 1
        }
    }
}
