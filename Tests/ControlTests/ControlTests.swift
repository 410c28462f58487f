import Configuration
import Core
import Foundation
import Glibc
import JSON
import Network
import Spotting
import Synchronization
import TestSupport
import Testing

@testable import Control

/// Commands to the daemon: parsing, sending and answers.
struct ControlTests {
    private static func change(_ words: [String: Float]) -> ThresholdChange {
        ThresholdChange(words: words.mapValues(ThresholdChoice.confidence))
    }

    private static var listening: ControlReply {
        var status = ServiceStatus()
        status.input = ServiceStatus.Input(state: "listening")
        return .status(status)
    }

    @Test func `commands are understood`() throws {
        let table: [(String, ControlCommand)] = [
            ("status", .status), ("  mute \r", .mute), ("unmute", .unmute), ("reload", .reload), ("events", .events),
            ("set yes=0.7", .set(Self.change(["yes": 0.7]))),
            ("set yes=0.7  no=.5", .set(Self.change(["yes": 0.7, "no": 0.5]))),
            ("set hey house=0.7 no=0.5", .set(Self.change(["hey house": 0.7, "no": 0.5]))),
            ("set yes=strict", .set(ThresholdChange(words: ["yes": .sensitivity(.strict)]))),
            ("set sensitivity eager", .set(ThresholdChange(all: .eager))),
            ("set sensitivity=eager", .set(ThresholdChange(all: .eager))),
            (
                "set sensitivity strict hey house=0.7 no=eager",
                .set(ThresholdChange(all: .strict, words: ["hey house": .confidence(0.7), "no": .sensitivity(.eager)]))
            ),
            // Words that are called so.
            ("set sensitivity=0.6", .set(Self.change(["sensitivity": 0.6]))),
            ("set sensitivity test=0.6", .set(Self.change(["sensitivity test": 0.6]))),
            (
                #"{"command": "set", "sensitivity": "eager", "words": {"sensitivity": "strict"}}"#,
                .set(ThresholdChange(all: .eager, words: ["sensitivity": .sensitivity(.strict)]))
            ),
            ("talk", .talk(.start)), ("talk end", .talk(.end)), ("talk toggle", .talk(.toggle)),
            (#"{"command": "talk"}"#, .talk(.start)), (#"{"step": "stop", "command": "talk"}"#, .talk(.stop)),
            ("{\"command\": \"mute\"}", .mute),
            (#"{"command": "set", "words": {"yes": 0.7}}"#, .set(Self.change(["yes": 0.7]))),
            (
                #"{"command": "teach", "step": "begin", "word": "hey house"}"#,
                .teach(.begin(word: "hey house", more: false))
            ),
            (
                #"{"command": "teach", "step": "begin", "word": "x", "more": true}"#,
                .teach(.begin(word: "x", more: true))
            ),
            (
                #"{"command": "teach", "step": "type", "word": "hey house"}"#,
                .teach(.type(word: "hey house", sounds: []))
            ),
            (
                #"{"command": "teach", "step": "type", "word": "x", "sounds": ["h eɪ", "HH AW1 S"]}"#,
                .teach(.type(word: "x", sounds: ["h eɪ", "HH AW1 S"]))
            ),
            (#"{"command": "teach", "step": "record"}"#, .teach(.record)),
            (#"{"step": "redo", "command": "teach"}"#, .teach(.redo)),
            (#"{"command": "teach", "step": "save"}"#, .teach(.save)),
            (#"{"command": "teach", "step": "cancel"}"#, .teach(.cancel)),
            (#"{"command": "teach", "step": "take", "recent": 12}"#, .teach(.take(.own(12)))),
            (#"{"command": "teach", "step": "take", "client": 12}"#, .teach(.take(.ofClient(12)))),
            (#"{"command": "teach", "step": "add", "word": "x", "recent": 1}"#, .teach(.add(word: "x", .own(1)))),
            (#"{"command": "teach", "step": "not", "word": "x", "client": 1}"#, .teach(.not(word: "x", .ofClient(1)))),
            (
                #"{"command": "teach", "step": "rename", "word": "x", "to": "hey y"}"#,
                .teach(.rename(word: "x", to: "hey y"))
            ),
            (#"{"command": "teach", "step": "forget", "word": "x"}"#, .teach(.forget(word: "x"))),
        ]
        for (line, command) in table {
            #expect(try ControlCommand(line: line) == command)
            #expect(try ControlCommand(line: "\(command.json)") == command, "as JSON: \(command.json)")
        }
    }

    /// A service was ended by its stack after some thousand commands, because each of them made the next one's call deeper.
    @Test(.disabled(if: Sanitizer.isPresent, "local variables are not on the stack"))
    func `a command is no deeper on the stack than the one before`() throws {
        let folder = try TestFolder()
        let server = try ControlServer(path: folder.file("socket"))
        defer { server.stop() }
        let places = Mutex<[UInt]>([])
        server.start { _, _ in
            var here: UInt8 = 0
            let place = withUnsafeMutablePointer(to: &here) { UInt(bitPattern: $0) }
            places.withLock { $0.append(place) }
            return .done
        }
        let client = try Client(folder.file("socket"))
        for _ in 0..<100 {
            client.send(Array("status\n".utf8))
            #expect(try client.line()?.contains("true") == true)
        }
        let all = places.withLock { $0 }
        #expect(all.count == 100 && all.first == all.last, "\(all.first ?? 0) … \(all.last ?? 0)")
    }

    static let wrong: [(String, says: String)] = [
        ("", "an empty command; there are status, mute, unmute, reload, events, misses, set, talk"),
        ("mte", "did you mean mute?"),
        ("explode", "unknown command 'explode'; there are status"), ("mute yes=0.5", "mute takes nothing after it"),
        (#"{"command": "teach"}"#, "not a step of teaching; there are begin"),
        (#"{"command": "teach", "step": "record", "word": "x"}"#, "not a step of teaching"),
        (#"{"command": "teach", "step": "type", "word": "x", "sounds": "h eɪ"}"#, "unknown or ill-typed key 'sounds'"),
        (#"{"command": "teach", "step": "type", "word": "x", "sounds": [1]}"#, "sounds is a list of pronunciations"),
        (#"{"command": "teach", "step": "type", "sounds": ["h eɪ"]}"#, "not a step of teaching"),
        (#"{"command": "teach", "step": "begin", "word": "x", "sounds": []}"#, "not a step of teaching"),
        (#"{"command": "teach", "step": "save", "sounds": []}"#, "not a step of teaching"),
        (#"{"command": "teach", "step": "add", "word": "x"}"#, "not a step of teaching"),
        (#"{"command": "teach", "step": "begin", "words": {"x": 1}}"#, "unknown or ill-typed key 'words'"),
        (#"{"command": "teach", "step": "begin", "word": "x", "more": 1}"#, "unknown or ill-typed key 'more'"),
        (#"{"command": "teach", "step": "take", "recent": 0}"#, "is the number of a recent word"),
        (#"{"command": "teach", "step": "take", "client": 1.5}"#, "is the number of a recent word"),
        (#"{"command": "teach", "step": "take", "recent": 9007199254740993}"#, "is the number of a recent word"),
        (#"{"command": "teach", "step": "take", "recent": 1, "client": 1}"#, "either recent or client is the number"),
        (#"{"command": "teach", "step": "rename", "word": "x"}"#, "rename also to, its new name"),
        (#"{"command": "teach", "step": "forget", "word": "x", "to": "y"}"#, "not a step of teaching"),
        ("talk x", "talk takes one of start, end, stop, toggle, not 'x'"), ("talk end now", "talk takes one of start"),
        (#"{"command": "talk", "step": "x"}"#, "talk takes one of start"),
        (#"{"command": "talk", "step": 1}"#, "talk takes one of start"),
        (#"{"command": "talk", "word": "x"}"#, "talk has the key step only"),
        ("set", "set needs a word and its threshold"), ("set yes", "'yes' is not a word and its threshold"),
        ("set yes=high", "the threshold of 'yes' is 'high', neither a number nor one of strict, balanced, eager"),
        ("set yes=stricd", "did you mean 'strict'?"), ("set sensitivity", "sensitivity needs a name: one of strict"),
        ("set sensitivity lax", "unknown sensitivity 'lax'; there are strict, balanced, eager"),
        ("set sensitivity=egaer", "did you mean 'eager'?"),
        (#"{"command": "set", "sensitivity": "lax"}"#, "unknown sensitivity 'lax'"),
        (#"{"command": "mute", "sensitivity": "eager"}"#, "mute takes nothing after it"),
        ("set yes=1", "lies between 0 and 1"),
        ("set yes=1e-60", "the threshold of 'yes' lies between 0 and 1"),
        ("set yes=0.999999999999", "the threshold of 'yes' lies between 0 and 1"),
        ("set yes=nan", "neither a number nor one of"), ("set yes=0x1p-1", "neither a number nor one of"),
        ("set yes=+0.5", "neither a number nor one of"),
        ("set =0.5", "needs a word before it"), ("set a=0.5=0.6", "'a=0.5=0.6' is not"), ("{", "never closed"),
        ("{command: \"status\"}", "not a JSON object: a key was expected"),
        ("{'command': 'status'}", "not a JSON object"),
        ("{\"command\": \"status\",}", "not a JSON object"), ("{} // comment", "not a JSON object"),
        ("{}", "the key command is missing"), ("{\"command\": 1}", "ill-typed key 'command'"),
        ("{\"command\": \"set\", \"words\": {\"yes\": \"x\"}}", "the threshold of 'yes' is 'x', neither a number"),
        ("{\"command\": \"set\", \"word\": {}}", "key 'word'"), ("{\"command\": \"set\"}", "set needs words"),
        (String(repeating: "[", count: 4000), "unknown command"),
        ("{\"a\": " + String(repeating: "[", count: 4000), "nested deeper"),
    ]

    @Test(arguments: wrong)
    func `an unknown command is refused`(_ line: String, says: String) {
        let error = #expect(throws: ControlError.command) { try ControlCommand(line: line) }
        #expect(error?.description.contains(says) == true, "\(error?.description ?? "")")
    }

    @Test func `a daemon answers, and streams events to subscribers`() throws {
        let folder = try TestFolder()
        let path = folder.file("control.socket")
        let done = Lines()
        let server = try ControlServer(path: path) { command in
            done.add("\(command.json)")
            switch command {
            case .status: return Self.listening
            case .reload: return .failed("line 3 of \"config\" is wrong")
            default: return .done
            }
        }
        var client = try ControlClient(path: path)
        for (command, answer) in [
            (ControlCommand.status, "{\"ok\": true, \"state\": \"listening\"}"), (.mute, "{\"ok\": true}"),
            (.reload, "{\"ok\": false, \"error\": \"line 3 of \\\"config\\\" is wrong\"}"),
            (.set(Self.change(["yes": 0.7])), "{\"ok\": true}"),
            (.events, "{\"ok\": true, \"state\": \"listening\"}"),
        ] {
            try client.send(command)
            #expect(try client.nextLine() == answer)
        }
        server.publish("{\"event\": \"word\"}")
        #expect(try client.nextLine() == "{\"event\": \"word\"}")
        #expect(done.all.contains("{\"command\": \"set\", \"words\": {\"yes\": 0.7}}"))

        let stranger = try Client(path)
        stranger.send(Array("set yes=7\nhello\nmute\n".utf8))
        #expect(try stranger.line()?.contains("\"ok\": false, \"error\": \"the threshold of 'yes'") == true)
        #expect(try stranger.line()?.contains("unknown command 'hello'") == true)
        #expect(try stranger.line() == "{\"ok\": true}")
        server.stop()
        #expect(try client.nextLine() == nil)
        #expect(throws: ControlError.notRunning) { _ = try ControlClient(path: path) }
    }

    @Test func `no daemon, or one that hangs`() throws {
        let folder = try TestFolder()
        let path = folder.file("s")
        let none = #expect(throws: ControlError.notRunning) { _ = try ControlClient(path: path) }
        #expect(none?.description.hasPrefix("no service is running: nothing listens at \(path)") == true)
        let listener = try UnixSocket.listen(path, mode: 0o660)
        var client = try ControlClient(path: path)
        try client.send(.status)
        #expect(throws: ControlError.timedOut) { try client.nextLine(within: 0.03) }
        _ = consume listener
        // The server never accepted this connection, so closing the socket ends it.
        #expect(try client.nextLine() == nil)
        #expect(throws: ControlError.notRunning) { _ = try ControlClient(path: path) }
    }

    @Test func `the path of the socket`() throws {
        let folder = try TestFolder()
        #expect(ControlServer.path(for: .none, environment: [:]) == nil)
        #expect(ControlServer.path(for: .path("/x"), environment: ["RUNTIME_DIRECTORY": "/run/beckon"]) == "/x")
        #expect(
            ControlServer.path(for: .auto, environment: ["RUNTIME_DIRECTORY": "/run/b:/run/c"])
                == "/run/b/control.socket"
        )
        #expect(
            ControlServer.path(for: .auto, environment: ["XDG_RUNTIME_DIR": "/run/user/1"])
                == "/run/user/1/beckon/control.socket"
        )
        #expect(ControlServer.path(for: .auto, environment: [:]) == "/run/beckon/control.socket")
        #expect(ControlClient.findPath(environment: ["BECKON_SOCKET": "/x"]) == "/x")
        #expect(ControlClient.findPath(environment: ["XDG_RUNTIME_DIR": folder.path]) == "/run/beckon/control.socket")
        try folder.folder("beckon")
        let own = try folder.write("beckon/control.socket", bytes: [])
        #expect(ControlClient.findPath(environment: ["XDG_RUNTIME_DIR": folder.path]) == own)
    }

    @Test func `a command that takes long is answered later, and holds up nobody else`() throws {
        let folder = try TestFolder()
        let path = folder.file("s")
        let waiting = Mutex<[@Sendable (ControlReply) -> Void]>([])
        let server = try ControlServer(path: path)
        defer { server.stop() }
        var early = try ControlClient(path: path)
        try early.send(.status)
        #expect(try early.nextLine() == "{\"ok\": false, \"error\": \"the service is just starting\"}")
        server.start { command, later in
            guard command == .reload else { return Self.listening }
            waiting.withLock { $0.append(later) }
            return nil
        }
        var slow = try ControlClient(path: path)
        try slow.send(.reload)
        #expect(comesTrue { waiting.withLock { $0.count } == 1 })
        try early.send(.status)
        #expect(try early.nextLine() == "{\"ok\": true, \"state\": \"listening\"}")
        waiting.withLock { $0[0] }(.note("done"))
        #expect(try slow.nextLine() == "{\"ok\": true, \"note\": \"done\"}")
    }
}
