import Audio
import Core
private import Evaluation
import Glibc
private import JSON
public import Network
private import Synchronization
import System

/// Plays a recording to a Wyoming server over many connections at once, in real time, and measures when its detections come.
///
/// Connections send in turn, evenly spread over the time of a chunk, each from another place of the recording. One thread sends,
/// another receives.
public struct WyomingLoad: Sendable {
    /// What was measured.
    public struct Result: Sendable {
        public let connections: Int
        /// Detections of all connections.
        public let detections: Int
        /// Milliseconds from the moment in which the chunk was sent that completed the hop of a detection, to the detection.
        public let latencies: [Double]
        /// Milliseconds by which chunks were sent late, because the sending thread did not get its processor: 95 % were sent earlier.
        public let lateness: Double
        /// Connections whose server did not take the audio, or closed.
        public let lost: Int

        /// - Parameter share: such as 0.95.
        public func latency(_ share: Double) -> Double? { percentile(latencies, share) }
    }

    private let address: ListenAddress
    /// The recording, as clients send it: 16-bit, 16 kHz, one channel; repeated.
    private let audio: [UInt8]
    /// Milliseconds of audio in a chunk.
    private let chunk: Int
    /// Whether detections have the time of their chunk's beginning, as other servers' have, instead of the hop's end.
    private let isForeign: Bool

    /// Seconds from the start that are not measured.
    static let warmUp = 1

    /// - Parameter samples: mono at 16 kHz.
    public init(to address: ListenAddress, samples: [Float], chunkMilliseconds chunk: Int, isForeign: Bool) {
        self.address = address
        self.chunk = chunk
        self.isForeign = isForeign
        audio = samples.flatMap { sample -> [UInt8] in
            let value = UInt16(bitPattern: Int16(sample: sample))
            return [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
        }
    }

    /// The samples of a recording that is played, then a pause.
    ///
    /// - Throws: `AudioError` if the file cannot be read.
    public static func samples(path: String) throws -> [Float] {
        try FileBlocks.readClip(path: path, atMost: 60) + [Float](repeating: 0, count: 2 * AudioFormat.sampleRate)
    }

    /// Plays for some seconds after the warm-up.
    ///
    /// - Parameters:
    ///   - begin: called when the measurement begins.
    ///   - end: called when it ends, before the connections are closed.
    /// - Throws: ``BenchmarkError`` if a connection cannot be made.
    public func run(connections: Int, seconds: Double, begin: () -> Void, end: () -> Void) throws -> Result {
        let sockets = try (0..<connections).map { _ in try connect() }
        defer { for socket in sockets { close(socket) } }
        let period = Duration.milliseconds(chunk)
        let warm = Self.warmUp * 1000 / chunk
        let chunks = warm + Int((seconds * 1000).rounded()) / chunk
        let times = SendTimes(count: chunks * connections)
        let receiver = Receiver(sockets, times, chunk: chunk, firstChunk: warm, isForeign: isForeign)
        let finished = Latch()
        let receive: @Sendable () -> Void = {
            receiver.run()
            finished.open()
        }
        _ = try SystemThread(name: "bench-receive", stackSize: 1 << 20, or: { BenchmarkError("\($0)") }, receive)
        var lost: Set<Int> = []
        var late: [Double] = []
        late.reserveCapacity(chunks * connections)
        let bytes = chunk * 32
        var event = ChunkEvent(chunk: chunk)
        let start = Clock.now + .milliseconds(20)
        for number in 0..<chunks {
            if number == warm { begin() }
            for connection in 0..<connections {
                let tick = number * connections + connection
                let due = start + period * number + period * connection / connections
                if Clock.now < due { Clock.sleep(until: due) }
                event.set(audio, from: (connection * 32_006 + number * bytes) & ~1, milliseconds: number * chunk)
                let now = Clock.now
                times.set(tick, now)
                if number >= warm { late.append((now - due).milliseconds) }
                if !lost.contains(connection), !event.send(to: sockets[connection]) { lost.insert(connection) }
            }
        }
        // The last chunk's detections.
        Clock.sleep(until: Clock.now + .milliseconds(200))
        end()
        receiver.stop()
        finished.wait()
        return Result(
            connections: connections,
            detections: receiver.latencies.count,
            latencies: receiver.latencies,
            lateness: percentile(late, 0.95) ?? 0,
            lost: lost.union(receiver.closed).count
        )
    }

    private func connect() throws(BenchmarkError) -> Int32 {
        func failure(_ call: String) -> BenchmarkError {
            BenchmarkError(
                "cannot connect to \(address): \(call): \(SystemError.text(errno)); is the limit on open files high enough?"
            )
        }
        guard let socket = address.connect() else { throw failure("connect") }
        let hello =
            Array("{\"type\": \"detect\", \"data\": {\"names\": null}}\n{\"type\": \"audio-start\", \"data\": ".utf8)
            + Array("{\"rate\": 16000, \"width\": 2, \"channels\": 1}}\n".utf8)
        guard send(socket, hello, hello.count, Int32(MSG_NOSIGNAL)) == hello.count else {
            close(socket)
            throw failure("send")
        }
        return socket
    }
}

/// When each chunk was sent: written by the sending thread before it sends, read by the receiving thread after the answer.
private final class SendTimes: Sendable {
    private nonisolated(unsafe) let times: UnsafeMutableBufferPointer<Int64>

    init(count: Int) {
        times = .allocate(capacity: count)
        times.initialize(repeating: 0)
    }

    deinit { times.deallocate() }

    func set(_ tick: Int, _ time: Instant) { times[tick] = time.nanoseconds }

    /// Nil for a chunk that was never sent.
    func get(_ tick: Int) -> Instant? {
        times.indices.contains(tick) && times[tick] > 0 ? Instant(nanoseconds: times[tick]) : nil
    }
}

/// An `audio-chunk`; only its time and its samples change from one to the next.
private struct ChunkEvent {
    private static let digits = 10

    private var bytes: [UInt8]
    private let timePlace: Int
    private let audioPlace: Int

    init(chunk: Int) {
        let head = "{\"rate\": 16000, \"width\": 2, \"channels\": 1, \"timestamp\": "
        let data = head.utf8.count + Self.digits + 1
        let line =
            "{\"type\": \"audio-chunk\", \"version\": \"1.5.3\", \"data_length\": \(data), \"payload_length\": \(chunk * 32)}\n"
        timePlace = line.utf8.count + head.utf8.count
        audioPlace = line.utf8.count + data
        bytes = Array((line + head).utf8) + [UInt8](repeating: UInt8(ascii: " "), count: Self.digits)
        bytes += [UInt8(ascii: "}")] + [UInt8](repeating: 0, count: chunk * 32)
    }

    /// - Parameter place: offset of the first sample in the repeated recording, in bytes.
    mutating func set(_ audio: [UInt8], from place: Int, milliseconds: Int) {
        var rest = milliseconds
        for digit in (0..<Self.digits).reversed() {
            // Blanks before a number mean nothing.
            let isBlank = rest == 0 && digit < Self.digits - 1
            bytes[timePlace + digit] = isBlank ? UInt8(ascii: " ") : UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        var (from, to) = (place % audio.count, audioPlace)
        while to < bytes.count {
            let count = min(bytes.count - to, audio.count - from)
            bytes.replaceSubrange(to..<to + count, with: audio[from..<from + count])
            to += count
            from = 0
        }
    }

    /// Returns false where the server did not take all of it at once.
    func send(to socket: Int32) -> Bool {
        Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)) == bytes.count
    }
}

/// Reads the answers of all connections.
private final class Receiver: Sendable {
    private struct State {
        var latencies: [Double] = []
        var closed: Set<Int> = []
        var isStopped = false
    }

    private let sockets: [Int32]
    private let times: SendTimes
    private let chunk: Int
    private let firstChunk: Int
    private let isForeign: Bool
    private let state = Mutex(State())

    init(_ sockets: [Int32], _ times: SendTimes, chunk: Int, firstChunk: Int, isForeign: Bool) {
        self.sockets = sockets
        self.times = times
        self.chunk = chunk
        self.firstChunk = firstChunk
        self.isForeign = isForeign
    }

    var latencies: [Double] { state.withLock { $0.latencies } }
    var closed: Set<Int> { state.withLock { $0.closed } }

    func stop() { state.withLock { $0.isStopped = true } }

    func run() {
        var input = [[UInt8]](repeating: [], count: sockets.count)
        var requests = sockets.map { Poll.request($0, POLLIN) }
        var part = [UInt8](repeating: 0, count: 65_536)
        while !state.withLock({ $0.isStopped }) {
            Poll.wait(&requests, until: Clock.now + .milliseconds(50))
            let now = Clock.now
            for index in requests.indices where requests[index].revents != 0 {
                let count = recv(sockets[index], &part, part.count, Int32(MSG_DONTWAIT))
                if count > 0 {
                    input[index] += part[..<count]
                    take(&input[index], index, now)
                } else if count == 0 || errno != EAGAIN {
                    state.withLock { _ = $0.closed.insert(index) }
                    requests[index].fd = -1
                }
            }
        }
    }

    /// Takes the complete events from the beginning of the input.
    private func take(_ input: inout [UInt8], _ connection: Int, _ now: Instant) {
        while let end = input.firstIndex(of: 10) {
            guard let line = Self.node(input[..<end]), let type = line["type"]?.text else {
                input.removeSubrange(...end)
                continue
            }
            let length = max(0, line["data_length"]?.integer ?? 0)
            guard input.count - end > length else { return }
            let data = length > 0 ? Self.node(input[(end + 1)..<(end + 1 + length)]) : line["data"]
            let timestamp = data?["timestamp"]?.integer
            input.removeSubrange(..<(end + 1 + length))
            if type == "detection", let timestamp { note(timestamp, connection, now) }
        }
    }

    private static func node(_ bytes: ArraySlice<UInt8>) -> JSONNode? {
        try? JSONNode.parse(String(decoding: bytes, as: UTF8.self))
    }

    private func note(_ milliseconds: Int, _ connection: Int, _ now: Instant) {
        // A hop that ends with a chunk was completed by that chunk.
        let number = (isForeign ? milliseconds : milliseconds - 1) / chunk
        guard number >= firstChunk, let sent = times.get(number * sockets.count + connection) else { return }
        state.withLock { $0.latencies.append((now - sent).milliseconds) }
    }
}
