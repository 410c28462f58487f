import Audio
import Core
import Events
import Foundation
import Glibc
import JSON
import Network
import Synchronization
import System
import TestSupport
import Testing

@testable import Playback
@testable import Spotting
@testable import Wyoming

/// What Home Assistant is told by the satellite, without sockets.
struct SatelliteConversationTests {
    typealias Run = ConversationTests

    static let words = SatelliteWords(["left", "go left"], info: WyomingAnswer.encode("info", ["wake": []]))

    /// Sends bytes in pieces; returns the types of the answers.
    private func send(
        _ bytes: [UInt8],
        to conversation: SatelliteConversation,
        pieces: [ArraySlice<UInt8>]? = nil,
        mayRun: Bool = true
    ) -> (types: [String], pause: ConversationPause) {
        var pause = ConversationPause.needsInput
        for piece in pieces ?? [bytes[...]] where pause == .needsInput {
            piece.withUnsafeBufferPointer { piece in
                var input = piece
                pause = conversation.advance(&input, Self.words, mayRun: mayRun)
            }
        }
        defer { conversation.output = [] }
        return (Self.types(conversation.output), pause)
    }

    static func types(_ output: [UInt8]) -> [String] {
        String(decoding: output, as: UTF8.self).matches(of: /"type": "([a-z-]+)"/).map { String($0.output.1) }
    }

    @Test func `what each event does in each state`() throws {
        let before: [(name: String, events: [String], isReported: Bool)] = [
            ("visiting", [], false), ("ready", ["run-satellite"], false), ("streaming", ["run-satellite"], true),
            ("paused", ["run-satellite", "pause-satellite"], false),
        ]
        // The answers and the state after each event, in the order of `before`.
        let table: [(event: String, answers: [String], after: [String])] = [
            ("describe", ["info"], ["visiting", "ready", "streaming", "paused"]),
            ("ping", ["pong"], ["visiting", "ready", "streaming", "paused"]),
            ("run-satellite", [], ["ready", "ready", "ready", "ready"]),
            ("pause-satellite", [], ["visiting", "paused", "paused", "paused"]),
            ("transcript", [], ["visiting", "ready", "ready", "paused"]),
            ("error", [], ["visiting", "ready", "ready", "paused"]),
            ("audio-start", [], ["visiting", "ready", "streaming", "paused"]),
            ("audio-chunk", [], ["visiting", "ready", "streaming", "paused"]),
            ("audio-stop", ["played"], ["visiting", "ready", "streaming", "paused"]),
            ("detect", [], ["visiting", "ready", "streaming", "paused"]),
            ("transcribe", [], ["visiting", "ready", "streaming", "paused"]),
            ("voice-started", [], ["visiting", "ready", "streaming", "paused"]),
            ("synthesize", [], ["visiting", "ready", "streaming", "paused"]),
            ("timer-finished", [], ["visiting", "ready", "streaming", "paused"]),
        ]
        for (event, answers, after) in table {
            for (start, expected) in zip(before, after) {
                let conversation = SatelliteConversation()
                for event in start.events { _ = send(Run.event(event), to: conversation) }
                if start.isReported { #expect(conversation.report("left", after: 16_000, decidedAt: 20_000)) }
                conversation.output = []
                let payload: [UInt8] = event == "audio-chunk" ? [1, 2, 3, 4] : []
                let result = send(Run.event(event, ["text": "x"], payload: payload), to: conversation)
                #expect(result.types == answers && result.pause == .needsInput, "\(event) while \(start.name)")
                #expect(Self.name(conversation.state) == expected, "\(event) while \(start.name)")
            }
        }
    }

    private static func name(_ state: SatelliteConversation.State) -> String {
        switch state {
        case .visiting: "visiting"
        case .waiting: "waiting"
        case .ready: "ready"
        case .streaming: "streaming"
        case .paused: "paused"
        }
    }

    @Test func `the answers are the same for every division of the bytes`() {
        let bytes =
            Run.event("describe") + Run.event("run-satellite") + Run.event("ping", ["text": "1"])
            + Run.event("audio-start", Run.format(22_050)) + Run.event("audio-chunk", payload: [10, 123, 10, 0, 34])
            + Run.event("audio-stop") + Run.event("pause-satellite") + Run.event("ping")
        let expected = ["info", "pong", "played", "pong"]
        for cut in 0...bytes.count {
            let conversation = SatelliteConversation()
            let result = send(bytes, to: conversation, pieces: [bytes[..<cut], bytes[cut...]])
            #expect(result.types == expected && conversation.state == .paused, "cut at \(cut)")
        }
        let conversation = SatelliteConversation()
        #expect(send(bytes, to: conversation, pieces: bytes.indices.map { bytes[$0...$0] }).types == expected)
        #expect(conversation.events == 8 && !conversation.isWithinEvent)
    }

    /// A speaker that plays when it is asked to.
    private final class SlowSpeaker {
        private(set) var streams: [SpeechStream] = []
        private(set) var samples: [Float] = []

        func begin(rate: Int) -> SpeechStream? {
            streams.append(SpeechStream(rate: rate) {})
            return streams.last
        }

        /// Plays what is there.
        func play() {
            for stream in streams where !stream.isOver {
                let isAtEnd = withUnsafeTemporaryAllocation(of: Float.self, capacity: stream.rate) { room in
                    let (count, isAtEnd) = stream.take(into: room)
                    samples += room.prefix(count)
                    return isAtEnd
                }
                if isAtEnd { stream.close() }
            }
        }
    }

    /// `audio-start`, chunks of these samples in 16 bits, `audio-stop`.
    static func speech(_ samples: [Int16], rate: Int = 8000, each: Int = 512) -> [UInt8] {
        var bytes = Run.event("audio-start", Run.format(rate))
        for start in stride(from: 0, to: samples.count, by: each) {
            let payload = samples[start..<min(samples.count, start + each)].flatMap { sample in
                [UInt8(truncatingIfNeeded: sample), UInt8(truncatingIfNeeded: sample >> 8)]
            }
            bytes += Run.event("audio-chunk", Run.format(rate), payload: payload)
        }
        return bytes + Run.event("audio-stop", ["timestamp": 0])
    }

    @Test func `speech is read as fast as it is played, and played is said when it was heard`() {
        var random = SplitMix(seed: 5)
        let first = (0..<30_000).map { _ in Int16(truncatingIfNeeded: random.next()) }
        let second: [Int16] = [1, 2, 3]
        let bytes = Self.speech(first) + Run.event("ping") + Self.speech(second) + Run.event("ping")
        let speaker = SlowSpeaker()
        let conversation = SatelliteConversation { speaker.begin(rate: $0) }
        var (answers, waits, unread) = ([String](), 0, [Int]())
        bytes.withUnsafeBufferPointer { bytes in
            var input = bytes
            var pause = ConversationPause.turn
            while pause != .needsInput, waits < 100 {
                conversation.beginTurn()
                pause = conversation.advance(&input, Self.words, mayRun: true)
                answers += Self.types(conversation.output)
                conversation.output = []
                if pause == .speaker {
                    waits += 1
                    unread.append(input.count)
                    speaker.play()
                }
            }
        }
        // A second at a time; then the second speech waits for the end of the first.
        #expect(waits == 4 && answers == ["pong", "played", "pong"])
        #expect(speaker.streams.map(\.rate) == [8000, 8000])
        #expect(conversation.isSpeaking && !speaker.streams[1].isOver)
        conversation.reportPlayed()
        #expect(conversation.output.isEmpty)
        speaker.play()
        conversation.reportPlayed()
        #expect(Self.types(conversation.output) == ["played"] && !conversation.isSpeaking)
        #expect(speaker.samples == (first + second).map { Float($0) / 32_768 })
    }

    @Test func `speech in any format is played, and audio that cannot be is an error`() {
        typealias Format = (rate: Int, width: Int, channels: Int)
        let formats: [(format: Format, isPlayed: Bool)] = [
            ((22_050, 2, 1), true), ((48_000, 3, 2), true), ((16_000, 1, 9), true), ((8000, 4, 64), true),
            ((0, 2, 1), false), ((-5, 2, 1), false), ((16_000, 0, 1), false), ((16_000, 5, 1), false),
            ((16_000, 2, 0), false), ((16_000, 2, 65), false), ((1 << 40, 2, 1), false),
        ]
        for (format, isPlayed) in formats {
            for hasStart in [true, false] {
                let speaker = SlowSpeaker()
                let conversation = SatelliteConversation { speaker.begin(rate: $0) }
                let data: JSON = [
                    "rate": .number(format.rate), "width": .number(format.width), "channels": .number(format.channels),
                ]
                let start = hasStart ? Run.event("audio-start", data) : []
                let payload = [UInt8](repeating: 0x40, count: isPlayed ? 10 * format.width * format.channels + 1 : 8)
                let bytes = start + Run.event("audio-chunk", data, payload: payload) + Run.event("audio-stop")
                let result = send(bytes, to: conversation)
                #expect(result.pause == (isPlayed ? .needsInput : .end), "\(format)")
                #expect(result.types == (isPlayed ? [] : ["error"]), "\(format)")
                speaker.play()
                #expect(speaker.samples.count == (isPlayed ? 10 : 0), "\(format)")
                #expect(speaker.samples.allSatisfy { abs($0 - 0.5) < 0.01 })
            }
        }
        // Another rate in the midst of speech.
        let conversation = SatelliteConversation { SpeechStream(rate: $0) {} }
        let bytes = Run.event("audio-start", Run.format(22_050)) + Run.event("audio-chunk", Run.format(16_000))
        #expect(send(bytes, to: conversation).pause == .end)
    }

    @Test func `speech whose connection ends is cancelled`() {
        let speaker = SlowSpeaker()
        do {
            let conversation = SatelliteConversation { speaker.begin(rate: $0) }
            _ = send(Run.event("audio-start", Run.format(22_050)), to: conversation)
            #expect(speaker.streams.count == 1 && !speaker.streams[0].isCancelled)
        }
        #expect(speaker.streams[0].isCancelled)
    }

    @Test func `with a speaker the answer is asked for`() throws {
        let conversation = SatelliteConversation()
        _ = send(Run.event("run-satellite"), to: conversation)
        #expect(conversation.report("left", after: 0, decidedAt: 0, plays: true))
        #expect(String(decoding: conversation.output, as: UTF8.self).contains(#""end_stage": "tts""#))
        #expect(conversation.takeUnderstood() == 0)
        _ = send(Run.event("transcript") + Run.event("transcript"), to: conversation)
        #expect(conversation.takeUnderstood() == 1 && conversation.takeUnderstood() == 0)
    }

    @Test func `another Home Assistant waits until it is let in or told that the satellite is taken`() {
        let wants = Run.event("ping") + Run.event("run-satellite") + Run.event("ping") + Run.event("describe")
        let conversation = SatelliteConversation()
        let result = send(wants, to: conversation, mayRun: false)
        #expect(result.types == ["pong", "pong", "info"] && result.pause == .needsInput)
        #expect(conversation.state == .waiting && !conversation.report("left", after: 0, decidedAt: 0))
        conversation.admit()
        #expect(conversation.state == .ready)
        conversation.refuse("taken", code: "satellite-taken")
        #expect(Self.types(conversation.output) == ["error"])
        let undecided = SatelliteConversation()
        _ = send(wants + Run.event("pause-satellite"), to: undecided, mayRun: false)
        undecided.admit()
        #expect(undecided.state == .visiting, "it does not want the satellite any more")
    }

    @Test func `a word begins a stream, which ends where it may be no longer`() throws {
        let conversation = SatelliteConversation()
        #expect(!conversation.report("left", after: 1000, decidedAt: 4800))
        _ = send(Run.event("run-satellite"), to: conversation)
        #expect(conversation.report("left", after: 1000, decidedAt: 4800))
        #expect(!conversation.report("left", after: 5000, decidedAt: 8000), "the command goes on")
        let text = String(decoding: conversation.output, as: UTF8.self)
        #expect(Self.types(conversation.output) == ["detection", "run-pipeline"])
        #expect(text.contains(#""name": "left", "timestamp": 300"#))
        #expect(text.contains(#""start_stage": "asr", "end_stage": "handle", "restart_on_end": false"#))
        #expect(conversation.wanted(upTo: 4800) == nil, "the detection was not sent yet")
        conversation.output = []
        #expect(conversation.wanted(upTo: 900) == nil)
        #expect(conversation.wanted(upTo: 1001) == 1000..<1001)
        #expect(conversation.wanted(upTo: 100_000) == 1000..<2600)
        var sent = 0
        while let range = conversation.wanted(upTo: 10_000_000) {
            conversation.send([Float](repeating: 0, count: range.count))
            sent += range.count
            #expect(range.count <= 1600)
            if conversation.isStreaming { #expect(Self.types(conversation.output) == ["audio-chunk"]) }
            if conversation.isStreaming { conversation.output = [] }
        }
        #expect(sent == SatelliteConversation.longestStream)
        #expect(Self.types(conversation.output) == ["audio-chunk", "audio-stop"])
        #expect(conversation.state == .ready)
    }

    @Test func `samples of 16 bits are sent as they were`() {
        let whole: [Int16] = [0, 1, -1, 2, 12_345, -12_345, 32_767, -32_768]
        let bytes = WyomingAnswer.audioChunk(whole.map { Float($0) / 32_768 } + [.nan, 2, -2], timestamp: 250)
        let text = String(decoding: bytes.prefix { $0 != 10 }, as: UTF8.self)
        #expect(text.contains(#""type": "audio-chunk""#) && text.contains(#""payload_length": 22"#))
        let expected = (whole + [0, 32_767, -32_768]).flatMap { sample in
            [UInt8(truncatingIfNeeded: sample), UInt8(truncatingIfNeeded: sample >> 8)]
        }
        #expect(Array(bytes.suffix(22)) == expected)
    }
}

/// The satellite with real sockets, and audio that tests give.
struct SatelliteTests {
    typealias Run = ConversationTests

    /// A satellite and the history that it reads.
    private final class Device {
        let satellite: WyomingSatellite
        let address: ListenAddress
        let history = AudioHistory()
        let log = Lines()
        /// All samples so far, as 16-bit numbers.
        private(set) var samples: [Int16] = []
        private var random = SplitMix(seed: 7)
        private var sequence: UInt64 = 0

        init(
            speaker: Speaker? = nil,
            words: SatelliteWords = SatelliteConversationTests.words,
            _ change: (inout WyomingSatellite.Settings) -> Void = { _ in }
        ) throws {
            var settings = WyomingSatellite.Settings(listen: [.tcp(host: "127.0.0.1", port: 0)], name: "kitchen")
            // A busy machine may stop this test for longer than the service would wait.
            settings.longestGap = .seconds(300)
            settings.longestSilence = .seconds(300)
            settings.askInterval = .zero
            change(&settings)
            let log = log
            satellite = try WyomingSatellite(
                words,
                settings,
                audio: history,
                speaker: speaker,
                log: ServiceLog { log.add("\($0) \($1)") }
            )
            address = try #require(satellite.addresses.first)
        }

        deinit { satellite.stop(until: Clock.now + .seconds(5)) }

        /// Blocks of noise, as the detector's thread adds them.
        ///
        /// The history takes a block later if the satellite reads just then: so there is one more as long as the last one waits.
        /// Returns the number of samples.
        @discardableResult func hear(blocks: Int) -> Int {
            let before = samples.count
            add(blocks)
            while history.count < samples.count { add(1) }
            return samples.count - before
        }

        private func add(_ blocks: Int) {
            for _ in 0..<blocks {
                samples += (0..<1600).map { _ in Int16(truncatingIfNeeded: random.next()) }
                let newest = samples.suffix(16_000)
                var window = [Float](repeating: 0, count: 16_000 - newest.count)
                window += newest.map { Float($0) / 32_768 }
                history.add(window.span)
            }
        }

        /// A word that ended at this sample, decided now.
        func detect(_ name: String, end: Int) {
            sequence += 1
            satellite.receive(
                DetectionEvent(
                    Detection(
                        kind: .word,
                        index: 0,
                        confidence: 0.9,
                        start: Double(end) / 16_000 - 0.5,
                        end: Double(end) / 16_000,
                        time: Double(samples.count) / 16_000
                    ),
                    sequence: sequence,
                    name: name,
                    date: .now,
                    device: "mic"
                )
            )
        }

        /// A Home Assistant that has the satellite.
        func home() throws -> Peer {
            let peer = try Peer(address)
            peer.send(Run.event("run-satellite") + Run.event("ping"))
            #expect(try peer.nextType() == "pong")
            return peer
        }
    }

    /// The samples of the next chunks, as many as are wanted.
    private func samples(_ peer: Peer, count: Int) throws -> [Int16] {
        var samples: [Int16] = []
        while samples.count < count {
            guard try peer.nextType() == "audio-chunk" else { throw Peer.Failure(description: peer.lastType) }
            #expect(peer.lastData["rate"] as? Int == 16_000 && peer.lastData["width"] as? Int == 2)
            let payload = peer.lastPayload
            samples += stride(from: 0, to: payload.count, by: 2).map { index in
                Int16(bitPattern: UInt16(payload[index]) | UInt16(payload[index + 1]) << 8)
            }
        }
        return samples
    }

    @Test func `after a word exactly the samples from its end on are sent, until the transcript`() throws {
        let device = try Device()
        device.hear(blocks: 30)
        let home = try device.home()
        home.send(Run.event("describe"))
        #expect(try home.nextType() == "info")
        var sent = 0
        for round in 0..<2 {
            let end = device.samples.count - 5000 + round
            device.detect("left", end: end)
            #expect(try home.nextType() == "detection")
            #expect(home.lastData["name"] as? String == "left")
            #expect(home.lastData["timestamp"] as? Int == device.samples.count / 16)
            #expect(try home.nextType() == "run-pipeline")
            var received = try samples(home, count: 5000 - round)
            for _ in 0..<10 {
                received += try samples(home, count: device.hear(blocks: 3))
            }
            #expect(received == Array(device.samples[end...]) && received.count >= 53_000 - round)
            sent += received.count
            #expect(device.satellite.counts.state == .streaming)
            home.send(Run.event("transcript", ["text": "light on"]) + Run.event("ping"))
            #expect(try home.nextType() == "pong")
            device.hear(blocks: 3)
        }
        home.send(Run.event("ping"))
        #expect(try home.nextType() == "pong", "no audio after the transcript")
        #expect(device.satellite.counts.detections == 2)
        #expect(device.satellite.counts.samples == sent)
    }

    @Test func `while Home Assistant has muted it, neither words nor audio leave`() throws {
        let device = try Device()
        device.hear(blocks: 20)
        let home = try device.home()
        device.detect("left", end: 30_000)
        #expect(try home.nextType() == "detection")
        #expect(try home.nextType() == "run-pipeline")
        _ = try samples(home, count: 2000)
        home.send(Run.event("pause-satellite") + Run.event("ping"))
        #expect(try home.nextType() == "pong")
        device.hear(blocks: 5)
        device.detect("left", end: 38_000)
        home.send(Run.event("ping", ["text": "2"]))
        #expect(try home.nextType() == "pong", "not a word, not a sample")
        #expect(comesTrue(within: 30) { device.satellite.counts.state == .paused })
        #expect(comesTrue(within: 30) { device.log.all.last?.contains("muted the satellite") ?? false })
        home.send(Run.event("run-satellite") + Run.event("ping"))
        #expect(try home.nextType() == "pong")
        device.detect("go left", end: 39_000)
        #expect(try home.nextType() == "detection")
        #expect(home.lastData["name"] as? String == "go left")
    }

    @Test func `an answer is played as it comes, while the microphone is heard, and played is said at its end`() throws
    {
        let folder = try TestFolder()
        let fake = try FakeSpeaker(in: folder)
        let speaker = Speaker { _, _ in }
        try speaker.select(fake.name)
        defer { speaker.stop(until: Clock.now + .seconds(5)) }
        let heard = try folder.write("heard.wav", format: 0x10002, [Float](repeating: 0.125, count: 800))
        let done = try folder.write("done.wav", format: 0x10002, [Float](repeating: 0.25, count: 800))
        let words = SatelliteWords(["left"], info: [], plays: true, heardSound: heard, doneSound: done)
        let device = try Device(speaker: speaker, words: words)
        device.hear(blocks: 30)
        let home = try device.home()
        device.detect("left", end: 40_000)
        #expect(try home.nextType() == "detection")
        #expect(try home.nextType() == "run-pipeline")
        #expect(home.lastData["end_stage"] as? String == "tts")
        let start = Clock.now
        home.send(
            SatelliteConversationTests.speech([Int16](repeating: 16_384, count: 8000), rate: 16_000)
                + Run.event("ping")
        )
        var types: [String] = []
        while types.last != "played" {
            types.append(try home.nextType() ?? "played")
            // A block now and then, of which each is sent while the answer is played.
            if types.count < 8 { device.hear(blocks: 1) }
        }
        #expect((Clock.now - start).seconds > 0.49)
        #expect(types.filter { !["audio-chunk", "user-event"].contains($0) } == ["pong", "played"])
        #expect(types.count(where: { $0 == "audio-chunk" }) >= 6)
        home.send(Run.event("transcript", ["text": "light on"]))
        #expect(comesTrue(within: 30) { speaker.counts?.played == 3 })
        let played = fake.played()
        #expect(played.count(where: { abs($0 - 0.125) < 0.01 }) > 2300, "the sound after a word")
        #expect(played.count(where: { abs($0 - 0.25) < 0.01 }) > 2300, "the sound after the command")
        #expect(played.count(where: { abs($0 - 0.5) < 0.01 }) > 23_900, "the answer")
    }

    @Test func `a word ends the answer that is played`() throws {
        let folder = try TestFolder()
        let fake = try FakeSpeaker(in: folder)
        let speaker = Speaker { _, _ in }
        try speaker.select(fake.name)
        defer { speaker.stop(until: Clock.now + .seconds(5)) }
        let device = try Device(speaker: speaker)
        device.hear(blocks: 10)
        let home = try device.home()
        // Of a minute, whose end is sent when nearly all of it was read.
        let answer = [Int16](repeating: 16_384, count: 480_000)
        let begun = Clock.now
        let bytes = SatelliteConversationTests.speech(answer, each: 4096) + Run.event("ping")
        let sender = Thread { [descriptor = home.descriptor] in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
        sender.start()
        #expect(comesTrue(within: 30) { !fake.bytes.isEmpty })
        device.detect("left", end: 12_000)
        var types: [String] = []
        while types.last != "pong" { types.append(try home.nextType() ?? "pong") }
        #expect(
            types.filter { !["audio-chunk", "user-event"].contains($0) } == [
                "detection", "run-pipeline", "played", "pong",
            ]
        )
        #expect((Clock.now - begun).seconds < 50)
        #expect(speaker.counts?.failed == 0)
    }

    @Test func `what the speaker does not play yet waits with Home Assistant, which is told that all is well`() throws {
        let folder = try TestFolder()
        let fake = try FakeSpeaker(in: folder)
        try fake.fail("stall")
        let speaker = Speaker { _, _ in }
        try speaker.select(fake.name)
        defer { speaker.stop(until: Clock.now + .seconds(5)) }
        let device = try Device(speaker: speaker) { $0.aliveInterval = .milliseconds(50) }
        let home = try device.home()
        var size: Int32 = 64 << 10
        setsockopt(home.descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        var rest = SatelliteConversationTests.speech([Int16](repeating: 0, count: 1_000_000), each: 8192)[...]
        // Until nothing was taken for a while.
        var last = Clock.now
        while !rest.isEmpty, Clock.now - last < .milliseconds(500) {
            let count = rest.withUnsafeBytes { send(home.descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT)) }
            if count > 0 {
                rest = rest.dropFirst(count)
                last = Clock.now
            } else {
                usleep(5000)
            }
        }
        #expect(rest.count > 1_000_000, "\(rest.count) of 2 MB were not taken")
        #expect(try home.nextType() == "user-event")
        // Another one does not get the satellite because of that.
        let other = try Peer(device.address)
        other.send(Run.event("run-satellite"))
        #expect(try other.nextType() == "error")
    }

    @Test func `words that it does not report, and words without Home Assistant, are dropped`() throws {
        let device = try Device()
        device.hear(blocks: 10)
        device.detect("left", end: 10_000)
        let visitor = try Peer(device.address)
        visitor.send(Run.event("describe"))
        #expect(try visitor.nextType() == "info")
        device.detect("left", end: 11_000)
        let home = try device.home()
        device.detect("right", end: 12_000)
        device.detect("left", end: 13_000)
        #expect(try home.nextType() == "detection")
        #expect(home.lastData["name"] as? String == "left")
        visitor.send(Run.event("ping"))
        #expect(try visitor.nextType() == "pong")
    }

    @Test func `a stream ends where the microphone gives no more`() throws {
        let device = try Device { $0.longestGap = .milliseconds(500) }
        device.hear(blocks: 10)
        let home = try device.home()
        device.detect("left", end: 12_000)
        #expect(try home.nextType() == "detection")
        #expect(try home.nextType() == "run-pipeline")
        #expect(try samples(home, count: 4000).count == 4000)
        #expect(try home.nextType() == "audio-stop")
        #expect(home.lastData["timestamp"] as? Int == 1000)
    }

    // MARK: - One Home Assistant at a time

    @Test func `a second one is refused while the first has it, and gets it when the first is gone or has muted it`()
        throws
    {
        let device = try Device()
        let first = try device.home()
        let second = try Peer(device.address)
        second.send(Run.event("describe") + Run.event("run-satellite"))
        #expect(try second.nextType() == "info")
        #expect(try first.nextType() == "ping")
        first.send(Run.event("pong"))
        #expect(try second.nextType() == "error")
        #expect(second.lastData["code"] as? String == "satellite-taken")
        #expect(try second.isClosed())
        first.send(Run.event("pause-satellite") + Run.event("ping"))
        #expect(try first.nextType() == "pong")
        do {
            let third = try device.home()
            #expect(try first.isClosed())
            third.send(Run.event("ping"))
            #expect(try third.nextType() == "pong")
        }
        #expect(comesTrue(within: 30) { device.satellite.counts.state == .alone })
        let fourth = try device.home()
        device.hear(blocks: 10)
        device.detect("left", end: 12_000)
        #expect(try fourth.nextType() == "detection")
    }

    @Test func `it does not matter which of them connected first`() throws {
        let device = try Device()
        let early = try Peer(device.address)
        early.send(Run.event("describe"))
        #expect(try early.nextType() == "info")
        let home = try device.home()
        home.send(Run.event("pause-satellite") + Run.event("ping"))
        #expect(try home.nextType() == "pong")
        early.send(Run.event("run-satellite") + Run.event("ping"))
        #expect(try early.nextType() == "pong")
        #expect(try home.isClosed())
        device.hear(blocks: 10)
        device.detect("left", end: 12_000)
        #expect(try early.nextType() == "detection")
    }

    @Test func `a first one that has gone silent has to give way`() throws {
        let device = try Device { $0.longestSilence = .seconds(1) }
        let first = try device.home()
        var second: Peer?
        #expect(
            try comesTrue(within: 30) {
                let peer = try Peer(device.address)
                peer.send(Run.event("run-satellite") + Run.event("ping"))
                guard try peer.nextType() == "pong" else { return false }
                second = peer
                return true
            }
        )
        #expect(second != nil)
        #expect(try first.isClosed())
    }

    @Test func `who has the satellite keeps it while it answers pings, whoever wants it how often`() throws {
        let device = try Device()
        device.hear(blocks: 10)
        let home = try device.home()
        for source in ["127.0.0.1", "127.0.0.2", "127.0.0.2", "127.0.0.3"] {
            let other = try Peer(device.address, from: source)
            other.send(Run.event("run-satellite") + Run.event("ping"))
            #expect(try other.nextType() == "pong", "it waits meanwhile")
            #expect(try home.nextType() == "ping")
            home.send(Run.event("pong"))
            #expect(try other.nextType() == "error")
            #expect(other.lastData["code"] as? String == "satellite-taken")
            #expect(try other.isClosed())
        }
        device.detect("left", end: 12_000)
        #expect(try home.nextType() == "detection")
        let notices = device.log.all.filter { $0.contains("wyoming.satelliteServer can name") }
        #expect(notices.count == 1 && notices[0].contains("127.0.0.1"), "\(device.log.all)")
    }

    @Test func `of those that wait one at the address of the last one comes first`() throws {
        let device = try Device()
        device.hear(blocks: 10)
        let (stranger, again): (Peer, Peer)
        do {
            let home = try device.home()
            stranger = try Peer(device.address, from: "127.0.0.2")
            stranger.send(Run.event("run-satellite") + Run.event("ping"))
            #expect(try stranger.nextType() == "pong")
            again = try Peer(device.address)
            again.send(Run.event("run-satellite") + Run.event("ping"))
            #expect(try again.nextType() == "pong")
            #expect(try home.nextType() == "ping", "it does not answer")
        }
        #expect(try stranger.nextType() == "error")
        device.detect("left", end: 12_000)
        #expect(try again.nextType() == "detection")
    }

    @Test(arguments: ["127.0.0.1", "127.0.0.2"])
    func `a crowd that looks what is there keeps no Home Assistant out, at its own address or another`(source: String)
        throws
    {
        let device = try Device()
        device.hear(blocks: 10)
        var crowd: [Peer] = []
        for round in 0..<8 {
            for _ in 0..<16 {
                let peer = try Peer(device.address, from: "127.0.0.2")
                peer.send(Run.event("describe"))
                #expect(try peer.nextType() == "info")
                crowd.append(peer)
            }
            let home = try Peer(device.address, from: source)
            home.send(Run.event("describe") + Run.event("run-satellite") + Run.event("ping"))
            #expect(try home.nextType() == "info", "round \(round)")
            #expect(try home.nextType() == "pong", "round \(round)")
            device.detect("left", end: 12_000)
            #expect(try home.nextType() == "detection", "round \(round)")
        }
        #expect(device.satellite.counts.refused == 0)
    }

    // MARK: - The configured server

    @Test func `only the server of the configuration has the satellite; others may look`() throws {
        // The server, whether the satellite listens at IPv6 too, where a client comes from, and whether it is let in.
        let table: [(server: String, isSix: Bool, source: String, isAdmitted: Bool)] = [
            ("127.0.0.2", false, "127.0.0.2", true), ("127.0.0.2", false, "127.0.0.1", false),
            ("127.0.0.2", true, "127.0.0.2", true), ("127.0.0.2", true, "127.0.0.3", false),
            ("::ffff:127.0.0.2", true, "127.0.0.2", true), ("::ffff:127.0.0.2", false, "127.0.0.2", true),
            ("::1", true, "127.0.0.1", false), ("localhost", false, "127.0.0.1", true),
            ("localhost", true, "127.0.0.1", true), ("localhost", false, "127.0.0.2", false),
        ]
        for row in table {
            let device = try Device {
                if row.isSix { $0.listen = [.tcp(host: "::", port: 0)] }
                $0.server = row.server
            }
            device.hear(blocks: 10)
            let peer = try Peer(device.address, from: row.source)
            peer.send(Run.event("describe") + Run.event("run-satellite"))
            #expect(try peer.nextType() == "info", "\(row)")
            if row.isAdmitted {
                #expect(comesTrue(within: 30) { device.satellite.counts.state == .ready }, "\(row)")
                device.detect("left", end: 12_000)
                #expect(try peer.nextType() == "detection", "\(row)")
            } else {
                #expect(try peer.nextType() == "error", "\(row)")
                #expect(peer.lastData["code"] as? String == "satellite-not-for-you", "\(row)")
                #expect(try peer.isClosed())
                #expect(device.satellite.counts.state == .alone)
                #expect(
                    comesTrue(within: 30) { device.log.all.contains { $0.contains("only \(row.server) may have") } }
                )
            }
        }
    }

    @Test func `whoever may connect to a unix socket may have the satellite`() throws {
        let folder = try TestFolder()
        let device = try Device {
            $0.listen = [.unix(path: "\(folder.path)/satellite")]
            $0.server = "192.0.2.1"
        }
        let peer = try Peer(device.address)
        peer.send(Run.event("run-satellite") + Run.event("ping"))
        #expect(try peer.nextType() == "pong")
        #expect(comesTrue(within: 30) { device.satellite.counts.state == .ready })
    }

    @Test
    func
        `a name is looked up for whoever wants the satellite, again when its address has changed, and not for each try`()
    {
        let addresses = Mutex(["192.0.2.1"])
        let lookUps = Mutex(0)
        let server = SatelliteServer(
            "home.example",
            lookUp: { _ in
                lookUps.withLock { $0 += 1 }
                return addresses.withLock { $0.compactMap { IPAddress($0) } }
            },
            onNews: {}
        )
        func answer(_ address: String, at time: Instant) -> SatelliteServer.Answer {
            _ = comesTrue(within: 30) { server.admits(IPAddress(address), at: time) != .notKnown }
            return server.admits(IPAddress(address), at: time)
        }
        let start = Clock.now
        #expect(answer("192.0.2.1", at: start) == .yes)
        for _ in 0..<100 { #expect(answer("192.0.2.66", at: start + .seconds(1)) == .no) }
        #expect(lookUps.withLock { $0 } == 1)
        addresses.withLock { $0 = ["192.0.2.2", "2001:db8::2"] }
        #expect(answer("192.0.2.2", at: start + .seconds(60)) == .yes)
        #expect(answer("2001:db8::2", at: start + .seconds(61)) == .yes)
        #expect(answer("192.0.2.1", at: start + .seconds(61)) == .no)
        addresses.withLock { $0 = [] }
        #expect(answer("192.0.2.2", at: start + .seconds(4000)) == .no)
        #expect(server.problem.contains("not known"))
    }

    // MARK: - Clients that mean harm, or are broken

    @Test func `clients that only look, say half of an event or nothing are dropped, and none is one too many`() throws
    {
        let device = try Device { $0.limits.timeout = .seconds(1) }
        let home = try device.home()
        let looking = try Peer(device.address)
        looking.send(Run.event("describe"))
        #expect(try looking.nextType() == "info")
        let silent = try Peer(device.address)
        let half = try Peer(device.address)
        half.send(Array("{\"type\": \"run-sat".utf8))
        #expect(try looking.isClosed() && silent.isClosed() && half.isClosed())
        #expect(comesTrue(within: 30) { device.satellite.counts.dropped == 3 })
        let crowd = try (0..<44).map { _ in try Peer(device.address) }
        // Those that find no place are refused, the others closed after a while; Home Assistant's is not among these.
        #expect(
            comesTrue(within: 30) { device.satellite.counts.dropped + device.satellite.counts.refused == 3 + 44 }
        )
        #expect(device.satellite.counts.refused >= 12 && device.satellite.counts.connections == 1)
        for peer in crowd { #expect(try peer.isClosed()) }
        home.send(Run.event("ping"))
        #expect(try home.nextType() == "pong")
    }

    @Test func `a Home Assistant that does not read loses the stream, then its place`() throws {
        let device = try Device { $0.limits.timeout = .seconds(1) }
        let home = try device.home()
        device.hear(blocks: 10)
        device.detect("left", end: 100)
        // More than the system's buffers hold.
        let flood = [[UInt8]](repeating: Run.event("describe"), count: 200).flatMap { $0 }
        _ = fcntl(home.descriptor, F_SETFL, O_NONBLOCK)
        #expect(
            comesTrue(within: 30) {
                _ = Glibc.send(home.descriptor, flood, flood.count, Int32(MSG_NOSIGNAL))
                return device.satellite.counts.connections == 0
            }
        )
        #expect(device.satellite.counts.dropped == 1 && device.satellite.counts.state == .alone)
    }

    @Test func `what is not an event is answered by an error and the end`() throws {
        let device = try Device()
        let home = try device.home()
        for text in ["GET / HTTP/1.1\r\n\r\n", "{\"type\": \"ping\", \"data_length\": -5}\n", "\0\n"] {
            let peer = try Peer(device.address)
            peer.send(Array(text.utf8))
            #expect(try peer.nextType() == "error")
            #expect(peer.lastData["code"] as? String == "protocol-violation")
            #expect(try peer.isClosed())
        }
        home.send(Run.event("ping"))
        #expect(try home.nextType() == "pong")
    }

    @Test func `other words are announced and reported from now on`() throws {
        let device = try Device()
        let home = try device.home()
        device.satellite.update(SatelliteWords(["stop"], info: WyomingAnswer.encode("info", ["wake": ["new"]])))
        #expect(
            try comesTrue(within: 30) {
                home.send(Run.event("describe"))
                _ = try home.next()
                return home.lastData["wake"] as? [String] == ["new"]
            }
        )
        device.hear(blocks: 10)
        device.detect("left", end: 8000)
        device.detect("stop", end: 9000)
        #expect(try home.nextType() == "detection")
        #expect(home.lastData["name"] as? String == "stop")
    }
}
