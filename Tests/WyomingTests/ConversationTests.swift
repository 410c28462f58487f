import Core
import Foundation
import Inference
import JSON
import Network
import Spotting
import TestSupport
import Testing

@testable import Wyoming

/// What a client is answered, with the shipped model and the recorded voice.
struct ConversationTests {
    /// A conversation with its detector, without sockets.
    final class Client {
        var words: AnnouncedWords
        var detector: BatchDetector
        let conversation: WakeConversation
        private(set) var hops = 0
        private(set) var turns = 0
        private(set) var last = ConversationPause.needsInput

        init(_ words: AnnouncedWords, recorder: ClientRecorder? = nil) throws {
            self.words = words
            let box = Notices()
            conversation = WakeConversation(recorder: recorder) { box.all.append($0) }
            detector = BatchDetector(words.detector)
            self.box = box
        }

        private final class Notices {
            var all: [WakeNotice] = []
        }

        private let box: Notices

        var unknownNames: [[String]] {
            box.all.compactMap { if case .unknownNames(let names) = $0 { names } else { nil } }
        }
        /// How often it was told that a channel is opposite.
        var cancellations: Int { box.all.count { if case .oppositeChannels = $0 { true } else { false } } }

        /// Sends bytes in pieces; returns the events of the answers.
        @discardableResult
        func send(_ bytes: [UInt8], piece: Int = .max) -> [ParserTests.Read] {
            var rest = bytes[...]
            repeat {
                let part = rest.prefix(piece)
                rest = rest.dropFirst(piece)
                part.withUnsafeBufferPointer { bytes in
                    var input = bytes
                    conversation.beginTurn()
                    while true {
                        last = conversation.advance(&input, words, &detector)
                        if last == .turn {
                            turns += 1
                            conversation.beginTurn()
                            continue
                        }
                        guard last == .hop else { break }
                        hops += 1
                        let words = words
                        guard let stream = conversation.stream else { break }
                        detector.process([stream]) { _ = conversation.report($1, words) }
                    }
                }
            } while !rest.isEmpty && last == .needsInput
            defer { conversation.output = [] }
            return ParserTests.read([conversation.output[...]]).events
        }
    }

    static func words(phrases: [String] = []) throws -> AnnouncedWords {
        let vocabulary = Vocabulary(try Model(folder: Folders.model))
        let phrases = try phrases.map { try Phrase($0, words: vocabulary.labels) }
        return AnnouncedWords(DetectorSettings(vocabulary, phrases: phrases))
    }

    enum Folders {
        static let model = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Models/commands").path
    }

    /// An event as a client writes it.
    static func event(_ type: String, _ data: JSON = [:], payload: [UInt8] = []) -> [UInt8] {
        let text = data == .object([]) ? "" : data.description
        var line: JSON = ["type": .string(type)]
        if !text.isEmpty { line.append(["data_length": .number(text.utf8.count)]) }
        if !payload.isEmpty { line.append(["payload_length": .number(payload.count)]) }
        return Array((line.line + text).utf8) + payload
    }

    static func format(_ rate: Int, _ width: Int = 2, _ channels: Int = 1, timestamp: Int? = nil) -> JSON {
        [
            "rate": .number(rate), "width": .number(width), "channels": .number(channels),
            "timestamp": timestamp.map { .number($0) } ?? .null,
        ]
    }

    /// A recording at 48 kHz with silence around it, as 16-bit samples.
    static func recording(_ name: String) throws -> [UInt8] {
        let quiet = [Float](repeating: 0, count: 24_000)
        let samples: [Float] = quiet + (try Voices.samples(name)) + quiet
        return samples.flatMap { (sample: Float) -> [UInt8] in
            let limited: Float = max(-1, min(1, sample))
            let value = UInt16(bitPattern: Int16(limited * 32_767))
            return [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
        }
    }

    /// Samples at 48 kHz as samples at 16 kHz: the mean of every three.
    private static func narrow(_ samples: [Float]) -> [Float] {
        var narrow: [Float] = []
        for place in stride(from: 0, to: samples.count - 3, by: 3) {
            let sum: Float = samples[place] + samples[place + 1] + samples[place + 2]
            narrow.append(sum / 3)
        }
        return narrow
    }

    /// A whole run: audio in chunks, and its end.
    static func run(_ audio: [UInt8], _ rate: Int, chunk: Int, width: Int = 2, channels: Int = 1) -> [UInt8] {
        run(audio, rate, chunks: [chunk], width: width, channels: channels)
    }

    /// A stream whose chunks have these sizes in turn.
    private static func run(_ audio: [UInt8], _ rate: Int, chunks: [Int], width: Int = 2, channels: Int = 1) -> [UInt8]
    {
        var bytes = event("audio-start", format(rate, width, channels))
        let frame = width * channels
        var rest = audio[...]
        var frames = 0
        var turn = 0
        while !rest.isEmpty {
            let part = Array(rest.prefix(chunks[turn % chunks.count]))
            rest = rest.dropFirst(part.count)
            turn += 1
            bytes += event(
                "audio-chunk",
                format(rate, width, channels, timestamp: 5000 + frames * 1000 / rate),
                payload: part
            )
            frames += part.count / frame
        }
        return bytes + event("audio-stop")
    }

    /// The names in detections, and `not-detected`, in order.
    private static func results(_ output: [UInt8]) -> [String] {
        let text = String(decoding: output, as: UTF8.self)
        return text.matches(of: /"type": "(not-detected)"|"name": "([^"]*)", "timestamp"/).map {
            String($0.output.1 ?? $0.output.2 ?? "")
        }
    }

    /// Sends all and returns the results.
    func results(_ client: Client, _ bytes: [UInt8], piece: Int = .max) -> [String] {
        var rest = bytes[...]
        var output: [UInt8] = []
        repeat {
            let part = Array(rest.prefix(piece))
            rest = rest.dropFirst(piece)
            part.withUnsafeBufferPointer { part in
                var input = part
                client.conversation.beginTurn()
                while true {
                    let pause = client.conversation.advance(&input, client.words, &client.detector)
                    if pause == .turn {
                        client.conversation.beginTurn()
                        continue
                    }
                    guard pause == .hop else { break }
                    let words = client.words
                    guard let stream = client.conversation.stream else { break }
                    client.detector.process([stream]) {
                        _ = client.conversation.report($1, words)
                    }
                }
            }
            output += client.conversation.output
            client.conversation.output = []
        } while !rest.isEmpty
        return Self.results(output)
    }

    @Test func `a word whose score stays above its threshold is decided at audio-stop`() throws {
        let vocabulary = Vocabulary(try Model(folder: Folders.model))
        var gate = GateSettings()
        gate.trigger = .end
        var settings = DetectorSettings(vocabulary, gate: gate)
        settings.thresholds.setAll(0.0001)
        let client = try Client(AnnouncedWords(settings))
        let said = Self.run(try Self.recording("Front_Left"), 48_000, chunk: 9_600)
        // Twice: the end of one run is not that of the next.
        for _ in 0..<2 { #expect(results(client, said) == ["left"]) }
    }

    @Test func `a word is detected in audio of any chunks, and read in any pieces`() throws {
        let audio = try Self.recording("Rear_Left")
        for chunk in [960, 3000, 9600, 1 << 20] {
            let client = try Client(Self.words())
            #expect(results(client, Self.run(audio, 48_000, chunk: chunk)) == ["left"], "chunks of \(chunk)")
        }
        let client = try Client(Self.words())
        #expect(results(client, Self.run(audio, 48_000, chunk: 960), piece: 1) == ["left"])
    }

    @Test func `rates, widths and channels are converted`() throws {
        let mono = try Voices.samples("Rear_Left")
        let quiet = [Float](repeating: 0, count: 24_000)
        let samples = quiet + mono + quiet
        func bytes(_ samples: [Float], width: Int, channels: Int) -> [UInt8] {
            samples.flatMap { sample -> [UInt8] in
                let limited = Double(max(-1, min(1, sample)))
                let value = UInt32(bitPattern: Int32(limited * 2_147_483_000))
                var one: [UInt8] = []
                for byte in 4 - width..<4 { one.append(UInt8(truncatingIfNeeded: value >> UInt32(8 * byte))) }
                return [[UInt8]](repeating: one, count: channels).flatMap { $0 }
            }
        }
        let narrow = Self.narrow(samples)
        let formats: [([Float], Int, Int, Int)] = [
            (samples, 48_000, 1, 1), (samples, 48_000, 3, 1), (samples, 48_000, 4, 1), (samples, 48_000, 2, 3),
            (narrow, 16_000, 2, 1), (narrow, 16_000, 4, 2),
        ]
        for (audio, rate, width, channels) in formats {
            let client = try Client(Self.words())
            let data = bytes(audio, width: width, channels: channels)
            let run = Self.run(data, rate, chunk: 1024 * width * channels, width: width, channels: channels)
            #expect(results(client, run) == ["left"], "\(rate) Hz, \(width) bytes, \(channels) channels")
        }
    }

    @Test func `the rate may change from chunk to chunk, and a start resets the stream`() throws {
        let audio = try Self.recording("Rear_Left")
        let client = try Client(Self.words())
        let silence = [UInt8](repeating: 0, count: 44_100)
        let other = Self.event("audio-chunk", Self.format(22_050), payload: silence)
        let run = Self.event("audio-start", Self.format(22_050)) + other
        // Without its start event.
        let rest = Self.run(audio, 48_000, chunk: 4800).drop { $0 != 10 }.dropFirst()
        let data = Self.format(48_000).description.utf8.count
        #expect(results(client, run + rest.dropFirst(data)) == ["left"])
        // Half of the word, and a new beginning: no word.
        let chunks = Self.event("audio-chunk", Self.format(48_000), payload: Array(audio[..<(48_000 + 36_000)]))
        let start = Self.event("audio-start", Self.format(48_000))
        #expect(results(client, start + chunks + start + Self.event("audio-stop")) == ["not-detected"])
    }

    @Test func `the stream begins with silence after each start, and goes on after a detection`() throws {
        let audio = try Self.recording("Rear_Left")
        let client = try Client(Self.words())
        let run = Self.run(audio, 48_000, chunk: 9600)
        #expect(results(client, run) == ["left"])
        #expect(results(client, run) == ["left"])
        // Twice in one stream, without a stop.
        let twice = Self.run(audio + audio, 48_000, chunk: 9600)
        #expect(results(client, twice) == ["left", "left"])
    }

    @Test func `the context of a request is given back in its answers, up to the next request`() throws {
        let client = try Client(Self.words())
        func detect(_ context: JSON) -> [UInt8] { Self.event("detect", ["names": [], "context": context]) }
        func contexts(_ bytes: [UInt8]) -> [String?] { client.send(bytes).map(\.event.context) }
        let word = Self.run(try Self.recording("Rear_Left"), 48_000, chunk: 4800)
        let silence = Self.run([UInt8](repeating: 0, count: 3200), 16_000, chunk: 320)
        let context: JSON = ["room": "Küche", "depth": [1, ["x": .null]]]
        #expect(contexts(detect(context) + word) == [context.description])
        #expect(contexts(silence) == [context.description])
        #expect(contexts(detect(.null) + silence) == [nil])
        #expect(contexts(detect("no object") + silence) == [nil])
        #expect(contexts(detect(["much": .string(String(repeating: "x", count: 5000))]) + silence) == [nil])
    }

    @Test func `silence gives not-detected, and only after the stop`() throws {
        let client = try Client(Self.words())
        let run = Self.run([UInt8](repeating: 0, count: 96_000), 16_000, chunk: 320)
        #expect(results(client, Array(run.dropLast(Self.event("audio-stop").count))) == [])
        #expect(results(client, Self.event("audio-stop")) == ["not-detected"])
        // Without audio since, a second stop is not an answer's worth.
        #expect(results(client, Self.event("audio-stop")) == [])
        #expect(
            results(client, Self.event("audio-start", Self.format(16_000)) + Self.event("audio-stop")) == [
                "not-detected"
            ]
        )
    }

    @Test func `only the words that were asked for are reported`() throws {
        let audio = try Self.recording("Rear_Left")
        let run = Self.run(audio, 48_000, chunk: 9600)
        func detect(_ names: JSON) -> [UInt8] { Self.event("detect", ["names": names]) }
        let client = try Client(Self.words())
        #expect(results(client, detect(["right", "stop"]) + run) == ["not-detected"])
        #expect(results(client, detect(["left"]) + run) == ["left"])
        #expect(results(client, detect(["right", "left"]) + run) == ["left"])
        #expect(results(client, detect(.null) + run) == ["left"])
        #expect(results(client, detect([]) + run) == ["left"])
        #expect(client.unknownNames.isEmpty)
        // However it is written, and as the client writes it.
        for name in ["Left", "LEFT", " left ", "_left-"] {
            #expect(results(client, detect([.string(name)]) + run) == [name], "\(name)")
        }
        #expect(results(client, detect(["Left", "left", "LEFT"]) + run) == ["left"])
        #expect(results(client, detect(["Left", "LEFT"]) + run) == ["Left"])
        #expect(client.unknownNames.isEmpty)
        // Names that nobody knows are not words: once, at the beginning, so that nobody waits for them.
        #expect(results(client, detect(["ok_nabu"]) + run) == ["not-detected"])
        #expect(client.unknownNames == [["ok_nabu"]])
        #expect(results(client, detect(["ok_nabu", "right"]) + run) == ["not-detected"])
        #expect(results(client, detect(["ok_nabu", "left"]) + run) == ["left"])
        #expect(client.unknownNames == [["ok_nabu"], ["ok_nabu"], ["ok_nabu"]])
        let start = Self.event("audio-start", Self.format(48_000))
        #expect(results(client, detect(["computer"]) + start) == ["not-detected"])
    }

    @Test func `words of several parts are found however a client writes them`() throws {
        let words = try Self.words(phrases: ["go left"])
        #expect(words.meant(by: "Go_Left") == ["go left"] && words.meant(by: "go-left ") == ["go left"])
        #expect(words.meant(by: "goleft").isEmpty && words.meant(by: "").isEmpty)
    }

    @Test func `a word that is forgotten during a stream ends the wait for it`() throws {
        let client = try Client(Self.words(phrases: ["go left"]))
        let audio = try Self.recording("Rear_Left")
        let chunk = { Self.event("audio-chunk", Self.format(48_000), payload: Array(audio[..<9600])) }
        let detect = Self.event("detect", ["names": ["go left"]])
        #expect(results(client, detect + Self.event("audio-start", Self.format(48_000)) + chunk()) == [])
        #expect(client.unknownNames.isEmpty)
        client.words = try Self.words()
        client.detector.update(client.words.detector)
        #expect(results(client, chunk()) == ["not-detected"])
        #expect(client.unknownNames == [["go left"]])
        // What is said now is not its business, and one answer is enough.
        let rest = Self.event("audio-chunk", Self.format(48_000), payload: audio)
        #expect(results(client, rest + Self.event("audio-stop")) == [])
    }

    @Test func `a chunk may end anywhere, also within a sample`() throws {
        let audio = try Self.recording("Rear_Left")
        let narrow = stride(from: 0, to: audio.count - 5, by: 6).flatMap { place -> [UInt8] in
            [audio[place], audio[place + 1]]
        }
        for chunks in [[1, 1, 1, 30], [2047], [1023], [3, 29]] {
            let client = try Client(Self.words())
            #expect(results(client, Self.run(narrow, 16_000, chunks: chunks)) == ["left"], "chunks of \(chunks)")
        }
        // 24 bits in chunks of 1024 bytes; three channels.
        let wide = stride(from: 0, to: narrow.count - 1, by: 2).flatMap { place -> [UInt8] in
            [0, narrow[place], narrow[place + 1]]
        }
        var client = try Client(Self.words())
        #expect(results(client, Self.run(wide, 16_000, chunk: 1024, width: 3)) == ["left"])
        let three = stride(from: 0, to: narrow.count - 1, by: 2).flatMap { place -> [UInt8] in
            (0..<3).flatMap { _ -> [UInt8] in [narrow[place], narrow[place + 1]] }
        }
        client = try Client(Self.words())
        #expect(results(client, Self.run(three, 16_000, chunk: 1000, channels: 3)) == ["left"])
        client = try Client(Self.words())
        #expect(results(client, Self.run(audio, 48_000, chunk: 1001)) == ["left"])
    }

    // MARK: - What a client orders has a price

    @Test(arguments: ["describe", "ping", "audio-start", "audio-stop", "transcript", "detect"])
    func `a client that orders much at once gets it over many turns`(type: String) throws {
        let client = try Client(Self.words())
        let one = Self.event(type, type == "detect" ? ["names": .strings((0..<500).map { "name \($0)" })] : [:])
        client.send([[UInt8]](repeating: one, count: 100).flatMap { $0 })
        #expect(client.conversation.events == 100 || client.last == .output)
        // One more than 32 would be one turn of the cheapest.
        #expect(client.turns >= 3, "\(client.turns) turns")
    }

    @Test func `a client makes at most one filter in a turn, and none for audio that does not come`() throws {
        let client = try Client(Self.words())
        let rates = [8_001, 9_001, 10_001, 11_001]
        // Without a sample no filter is needed.
        client.send((rates + rates).flatMap { Self.event("audio-start", Self.format($0)) })
        let idle = client.turns
        client.send(rates.flatMap { Self.event("audio-chunk", Self.format($0), payload: [0, 0]) })
        #expect(client.turns - idle >= rates.count - 1)
    }

    @Test func `a client that sends no audio has no stream, and one that begins gets it as its turn`() throws {
        let client = try Client(Self.words())
        client.send(Self.event("describe") + Self.event("detect", ["names": ["left"]]) + Self.event("audio-stop"))
        #expect(client.conversation.stream == nil && client.turns == 0)
        client.send(Self.event("audio-start", Self.format(16_000)) + Self.event("ping"))
        #expect(client.conversation.stream != nil && client.turns == 1)
        client.send(Self.event("audio-start", Self.format(16_000)) + Self.event("ping"))
        #expect(client.turns == 1)
    }

    @Test func `channels that are opposite are told of once, others never`() throws {
        let voice = try Self.recording("Rear_Left")
        /// The voice in one channel, and so many times in the other.
        func stereo(_ factor: Int) -> [UInt8] {
            stride(from: 0, to: voice.count - 1, by: 2).flatMap { place -> [UInt8] in
                let one = Int(Int16(truncatingIfNeeded: Int(voice[place]) | Int(voice[place + 1]) << 8))
                let other = Int16(clamping: one * factor)
                let bytes = [UInt8(truncatingIfNeeded: other), UInt8(truncatingIfNeeded: other >> 8)]
                return Array(voice[place...(place + 1)]) + bytes
            }
        }
        for (factor, most) in [(-1, 1), (1, 0), (0, 0)] {
            let client = try Client(Self.words())
            for _ in 0..<3 {
                client.send(Self.event("audio-start", Self.format(48_000, 2, 2)))
                client.send(Self.event("audio-chunk", Self.format(48_000, 2, 2), payload: stereo(factor)))
                client.send(Self.event("audio-stop"))
            }
            #expect(client.cancellations == most, "times \(factor)")
        }
    }

    @Test func `a connection has few rates, and may change between them for ever`() throws {
        let client = try Client(Self.words())
        func chunk(_ rate: Int) -> [UInt8] { Self.event("audio-chunk", Self.format(rate), payload: [0, 0]) }
        for _ in 0..<50 {
            for rate in [48_000, 16_000, 44_100, 8_000, 22_050] { #expect(client.send(chunk(rate)).isEmpty) }
        }
        #expect(client.send(chunk(32_000)).map(\.event.kind) == [.error])
        // Audio of a rate that it has goes on after the next start.
        let start = Self.event("audio-start", Self.format(48_000))
        #expect(client.send(start + chunk(48_000)).isEmpty)
    }

    @Test func `a detection has the client's time of the hop in which it was decided`() throws {
        let audio = try Self.recording("Rear_Left")
        let client = try Client(Self.words())
        client.conversation.output = []
        var stamps: [Int] = []
        for chunk in [960, 9600, 1 << 20] {
            let events = client.send(Self.run(audio, 48_000, chunk: chunk))
            stamps += events.compactMap(\.event.timestamp)
        }
        #expect(stamps.count == 3)
        // The recording begins after half a second; its times begin at 5000 ms.
        #expect(stamps.allSatisfy { (6500...7200).contains($0) }, "\(stamps)")
        #expect((stamps.max() ?? 0) - (stamps.min() ?? 0) <= 1, "\(stamps)")
    }

    @Test func `describe lists all words and phrases in one program`() throws {
        let client = try Client(Self.words(phrases: ["go left"]))
        client.send(Self.event("describe"))
        // The answer is sent once more, to look at its text.
        let bytes = client.words.info
        let end = try #require(bytes.firstIndex(of: 10))
        let info = try #require(
            try JSONSerialization.jsonObject(with: Data(bytes[(end + 1)...])) as? [String: Any]
        )
        for key in ["asr", "tts", "handle", "intent", "mic", "snd"] { #expect((info[key] as? [Any])?.isEmpty == true) }
        let programs = try #require(info["wake"] as? [[String: Any]])
        #expect(programs.count == 1)
        let models = try #require(programs.first?["models"] as? [[String: Any]])
        #expect(
            models.compactMap { $0["name"] as? String } == Labels(client.words.detector.vocabulary.labels).words + [
                "go left"
            ]
        )
        for model in models + programs {
            #expect((model["attribution"] as? [String: Any])?["name"] is String)
            #expect((model["attribution"] as? [String: Any])?["url"] is String)
            #expect(model["installed"] as? Bool == true)
            #expect(model["version"] is String)
        }
        #expect(models.allSatisfy { $0["languages"] is [Any] && $0["phrase"] as? String == $0["name"] as? String })
    }

    @Test func `pings are answered, and unknown events dropped`() throws {
        let client = try Client(Self.words())
        let events = client.send(
            Self.event("ping", ["text": "a"]) + Self.event("select-program", ["name": "x"])
                + Self.event("user-event", ["name": "y"], payload: [1, 2, 3]) + Self.event("ping")
        )
        #expect(events.map(\.event.text) == ["a", nil])
    }

    @Test func `audio in another format is refused, dropped, and may begin again`() throws {
        let audio = try Self.recording("Rear_Left")
        let client = try Client(Self.words())
        let refused = client.send(Self.run([UInt8](repeating: 1, count: 9999), 4000, chunk: 1000))
        #expect(refused.map(\.event.text) == [PCMFormat.limits])
        #expect(client.hops == 0)
        #expect(results(client, Self.run(audio, 48_000, chunk: 9600)) == ["left"])
    }

    @Test func `a client that breaks the protocol gets an error and is ended`() throws {
        let client = try Client(Self.words())
        let events = client.send(Array("GET / HTTP/1.1\r\n\r\n".utf8))
        #expect(client.last == .end)
        #expect(events.map(\.event.text) == [ProtocolViolation.json.description])
    }

    @Test func `a client that does not read is not read either`() throws {
        let client = try Client(Self.words())
        let flood = [[UInt8]](repeating: Self.event("describe"), count: 2000).flatMap { $0 }
        var left = 0
        flood.withUnsafeBufferPointer { flood in
            var input = flood
            var pause = ConversationPause.turn
            while pause == .turn {
                client.conversation.beginTurn()
                pause = client.conversation.advance(&input, client.words, &client.detector)
            }
            #expect(pause == .output)
            left = input.count
        }
        #expect(left > flood.count / 2)
        #expect(client.conversation.output.count < 100_000)
    }

    @Test func `a taught word is announced and detected from the next hop on`() throws {
        let words = try Self.words()
        let client = try Client(words)
        let model = words.detector.vocabulary.model
        var session = InferenceStream(model, embeds: true)
        // Rear_Center at 16 kHz.
        let quiet = [Float](repeating: 0, count: 16_000)
        let samples = try Voices.samples("Rear_Center")
        let voice = Self.narrow(samples)
        let audio = quiet + voice + quiet
        var activity = ActivityDetector(of: model)
        var template: [Float] = []
        var wasSound = false
        for end in stride(from: 16_000, through: audio.count, by: 1600) where template.isEmpty {
            session.score(window: audio.span.extracting(end - 16_000..<end))
            activity.add(hop: audio.span.extracting(end - 1600..<end), logits: session.activity)
            wasSound = wasSound || activity.history.quietSeconds == 0
            if wasSound, activity.history.quietSeconds >= 0.3 { template = session.embedding }
        }
        let word = try #require(
            TaughtWord(name: "rear center", threshold: 0.8, templates: [template], templateSpacing: 0, boundary: 0.7)
        )
        client.send(Self.event("detect", ["names": ["rear center"]]))
        #expect(client.unknownNames == [["rear center"]])
        let taught = AnnouncedWords(DetectorSettings(Vocabulary(model, taught: [word])))
        client.words = taught
        client.detector.update(taught.detector)
        #expect(String(decoding: taught.info, as: UTF8.self).contains("\"rear center\""))
        #expect(results(client, Self.run(try Self.recording("Rear_Center"), 48_000, chunk: 9600)) == ["rear center"])
    }
}
