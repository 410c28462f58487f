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
    /// The recording, as clients send it, 16-bit, 16 kHz, one channel; then its beginning for a chunk, because it is repeated.
    private let audio: [UInt8]
    /// Bytes of the recording.
    private let length: Int
    /// Milliseconds of audio in a chunk.
    private let chunk: Int
    /// Whether detections have the time of their chunk's beginning, as other servers' have, instead of the hop's end.
    private let isForeign: Bool

    /// Seconds from the start that are not measured.
    static let warmUp = 1

    /// - Parameter samples: mono at 16 kHz, a chunk at least.
    public init(to address: ListenAddress, samples: [Float], chunkMilliseconds chunk: Int, isForeign: Bool) {
        self.address = address
        self.chunk = chunk
        self.isForeign = isForeign
        let bytes = samples.flatMap { sample in
            let value = Int16(sample: sample)
            return [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
        }
        length = bytes.count
        audio = bytes + bytes.prefix(chunk * 32)
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
        let receiver = Receiver(sockets, chunks: chunks, of: chunk, firstChunk: warm, isForeign: isForeign)
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
        let start = Clock.now + .milliseconds(20)
        for number in 0..<chunks {
            if number == warm { begin() }
            let head = head(of: number)
            for connection in 0..<connections {
                let tick = number * connections + connection
                let due = start + period * number + period * connection / connections
                if Clock.now < due { Clock.sleep(until: due) }
                let place = ((connection * 32_006 + number * bytes) & ~1) % length
                let event = head + audio[place..<place + bytes]
                let now = Clock.now
                receiver.sent(tick, now)
                if number >= warm { late.append((now - due).milliseconds) }
                if !lost.contains(connection), !Self.send(event, to: sockets[connection]) { lost.insert(connection) }
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

    /// The beginning of an `audio-chunk`, up to its samples.
    private func head(of number: Int) -> [UInt8] {
        let data = "{\"rate\": 16000, \"width\": 2, \"channels\": 1, \"timestamp\": \(number * chunk)}"
        let line = "{\"type\": \"audio-chunk\", \"version\": \"1.5.3\", \"data_length\": \(data.utf8.count), "
        return Array((line + "\"payload_length\": \(chunk * 32)}\n" + data).utf8)
    }

    /// Returns false where the server did not take all of it at once.
    private static func send(_ event: [UInt8], to socket: Int32) -> Bool {
        Glibc.send(socket, event, event.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)) == event.count
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
        guard Glibc.send(socket, hello, hello.count, Int32(MSG_NOSIGNAL)) == hello.count else {
            close(socket)
            throw failure("send")
        }
        return socket
    }
}

/// Reads the answers of all connections.
private final class Receiver: Sendable {
    private struct State {
        /// When each chunk was sent, `[chunks × connections]`; nil for one that was not.
        var times: [Instant?]
        var latencies: [Double] = []
        var closed: Set<Int> = []
        var isStopped = false
    }

    private let sockets: [Int32]
    private let chunk: Int
    private let firstChunk: Int
    private let isForeign: Bool
    private let state: Mutex<State>

    /// - Parameters:
    ///   - chunks: their number on each connection.
    ///   - chunk: milliseconds of audio in each.
    init(_ sockets: [Int32], chunks: Int, of chunk: Int, firstChunk: Int, isForeign: Bool) {
        self.sockets = sockets
        state = Mutex(State(times: Array(repeating: nil, count: chunks * sockets.count)))
        self.chunk = chunk
        self.firstChunk = firstChunk
        self.isForeign = isForeign
    }

    var latencies: [Double] { state.withLock { $0.latencies } }
    var closed: Set<Int> { state.withLock { $0.closed } }

    /// A chunk is being sent; called before it is, so that the answer finds its time.
    func sent(_ tick: Int, _ time: Instant) { state.withLock { $0.times[tick] = time } }

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
        let tick = number * sockets.count + connection
        state.withLock { state in
            guard number >= firstChunk, state.times.indices.contains(tick), let sent = state.times[tick] else { return }
            state.latencies.append((now - sent).milliseconds)
        }
    }
}
