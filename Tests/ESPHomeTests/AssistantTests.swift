import Control
import Core
import Events
import Foundation
import System
import Testing

@testable import ESPHome

/// What is sent, played and said, from what happens.
struct AssistantTests {
    private static let start = Instant(nanoseconds: 1_000_000_000_000)

    private static func at(_ seconds: Double, sample: Int = 0) -> Assistant.Moment {
        .init(now: start + .seconds(seconds), sample: sample)
    }

    private static func event(_ kind: AssistantEvent.Kind, _ data: [String: String] = [:]) -> AssistantEvent {
        AssistantEvent(kind, data)
    }

    /// One that has sent a command and thinks about it.
    private func thinking(_ phrase: String = "okay nabu") -> Assistant {
        var assistant = Assistant()
        assistant.connect()
        #expect(assistant.wake(phrase, after: 5000, at: Self.at(0)) == [.sound(.heard), .send(.start(phrase))])
        #expect(assistant.wanted(upTo: 9000) == nil)
        #expect(assistant.answer(isError: false, at: Self.at(0.1)).isEmpty)
        #expect(assistant.wanted(upTo: 9000) == 5000..<6024)
        #expect(assistant.receive(Self.event(.voiceEnd), at: Self.at(1)) == [.sound(.done)])
        #expect(assistant.wanted(upTo: 9000) == nil && assistant.state == .thinking)
        return assistant
    }

    @Test func `a command is sent from the word's end on, however late Home Assistant listens`() {
        var assistant = Assistant()
        assistant.connect()
        _ = assistant.wake("stop", after: 100, at: Self.at(0))
        _ = assistant.answer(isError: false, at: Self.at(1))
        var sent: [Range<Int>] = []
        for count in [1000, 1124, 3000, 3172] {
            while let range = assistant.wanted(upTo: count) {
                sent.append(range)
                #expect(assistant.sent(range, at: Self.at(1)).isEmpty)
            }
        }
        #expect(sent.map(\.lowerBound) == [100, 1000, 1124, 2148, 3000] && sent.last?.upperBound == 3172)
        let all = 100 + Assistant.longestCommand
        var effects: [Assistant.Effect] = []
        while let range = assistant.wanted(upTo: all + 5000) { effects += assistant.sent(range, at: Self.at(31)) }
        #expect(effects == [.send(.audioEnd)] && assistant.state == .thinking)
    }

    @Test func `an answer is played once, told when it was heard, and the next command may follow`() {
        var assistant = thinking()
        #expect(
            assistant.receive(Self.event(.answerEnd, ["url": "http://a"]), at: Self.at(2)) == [
                .play(1, [.address("http://a")])
            ]
        )
        #expect(assistant.receive(Self.event(.answerEnd, ["url": "http://a"]), at: Self.at(2)).isEmpty)
        #expect(assistant.receive(Self.event(.runEnd), at: Self.at(2)).isEmpty && assistant.state == .speaking)
        #expect(assistant.ended(.init(id: 1, isWhole: true), at: Self.at(4)) == [.send(.played(true))])
        #expect(assistant.state == .idle)
        #expect(assistant.wake("x", after: 0, at: Self.at(5)) == [.sound(.heard), .send(.start("x"))])
    }

    @Test func `an answer that is told before it is complete is fetched at once`() {
        var assistant = thinking()
        #expect(assistant.receive(Self.event(.runStart, ["url": "http://b"]), at: Self.at(1)).isEmpty)
        #expect(
            assistant.receive(Self.event(.progress, ["tts_start_streaming": "1"]), at: Self.at(1)) == [
                .play(1, [.address("http://b")])
            ]
        )
        #expect(assistant.receive(Self.event(.answerEnd, ["url": "http://b"]), at: Self.at(2)).isEmpty)
    }

    @Test(arguments: [true, false])
    func `a conversation goes on after the answer was heard, whatever ends first`(_ runEndsFirst: Bool) {
        var assistant = thinking()
        _ = assistant.receive(Self.event(.intentEnd, ["continue_conversation": "1"]), at: Self.at(2))
        _ = assistant.receive(Self.event(.answerEnd, ["url": "http://a"]), at: Self.at(2))
        let next = Assistant.Effect.send(.start(""))
        if runEndsFirst {
            #expect(assistant.receive(Self.event(.runEnd), at: Self.at(2)).isEmpty)
            #expect(
                assistant.ended(.init(id: 1, isWhole: true), at: Self.at(3, sample: 700)) == [
                    .send(.played(true)), next,
                ]
            )
        } else {
            #expect(assistant.ended(.init(id: 1, isWhole: true), at: Self.at(3)) == [.send(.played(true))])
            #expect(assistant.receive(Self.event(.runEnd), at: Self.at(3, sample: 700)) == [next])
        }
        _ = assistant.answer(isError: false, at: Self.at(4))
        #expect(assistant.wanted(upTo: 800) == 700..<800)
        // Nobody says anything: no failure.
        let silence = assistant.receive(Self.event(.error, ["code": "stt-no-text-recognized"]), at: Self.at(5))
        #expect(silence.count == 1 && !silence.contains(.sound(.failure)) && assistant.state == .idle)
    }

    @Test func `stop ends an answer and the conversation, and is nothing otherwise`() {
        var assistant = thinking()
        #expect(assistant.stop() == nil)
        _ = assistant.receive(Self.event(.intentEnd, ["continue_conversation": "1"]), at: Self.at(2))
        _ = assistant.receive(Self.event(.answerEnd, ["url": "http://a"]), at: Self.at(2))
        #expect(assistant.stop() == [.stopPlaying(1), .send(.played(true))])
        #expect(assistant.receive(Self.event(.runEnd), at: Self.at(3)).isEmpty)
        #expect(assistant.ended(.init(id: 1, isWhole: false), at: Self.at(3)).isEmpty && assistant.state == .idle)
    }

    @Test func `a word ends an answer and starts the next command`() {
        var assistant = thinking()
        _ = assistant.receive(Self.event(.answerEnd, ["url": "http://a"]), at: Self.at(2))
        _ = assistant.receive(Self.event(.runEnd), at: Self.at(2))
        #expect(
            assistant.wake("x", after: 9, at: Self.at(3))
                == [.stopPlaying(1), .send(.played(true)), .sound(.heard), .send(.start("x"))]
        )
    }

    @Test func `what goes wrong is said by a sound, and logged with its code`() {
        func sounds(_ effects: [Assistant.Effect]) -> [Assistant.Sound] {
            effects.compactMap { if case .sound(let sound) = $0 { sound } else { nil } }
        }
        var assistant = Assistant()
        #expect(sounds(assistant.wake("x", after: 0, at: Self.at(0))) == [.lost])
        assistant = thinking()
        let failed = assistant.receive(Self.event(.error, ["code": "intent-failed", "message": "bad"]), at: Self.at(2))
        #expect(
            failed == [.log(.warning, "Home Assistant: bad (intent-failed)"), .sound(.failure)]
                && assistant.state == .idle
        )
        assistant = thinking()
        #expect(sounds(assistant.disconnect()) == [.lost] && assistant.state == .idle)
        assistant = thinking()
        #expect(assistant.tick(at: Self.at(60)).isEmpty)
        #expect(sounds(assistant.tick(at: Self.at(61))) == [.failure] && assistant.state == .idle)
        assistant = Assistant()
        assistant.connect()
        _ = assistant.wake("x", after: 0, at: Self.at(0))
        #expect(assistant.tick(at: Self.at(4.9)).isEmpty)
        #expect(assistant.tick(at: Self.at(5)).contains(.send(.abort)) && assistant.state == .idle)
        _ = assistant.wake("x", after: 0, at: Self.at(6))
        #expect(sounds(assistant.answer(isError: true, at: Self.at(6))) == [.failure] && assistant.state == .idle)
        // It listens, and then nothing.
        _ = assistant.wake("x", after: 0, at: Self.at(6))
        _ = assistant.answer(isError: false, at: Self.at(6))
        #expect(assistant.tick(at: Self.at(15.9)).isEmpty)
        #expect(sounds(assistant.tick(at: Self.at(16))) == [.failure] && assistant.state == .idle)
        let silent = assistant.receive(Self.event(.error, ["code": "duplicate_wake_up_detected"]), at: Self.at(7))
        #expect(sounds(silent).isEmpty)
        // An answer that cannot be fetched.
        assistant = thinking()
        _ = assistant.receive(Self.event(.answerEnd, ["url": "http://a"]), at: Self.at(2))
        let lost = assistant.ended(.init(id: 1, isWhole: false, problem: "gone"), at: Self.at(2))
        #expect(lost == [.log(.error, "gone"), .sound(.failure), .send(.played(false))])
    }

    @Test func `an announcement is played with what comes before it, and may start a conversation`() {
        var assistant = Assistant()
        assistant.connect()
        let request = AnnounceRequest(media: "http://m", before: "http://p", startsConversation: true)
        #expect(assistant.announce(request) == [.play(1, [.address("http://p"), .address("http://m")])])
        #expect(
            assistant.ended(.init(id: 1, isWhole: true), at: Self.at(1, sample: 5)) == [
                .send(.played(true)), .send(.start("")),
            ]
        )
        // Who gives a command is not talked into.
        #expect(assistant.announce(request) == [.send(.played(false))])
        assistant = Assistant()
        assistant.connect()
        #expect(assistant.announce(AnnounceRequest(media: "")) == [.send(.played(true))])
        #expect(assistant.announce(AnnounceRequest(media: "http://m")) == [.play(1, [.address("http://m")])])
        #expect(assistant.ended(.init(id: 1, isWhole: false), at: Self.at(1)) == [.send(.played(false))])
    }

    @Test func `a timer rings until stop or a limit, also without Home Assistant`() {
        let ring = SoundPlayer.Source.chime(.timer)
        var assistant = Assistant()
        assistant.connect()
        #expect(assistant.receive(TimerEvent(.finished, id: "a"), at: Self.at(0)) == [.play(1, [ring])])
        #expect(assistant.state == .timer)
        #expect(assistant.ended(.init(id: 1, isWhole: true), at: Self.at(2)) == [.play(2, [ring])])
        #expect(assistant.stop() == [.stopPlaying(2)] && assistant.state == .idle)
        #expect(assistant.ended(.init(id: 2, isWhole: false), at: Self.at(2)).isEmpty)
        // The end of one that was cancelled or paused does not come; that of the other is told by nobody.
        _ = assistant.receive(TimerEvent(.started, id: "b", left: 60), at: Self.at(10))
        _ = assistant.receive(TimerEvent(.started, id: "c", left: 60), at: Self.at(10))
        _ = assistant.receive(TimerEvent(.started, id: "d", left: 60), at: Self.at(10))
        _ = assistant.receive(TimerEvent(.cancelled, id: "c"), at: Self.at(20))
        _ = assistant.receive(TimerEvent(.updated, id: "d", left: 50, isActive: false), at: Self.at(20))
        #expect(assistant.timers.count == 1 && assistant.nextTimer == Self.at(73).now)
        #expect(assistant.disconnect().isEmpty && assistant.nextTimer == Self.at(70).now)
        #expect(assistant.tick(at: Self.at(69)).isEmpty)
        #expect(assistant.tick(at: Self.at(70)) == [.play(3, [ring])])
        #expect(assistant.ended(.init(id: 3, isWhole: true), at: Self.at(600)) == [.play(4, [ring])])
        #expect(assistant.tick(at: Self.at(670)) == [.stopPlaying(4)] && assistant.state == .idle)
    }

    @Test func `a timer that ends within a command rings after it`() {
        var assistant = thinking()
        #expect(assistant.receive(TimerEvent(.finished, id: "a"), at: Self.at(1)).isEmpty)
        _ = assistant.receive(Self.event(.answerEnd, ["url": "http://a"]), at: Self.at(2))
        _ = assistant.receive(Self.event(.runEnd), at: Self.at(2))
        #expect(assistant.tick(at: Self.at(3)).isEmpty)
        #expect(assistant.ended(.init(id: 1, isWhole: true), at: Self.at(4)) == [.send(.played(true))])
        #expect(assistant.tick(at: Self.at(5)) == [.play(2, [.chime(.timer)])])
    }

    @Test func `timers that were kept ring at their time, and at once where that is over`() {
        let ring = SoundPlayer.Source.chime(.timer)
        var assistant = Assistant()
        assistant.restore(["a": Self.at(-5).now, "b": Self.at(60).now])
        #expect(assistant.tick(at: Self.at(0)) == [.play(1, [ring])] && assistant.timers.count == 1)
        #expect(assistant.stop() == [.stopPlaying(1)])
        // Home Assistant is back, and tells the end of the other itself.
        assistant.connect()
        #expect(assistant.tick(at: Self.at(62)).isEmpty)
        #expect(assistant.receive(TimerEvent(.finished, id: "b"), at: Self.at(62)) == [.play(2, [ring])])
        #expect(assistant.timers.isEmpty)
    }

    @Test func `a button starts a command without a word, and ends it`() throws {
        var assistant = Assistant()
        #expect(throws: TalkRefusal.alone) { try assistant.talk(.start, at: Self.at(0)) }
        #expect(try assistant.talk(.stop, at: Self.at(0)).isEmpty && assistant.talk(.end, at: Self.at(0)).isEmpty)
        assistant.connect()
        #expect(try assistant.talk(.start, at: Self.at(0, sample: 700)) == [.sound(.heard), .send(.start(""))])
        #expect(throws: TalkRefusal.isBusy) { try assistant.talk(.start, at: Self.at(0)) }
        _ = assistant.answer(isError: false, at: Self.at(0.1))
        #expect(assistant.wanted(upTo: 800) == 700..<800)
        #expect(try assistant.talk(.end, at: Self.at(2)) == [.send(.audioEnd)] && assistant.state == .thinking)
        // The button is released after Home Assistant has found the end, and the answer is heard.
        _ = assistant.receive(Self.event(.answerEnd, ["url": "http://a"]), at: Self.at(3))
        #expect(try assistant.talk(.end, at: Self.at(3)).isEmpty && assistant.state == .speaking)
        _ = assistant.receive(Self.event(.runEnd), at: Self.at(3))
        #expect(
            try assistant.talk(.start, at: Self.at(4))
                == [.stopPlaying(1), .send(.played(true)), .sound(.heard), .send(.start(""))]
        )
        // Released before Home Assistant listens: nothing was said.
        #expect(try assistant.talk(.end, at: Self.at(4)) == [.send(.abort)] && assistant.state == .idle)
        #expect(try assistant.talk(.toggle, at: Self.at(5)) == [.sound(.heard), .send(.start(""))])
        #expect(try assistant.talk(.toggle, at: Self.at(6)) == [.send(.abort)] && assistant.state == .idle)
        _ = assistant.receive(TimerEvent(.finished, id: "a"), at: Self.at(7))
        #expect(try assistant.talk(.toggle, at: Self.at(8)) == [.stopPlaying(2)] && assistant.state == .idle)
    }

    @Test func `an answer that comes after its command was ended is not played`() throws {
        var assistant = thinking()
        #expect(try assistant.talk(.stop, at: Self.at(2)) == [.send(.abort)])
        #expect(assistant.receive(Self.event(.answerEnd, ["url": "http://a"]), at: Self.at(3)).isEmpty)
    }

    @Test func `timers are bounded`() {
        var assistant = Assistant()
        for number in 0..<1000 { _ = assistant.receive(TimerEvent(.started, id: "\(number)", left: 9), at: Self.at(0)) }
        #expect(assistant.timers.count == Assistant.mostTimers)
        assistant = Assistant()
        _ = assistant.receive(TimerEvent(.started, id: String(repeating: "x", count: 129), left: 9), at: Self.at(0))
        #expect(assistant.timers.isEmpty)
    }

    @Test func `a muted microphone ends a command`() {
        var assistant = Assistant()
        assistant.connect()
        _ = assistant.wake("x", after: 0, at: Self.at(0))
        #expect(assistant.mute(at: Self.at(1)) == [.send(.abort)] && assistant.state == .idle)
        #expect(assistant.mute(at: Self.at(1)).isEmpty)
    }
}

struct DeviceTests {
    @Test func `what the satellite keeps is read again, timers at their time on the wall clock`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (now, date) = (Instant(nanoseconds: 5_000_000_000), Timestamp(microseconds: 1_800_000_000_000_000))
        var store = DeviceStore(in: folder)
        (store.active, store.volume) = (["a"], 0.25)
        store.keep(["soon": now + .seconds(60), "now": now, "past": now - .seconds(2)], at: now, date: date)
        try store.write(to: folder)
        let read = DeviceStore(in: folder)
        #expect(read == store && read.timers.count == 3)
        // The machine was started again 100 s later, so its monotonic clock is another.
        let later = Instant(nanoseconds: 1_000_000_000)
        let (ends, missed) = read.timers(at: later, date: date.adding(seconds: 100))
        #expect(ends == ["soon": later - .seconds(40), "now": later - .seconds(100), "past": later - .seconds(102)])
        #expect(missed == 0)
        let (none, gone) = read.timers(at: later, date: date.adding(seconds: 1000))
        #expect(none.isEmpty && gone == 3)
        // A clock that was set back far.
        #expect(read.timers(at: later, date: Timestamp(microseconds: .min)).ends.count == 3)
    }

    @Test func `a satellite is the same device after a restart, whatever was changed meanwhile`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let first = try DeviceStore.obtain(in: folder)
        #expect(try DeviceStore.obtain(in: folder) == first && DeviceStore(in: folder) == first)
        #expect(throws: SystemError.self) { try DeviceStore.obtain(in: "/proc/none") }
    }

    @Test func `a kept file that is damaged gives a new satellite`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for text in [
            "", "{", "[]", #"{"timers": [1], "active": 3, "volume": "x"}"#, #"{"timers": {"a": 1, "b": "x"}}"#,
        ] {
            try Data(text.utf8).write(to: URL(filePath: folder + "/esphome.json"))
            let store = DeviceStore(in: folder)
            #expect(store.timers.isEmpty && store.active == nil && store.volume == 1, "\(text)")
        }
    }

    @Test func `names are what the protocol allows`() {
        let table = [
            ("Kitchen", "kitchen"), ("beckon my Box", "beckon-my-box"), ("küche", "k-che"), ("--a__b--", "a-b"),
            (String(repeating: "x", count: 40), String(repeating: "x", count: 31)),
        ]
        for (text, name) in table { #expect(DeviceIdentity.name(from: text) == name) }
    }

    @Test func `keys of entities are ESPHome's`() {
        // FNV-1 of these texts.
        #expect(DeviceEntities.key("") == 2_166_136_261 && DeviceEntities.key("a") == 0x050c_5d7e)
    }

    @Test func `entities have commands for what can be changed only`() {
        var state = DeviceEntities.State()
        #expect(DeviceEntities(state).list.map(\.type) == [18, 16, 16])
        state.words = [
            .init(name: "hey house", threshold: 0.5), .init(name: "hey_house", threshold: 0.5),
            .init(name: "on", threshold: nil),
        ]
        (state.isMuted, state.player) = (false, .init())
        let entities = DeviceEntities(state)
        #expect(
            entities.list.map(\.type) == [17, 63, 18, 16, 16, 49]
                && entities.states.map(\.answer.type) == [26, 64, 27, 25, 25, 50]
        )
        #expect(entities.target(DeviceEntities.key("mute")) == .mute)
        #expect(entities.target(DeviceEntities.key("threshold_hey_house")) == .threshold("hey house"))
        #expect(entities.target(DeviceEntities.key("last_word")) == nil && entities.target(0) == nil)
    }

    @Test func `a player that announces plays, as Home Assistant knows no other state`() throws {
        for (player, number) in [(DeviceEntities.Player.State.idle, 1), (.playing, 2), (.announcing, 2), (.paused, 3)] {
            var state = DeviceEntities.State()
            state.player = .init(state: player)
            let answer = try #require(DeviceEntities(state).states.first { $0.answer.type == 64 }).answer
            var reader = ProtobufReader(answer.bytes[...])
            var found: [Int: Int] = [:]
            while let field = try reader.next() { found[field.number] = field.integer }
            #expect(found[2] == number)
        }
    }

    @Test func `words that start a command are those that were chosen and are known`() {
        let all = ["a", "b", "c"].map { AssistantWord(id: $0, phrase: $0.uppercased()) }
        let table: [(chosen: [String]?, usual: [String], active: [String])] = [
            (nil, ["b"], ["b"]), (nil, [], []), ([], ["b"], []), (["c", "x"], ["b"], ["c"]),
            (["a", "b"], [], ["a", "b"]),
        ]
        for (chosen, usual, active) in table {
            let words = AssistantWords(all, chosen: chosen, usual: usual)
            #expect(words.active == active)
            #expect(words.starting("c")?.phrase == (active.contains("c") ? "C" : nil))
        }
    }
}
