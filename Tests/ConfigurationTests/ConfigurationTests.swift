import Core
import Foundation
import Glibc
import Inference
import JSON
import Network
import Spotting
import System
import TestSupport
import Testing

@testable import Configuration

/// The exact messages about mistakes in a configuration: line, key, expected value, suggestion.
struct ConfigurationTests {
    static let words = SampleTests.words

    private static func read(_ text: String) throws -> ConfigurationFile {
        try ParsedConfiguration(text: text, file: "f").validated(by: KnownWords(words))
    }

    private static func errors(_ text: String) -> [String] {
        do {
            _ = try read(text)
            return []
        } catch let error as ConfigurationError {
            return error.problems.map(\.description)
        } catch {
            return ["\(error)"]
        }
    }

    static let table: [(text: String, lines: [String])] = [
        ("{\n treshold: 0.7,\n}", ["f:2:2: treshold: unknown key; did you mean 'threshold'?"]),
        (
            "{\n words: {\n  yes: {\n   treshold: 0.7 } } }",
            ["f:4:4: words.yes.treshold: unknown key; did you mean 'threshold'?"]
        ),
        (
            "{limits: {many: 3}}",
            ["f:1:11: limits.many: unknown key; known here: queue, atOnce, timeout"]
        ),
        (
            "{mqtt: {host: '192.168.1.2:1883'}}",
            [
                "f:1:15: mqtt.host: a name or an address alone belongs here; write host: \"192.168.1.2\", port: 1883"
            ]
        ),
        (
            "{mqtt: {host: 'mqtts://ada:secret@[fe80::1]:8883/x'}}",
            [
                "f:1:15: mqtt.host: a name or an address alone belongs here; write host: \"fe80::1\", user: \"ada\", passwordFile: a file with the password in its first line, port: 8883, tls: true"
            ]
        ),
        ("{mqtt: {host: 'fe80::1'}}", []), ("{mqtt: {host: 'broker.lan'}}", []),
        (
            "{mqtt: {host: 'my broker'}}",
            ["f:1:15: mqtt.host: expected a broker's name or address, such as \"192.168.1.2\""]
        ),
        ("{mqtt: {host: 'a', username: 'b'}}", ["f:1:20: mqtt.username: unknown key; it is called user"]),
        (
            "{mqtt: {host: 'a', client_id: 'b'}}",
            [
                "f:1:20: mqtt.client_id: unknown key; it follows from name, which also names the device: name: \"kitchen\""
            ]
        ),
        ("{mqtt: {hots: 'a'}}", ["f:1:9: mqtt.hots: unknown key; did you mean 'host'?"]),
        (
            "{\n threshold: 'high' }",
            ["f:2:13: threshold: expected a confidence between 0 and 1, such as 0.8, not 'high'"]
        ),
        ("{threshold: 1.5}", ["f:1:13: threshold: expected a confidence between 0 and 1, such as 0.8, not 1.5"]),
        // Checked as floats, which are kept.
        ("{threshold: 1e-60}", ["f:1:13: threshold: expected a confidence between 0 and 1, such as 0.8, not 1e-60"]),
        (
            "{threshold: 0.999999999999}",
            ["f:1:13: threshold: expected a confidence between 0 and 1, such as 0.8, not 0.999999999999"]
        ),
        ("{threshold: NaN}", ["f:1:13: threshold: expected a confidence between 0 and 1, such as 0.8, not nan"]),
        (
            "{cooldown: -9223372036854775808}",
            ["f:1:12: cooldown: expected seconds from 0 to 86400, not -9.223372036854776e+18"]
        ),
        ("{words: []}", ["f:1:9: words: expected an object in { }, not a list"]),
        // What was meant.
        (
            "{threshold: 80}",
            ["f:1:13: threshold: expected a confidence between 0 and 1, such as 0.8, not 80; did you mean 0.8?"]
        ),
        (
            "{threshold: '0,85'}",
            ["f:1:13: threshold: expected a confidence between 0 and 1, such as 0.8, not '0,85'; did you mean 0.85?"]
        ),
        (
            "{sessions: [{wake: 'yes', words: ['no'], threshold: '75 %'}]}",
            [
                "f:1:53: sessions[0].threshold: expected a confidence between 0 and 1, such as 0.8, not '75 %'; did you mean 0.75?"
            ]
        ),
        (
            "{words: {yes: 0.7,\n no: 70,\n up: 'strict', on: false, off: 'loud'}}",
            [
                "f:1:15: words.yes: expected an object in { }, not 0.7; did you mean { threshold: 0.7 }?",
                "f:2:6: words.no: expected an object in { }, not 70; did you mean { threshold: 0.7 }?",
                "f:3:6: words.up: expected an object in { }, not 'strict'; did you mean { sensitivity: \"strict\" }?",
                "f:3:20: words.on: expected an object in { }, not false; did you mean { enabled: false }?",
                "f:3:32: words.off: expected an object in { }, not 'loud'",
            ]
        ),
        (
            "{phrases: ['yes no']}",
            [
                "f:1:12: phrases[0]: expected an object in { }, not 'yes no'; did you mean { phrase: \"yes no\" }?"
            ]
        ),
        ("{confirm: 'Yes'}", ["f:1:11: confirm: expected true or false, not 'Yes'; did you mean true?"]),
        ("{confirm: 0}", ["f:1:11: confirm: expected true or false, not 0; did you mean false?"]),
        ("{cooldown: '2'}", ["f:1:12: cooldown: expected seconds from 0 to 86400, not '2'; did you mean 2?"]),
        (
            "{limits: {queue: '64', atOnce: '65'}}",
            [
                "f:1:18: limits.queue: expected a whole number from 1 to 10000, not '64'; did you mean 64?",
                "f:1:32: limits.atOnce: expected a whole number from 1 to 64, not '65'",
            ]
        ),
        (
            "{channel: '0,1'}",
            [
                "f:1:11: channel: expected \"mix\", a channel such as 0, or a list such as [0, 1], not '0,1'; did you mean [0, 1]?"
            ]
        ),
        (
            "{words: {yess: {}, _silence_: {}}}",
            [
                "f:1:10: words.yess: the model does not know the word 'yess'; did you mean 'yes'?",
                "f:1:20: words._silence_: the model does not know the word '_silence_'; it knows "
                    + words.joined(separator: ", "),
            ]
        ),
        (
            "{\nmode: 'comand'}",
            ["f:2:7: mode: expected one of \"spot\", \"command\", not 'comand'; did you mean 'command'?"]
        ),
        ("{\nlog: 1}", ["f:2:6: log: expected one of \"error\", \"warning\", \"info\", \"debug\", not 1"]),
        (
            "{channel: [0, 64]}",
            ["f:1:11: channel: expected \"mix\", a channel such as 0, or a list such as [0, 1], not a list"]
        ),
        (
            "{channel: -1}",
            ["f:1:11: channel: expected \"mix\", a channel such as 0, or a list such as [0, 1], not -1"]
        ),
        (
            "{channel: [0, 0]}",
            ["f:1:11: channel: expected \"mix\", a channel such as 0, or a list such as [0, 1], not a list"]
        ),
        ("{limits: {\n\n atOnce: 2.5}}", ["f:3:10: limits.atOnce: expected a whole number from 1 to 64, not 2.5"]),
        ("{limits: {queue: 1e300}}", ["f:1:18: limits.queue: expected a whole number from 1 to 10000, not 1e+300"]),
        (
            "{model: 'Models/commands'}",
            [
                "f:1:9: model: expected a path that begins with /, or the name of a model that comes with the program, such as "
                    + "\"commands\", not 'Models/commands'"
            ]
        ),
        (
            "{actions: [{}, {print: 'x', journal: 'info'}, {print: '{wrd}'}, {journal: 'info', timeout: 3}]}",
            [
                "f:1:12: actions[0]: an action needs one of run, print, journal, unix, webhook, play, and has none",
                "f:1:16: actions[1]: an action needs one of run, print, journal, unix, webhook, play, and has print and journal",
                "f:1:55: actions[2].print: unknown placeholder {wrd}; did you mean {word}?",
                "f:1:83: actions[3].timeout: only goes with run or webhook",
            ]
        ),
        (
            "{actions: [\n{run: 'ls -l'},\n{run: []}]}",
            (2...3).map {
                "f:\($0):7: actions[\($0 - 2)].run: expected a list of a program's absolute path and its arguments, such as "
                    + "[\"/usr/bin/aplay\", \"ding.wav\"], not \($0 == 2 ? "'ls -l'" : "an empty list")"
            }
        ),
        (
            "{actions: [\n{run: ['env']},\n{run: ['no-such-program', 'x']},\n{run: ['/bin/sh', 5]}]}",
            [
                "f:2:8: actions[0].run[0]: expected a program's absolute path, not 'env'; write \"/usr/bin/env\"",
                "f:3:8: actions[1].run[0]: expected a program's absolute path, not 'no-such-program'; no shell is involved, which "
                    + "would look for it",
                "f:4:19: actions[2].run[1]: expected text in quotes, not 5",
            ]
        ),
        (
            "{actions: [{webhook: 'https://127.0.0.1/'},\n{webhook: 'https://example.org/x'},\n{webhook: 'ftp://a/'},"
                + "\n{print: 'x', caFile: '/x', followRedirects: true, directory: '/'}]}",
            [
                "f:2:2: actions[1].webhook: 'example.org' is not this machine; if it is meant, add it to webhookHosts",
                "f:3:11: actions[2].webhook: 'ftp://a/' begins with neither http:// nor https://; an address looks like "
                    + "http://127.0.0.1:8123/path",
                "f:4:14: actions[3].caFile: only goes with webhook",
                "f:4:28: actions[3].followRedirects: only goes with webhook",
                "f:4:51: actions[3].directory: only goes with run",
            ]
        ),
        (
            "{phrases: [{phrase: 'go'},\n{phrase: 'go rihgt'},\n{}]}",
            [
                "f:1:13: phrases[0].phrase: needs a phrase of two words or more, such as \"go left\"",
                "f:2:2: phrases[1].phrase: the model does not know the word 'rihgt'; did you mean 'right'?",
                "f:3:1: phrases[2]: needs a phrase of two words or more, such as \"go left\"",
            ]
        ),
        (
            "{\n cooldown: 1,\n mode: 'spot',\n cooldown: 2}",
            ["f:4:2: cooldown: given twice, on line 2 already; leave one of them out"]
        ),
        (
            "{channel: [0, 3], echo: {reference: 3}}",
            ["f:1:26: echo.reference: is a channel that is listened to; name the one with what is played"]
        ),
        (
            "{device: 'hw:1', echo: {reference: 'hw:1'}}",
            ["f:1:25: echo.reference: is the microphone itself; give the number of its channel with what is played"]
        ),
        (
            "{echo: {reference: '5'}}",
            [
                "f:1:20: echo.reference: expected a channel from 0 to 63, \"speaker\", or a device's name, such as \"hw:Loopback,1\" or "
                    + "\"pipewire:monitor\", not '5'; did you mean 5?"
            ]
        ),
        (
            "{gate: {endMargin: 0.1}}",
            ["f:1:9: gate.endMargin: must not be less than startMargin, or speech would end where it begins"]
        ),
        (
            "{socket: 'beckon.sock'}",
            [
                "f:1:10: socket: expected \"auto\", \"none\", or a socket's path that begins with / and has at most 107 bytes, not 'beckon.sock'"
            ]
        ),
        (
            "{socket: '/run/a', actions: [{unix: '/run/a'}]}",
            ["f:1:31: actions[0].unix: is the control socket; give the stream a path of its own"]
        ),
        ("{\n mode: 'spot'\n log: 'info' }", ["f:2:14: a comma or '}' was expected, not 'l'"]),
        ("[]", ["f:1:1: expected an object in { }, not a list"]),
        ("", ["f:1:1: there is nothing here; write { } at least"]),
    ]

    @Test func `channels as a command line has them`() {
        #expect(Configuration.Channels("mix") == .mix && Configuration.Channels("63") == .only([63]))
        #expect(Configuration.Channels("2,0") == .only([2, 0]))
        for text in ["", "all", "64", "-1", "0,", "0,0", "0;1", "0, 1x"] {
            #expect(Configuration.Channels(text) == nil, "\(text)")
        }
    }

    @Test(arguments: table)
    func `every mistake of a file is reported`(_ row: (text: String, lines: [String])) {
        #expect(Self.errors(row.text) == row.lines)
    }

    @Test func `the reference of an echo is a channel, a device or what is played`() throws {
        typealias Reference = Configuration.Echo.Reference
        #expect(Reference("5") == .channel(5) && Reference("hw:Loopback,1") == .device("hw:Loopback,1"))
        for text in ["", "64", "-1"] { #expect(Reference(text) == nil, "\(text)") }
        var echo = Configuration.Echo()
        echo.reference = .device("pipewire:monitor")
        #expect(echo.settings != nil && echo.device == "pipewire:monitor")
        let text = "{speaker: 'default', echo: {reference: 'speaker'}}"
        let file = try Self.read(text)
        #expect(file.configuration.echo.reference == .speaker && Reference("speaker") == .speaker)
        #expect(file.configuration.echo.settings != nil && file.configuration.echo.device == nil)
        #expect(file.configuration.json.description.contains(#""reference": "speaker""#) && file.warnings == [])
        let warnings = try Self.read("{echo: {reference: 'speaker'}}").warnings.map(\.description)
        #expect(warnings.count == 1 && warnings[0].contains("echo.reference: removes nothing without a speaker"))
    }

    /// Many programs take milliseconds.
    @Test func `a time that is unusually long is questioned, and taken`() throws {
        let run = "actions: [{run: ['/bin/true'], timeout"
        let table: [(String, key: String?, says: String)] = [
            ("{cooldown: 5000}", "cooldown", "this is 83.3 minutes; if milliseconds are meant, write 5"),
            ("{cooldown: 300}", nil, ""), ("{cooldown: 1500}", "cooldown", "write 1.5"),
            ("{words: {yes: {cooldown: 86400}}}", "words.yes.cooldown", "24.0 hours"),
            ("{phrases: [{phrase: 'yes no', cooldown: 2000}]}", "phrases[0].cooldown", "write 2"),
            ("{\(run): 10000}]}", "actions[0].timeout", "write 10"), ("{\(run): 600}]}", nil, ""),
            ("{limits: {timeout: 5000}}", "limits.timeout", "write 5"),
        ]
        for (text, key, says) in table {
            let warnings = try Self.read(text).warnings.map(\.description)
            #expect(warnings.count == (key == nil ? 0 : 1), "\(text) \(warnings)")
            guard let key else { continue }
            #expect(warnings.first?.contains("\(key): is in seconds") == true, "\(text) \(warnings)")
            #expect(warnings.first?.contains(says) == true, "\(text) \(warnings)")
        }
        #expect(try Self.read("{cooldown: 5000}").configuration.cooldown == 5000)
    }

    @Test func `given values are read, the others keep their defaults`() throws {
        let file = try Self.read(
            """
            { trigger: "end", channel: [1, 2], threshold: 0.9, cooldown: 1.5, gate: { quietBefore: 0.5 },
              words: { yes: { threshold: 0.7, actions: [] }, no: { enabled: false } }, clips: { dir: "/var/tmp/c", keep: 3 },
              echo: { reference: 5, filter: 0.2 } }
            """
        )
        var expected = Configuration()
        expected.gate.trigger = .end
        expected.gate.quietBefore = 0.5
        expected.channel = .only([1, 2])
        expected.threshold = 0.9
        expected.cooldown = 1.5
        expected.words = ["yes": .init(), "no": .init()]
        expected.words["yes"]?.threshold = 0.7
        expected.words["yes"]?.actions = []
        expected.words["no"]?.enabled = false
        expected.clips.dir = "/var/tmp/c"
        expected.clips.keep = 3
        (expected.echo.reference, expected.echo.filter) = (.channel(5), 0.2)
        #expect(file.configuration == expected)
        #expect(file.configuration.gate.mode == .command)
        let choices = file.configuration.thresholdChoices
        #expect(choices.all == .confidence(0.9) && choices.words == ["yes": .confidence(0.7)])
        #expect(choices.disabled == ["no"])
    }

    @Test func `addresses of the wake-word server and the satellite, and what is wrong with them`() throws {
        let one = ListenAddress.tcp(host: "127.0.0.1", port: 10_400)
        for (text, addresses) in [
            ("'none'", []), ("[]", []), ("'tcp://127.0.0.1:10400'", [one]),
            ("['tcp://127.0.0.1:10400', 'unix:///run/x']", [one, .unix(path: "/run/x")]),
        ] as [(String, [ListenAddress])] {
            let read = try Self.read("{wyoming: {listen: \(text)}}").configuration
            #expect(read.wyoming.listen == addresses)
            #expect(try Self.read(read.json.description).configuration == read)
        }
        for (text, problem) in [
            ("{wyoming: {listen: 'house.lan:10400'}}", "begins with neither tcp:// nor unix://"),
            ("{wyoming: {listen: ['tcp://1.2.3.4:5', 7]}}", "expected an address"),
            ("{wyoming: {listen: ['unix:///x', 'unix:///x']}}", "names unix:///x twice"),
            ("{wyoming: {listen: 'unix:///x'}, socket: '/x'}", "is the control socket"),
            ("{wyoming: {satellite: ['unix:///x', 'unix:///x'], satelliteWords: []}}", "names unix:///x twice"),
            ("{wyoming: {satellite: 'unix:///x', satelliteWords: []}, socket: '/x'}", "is the control socket"),
            (
                "{wyoming: {listen: 'tcp://127.0.0.1:5', satellite: 'tcp://127.0.0.1:5', satelliteWords: []}}",
                "names tcp://127.0.0.1:5, as wyoming.listen does; choose another address"
            ),
            ("{wyoming: {listen: '0.0.0.0:10400'}}", "write tcp://0.0.0.0:10400"),
            ("{wyoming: {satelliteWords: 'left'}}", "expected"),
            (
                "{wyoming: {satelliteWords: ['yes', 'lft']}}",
                "satelliteWords[1]: the model does not know the word 'lft'"
            ),
            ("{wyoming: {connections: 0}}", "expected a whole number from 1 to 10000"),
            ("{wyoming: {recent: {keep: 101}}}", "expected a whole number from 0 to 100"),
            ("{wyoming: {recent: {quota: 0}}}", "expected a whole number from 1 to 1000"),
            ("{wyoming: {recent: {names: {'kitchen.lan': 'kitchen'}}}}", "names.kitchen.lan: is not an address"),
        ] {
            let errors = Self.errors(text)
            #expect(errors.count == 1 && errors[0].contains("wyoming") && errors[0].contains(problem), "\(errors)")
        }
    }

    @Test func `words of satellites are kept only where it is asked for, and where the page can show them`() throws {
        #expect(Configuration().wyoming.recent.keep == 0)
        let full = "listen: 'tcp://127.0.0.1:10400', recent: {keep: 8, quota: 2, margin: 0.1, names: {'::1': 'here'}}"
        for (text, warns) in [
            ("{wyoming: {\(full)}, web: {listen: 'tcp://127.0.0.1:8080'}}", false), ("{wyoming: {\(full)}}", true),
            ("{wyoming: {recent: {keep: 1}}, web: {listen: 'tcp://127.0.0.1:8080'}}", true),
            ("{wyoming: {recent: {quota: 1}}}", false),
        ] {
            let valid = try ParsedConfiguration(text: text, file: "c").validated(by: KnownWords(["left"]))
            let warnings = valid.warnings.map(\.description).filter {
                $0.contains("wyoming.recent.keep: keeps nothing")
            }
            #expect(warnings.count == (warns ? 1 : 0), "\(text)")
        }
        let recent = try Self.read("{wyoming: {\(full)}}").configuration.wyoming.recent
        #expect(recent.keep == 8 && recent.quota == 2 && recent.margin == 0.1 && recent.names == ["::1": "here"])
    }

    @Test func `words are taken however they are written`() throws {
        let words = ["left", "go", "hey computer"]
        let text = """
            {
                words: {LEFT: {threshold: 0.5}, 'Hey-Computer': {enabled: false}},
                phrases: [{phrase: 'Go Left'}, {phrase: 'go Hey_Computer'}],
                sessions: [{wake: 'hey_computer', words: ['Go']}],
                wyoming: {satellite: 'unix:///x', satelliteWords: ['Left', 'GO_left', 'hey-computer']},
            }
            """
        let file = try ParsedConfiguration(text: text, file: "c").validated(by: KnownWords(words))
        let configuration = file.configuration
        #expect(Set(configuration.words.keys) == ["left", "hey computer"])
        #expect(configuration.words["left"]?.threshold == 0.5)
        #expect(configuration.phrases.map(\.phrase) == ["go left", "go hey computer"])
        #expect(configuration.sessions.first?.wake == "hey computer" && configuration.sessions.first?.words == ["go"])
        #expect(configuration.wyoming.satelliteWords == ["left", "go left", "hey computer"])
        // The same word twice, and one that is near but not equal.
        for text in ["{words: {left: {}, Left: {}}}", "{words: {lef: {}}}"] {
            #expect(throws: ConfigurationError.self) {
                try ParsedConfiguration(text: text, file: "c").validated(by: KnownWords(words))
            }
        }
    }

    @Test func `the server of a satellite is an address or a name, without a port`() throws {
        let good = [
            "192.168.1.20", "2001:db8::7", "fe80::1%eth0", "::ffff:10.0.0.1", "localhost", "homeassistant.local",
            "ha_1",
        ]
        for server in good {
            let text = "{wyoming: {satellite: 'unix:///x', satelliteWords: [], satelliteServer: '\(server)'}}"
            let configuration = try Self.read(text).configuration
            #expect(configuration.wyoming.satelliteServer == server)
        }
        let bad: [(server: String, meant: String?)] = [
            ("tcp://192.168.1.20:10700", "192.168.1.20"), ("http://homeassistant.local:8123/", "homeassistant.local"),
            ("[2001:db8::7]", "2001:db8::7"), ("192.168.1.20:8123", "192.168.1.20"), ("192.168.1", nil),
            ("1.2.3.256", nil),
            ("", nil), ("two words", nil), ("-x", nil), ("a..b", nil),
        ]
        for row in bad {
            let text = "{wyoming: {satellite: 'unix:///x', satelliteWords: [], satelliteServer: '\(row.server)'}}"
            let problems = Self.errors(text)
            #expect(
                problems.count == 1 && problems[0].contains("wyoming.satelliteServer"),
                "\(row.server): \(problems)"
            )
            if let meant = row.meant { #expect(problems[0].contains("\"\(meant)\""), "\(problems)") }
        }
    }

    @Test func `a satellite that reports every word is warned of`() throws {
        func warnings(_ wyoming: String) throws -> [String] {
            try ParsedConfiguration(text: "{wyoming: {\(wyoming)}}", file: "c").validated(by: KnownWords(["left"]))
                .warnings.map(\.description)
        }
        let all = try warnings("satellite: 'unix:///x'")
        #expect(all.count == 1 && all[0].contains("wyoming.satellite: reports every word"), "\(all)")
        #expect(try warnings("satellite: 'unix:///x', satelliteWords: ['left']").isEmpty)
        #expect(try warnings("listen: 'unix:///x'").isEmpty)
    }

    @Test func `the web server's address, names and file, and what is wrong with them`() throws {
        let text =
            "{web: {listen: 'tcp://0.0.0.0:10480', hosts: ['beckon.house'], proxies: ['172.30.32.2']}, metrics: {file: '/x/y.prom', interval: 5}}"
        let read = try Self.read(text).configuration
        #expect(read.web.listen == [.tcp(host: "0.0.0.0", port: 10_480)] && read.web.hosts == ["beckon.house"])
        #expect(read.web.proxies.map(\.text) == ["172.30.32.2"])
        #expect(read.metrics.file == "/x/y.prom" && read.metrics.interval == 5)
        #expect(try Self.read(read.json.description).configuration == read)
        for (text, problem) in [
            ("{web: {listen: 'http://127.0.0.1'}}", "begins with neither tcp:// nor unix://"),
            ("{web: {listen: 8}}", "such as \"tcp://127.0.0.1:10480\""),
            ("{web: {listen: 'unix:///x'}, socket: '/x'}", "web.listen: is the control socket"),
            ("{web: {listen: 'unix:///x'}, wyoming: {listen: 'unix:///x'}}", "names unix:///x, as wyoming.listen does"),
            ("{web: {hosts: ['a/b']}}", "expected a machine's name"),
            ("{web: {proxies: ['proxy.example']}}", "expected an address in numbers"),
            ("{web: {proxies: ['1.2.3.+4']}}", "expected an address in numbers"),
            ("{metrics: {file: '/x/y.txt'}}", "ends with .prom"), ("{metrics: {interval: 0}}", "from 1 to 3600"),
        ] {
            let errors = Self.errors(text)
            #expect(errors.count == 1 && errors[0].contains(problem), "\(errors)")
        }
    }

    @Test func `a word's choice comes before that of all words, and a threshold before a sensitivity`() throws {
        let table: [(text: String, all: ThresholdChoice, yes: ThresholdChoice?, warnings: [String])] = [
            ("{}", .sensitivity(.balanced), nil, []), ("{sensitivity: 'eager'}", .sensitivity(.eager), nil, []),
            (
                "{sensitivity: 'eager', words: {yes: {sensitivity: 'strict'}}}", .sensitivity(.eager),
                .sensitivity(.strict), []
            ),
            ("{threshold: 0.7, words: {yes: {sensitivity: 'strict'}}}", .confidence(0.7), .sensitivity(.strict), []),
            ("{threshold: 0.7, sensitivity: 'balanced'}", .confidence(0.7), nil, []),
            (
                "{threshold: 0.7,\n sensitivity: 'eager'}", .confidence(0.7), nil,
                ["f:2:2: warning: sensitivity: has no effect, as threshold is given too"]
            ),
            (
                "{words: {yes: {sensitivity: 'strict', threshold: 0.6}}}", .sensitivity(.balanced), .confidence(0.6),
                ["f:1:16: warning: words.yes.sensitivity: has no effect, as threshold is given too"]
            ),
            ("{words: {yes: {sensitivity: null}}}", .sensitivity(.balanced), nil, []),
        ]
        for row in table {
            let file = try Self.read(row.text)
            #expect(file.configuration.thresholdChoices.all == row.all, "\(row.text)")
            #expect(file.configuration.thresholdChoices.words["yes"] == row.yes, "\(row.text)")
            #expect(file.warnings.map(\.description) == row.warnings)
        }
    }

    @Test func `a sensitivity that the model has no thresholds for is an error with its line`() throws {
        let folder = try TestFolder()
        let path = try ModelCopy.write("half", ["eager": ["command": 0.5]], in: folder)
        let vocabulary = Vocabulary(try Model(folder: path))
        let start = "the model 'commands' has no thresholds for the sensitivity "
        let end = "; choose one of these, or a threshold such as 0.8"
        let table: [(text: String, lines: [String])] = [
            ("{sensitivity: 'eager'}", []), ("{sensitivity: 'balanced', mode: 'spot'}", []),
            (
                "{mode: 'spot',\n sensitivity: 'eager'}",
                ["f:2:2: sensitivity: \(start)eager in spot mode; it has balanced\(end)"]
            ),
            (
                "{words: {\n yes: {sensitivity: 'strict'}}}",
                ["f:2:8: words.yes.sensitivity: \(start)strict in command mode; it has balanced, eager\(end)"]
            ),
            ("{words: {yes: {sensitivity: 'strict', enabled: false}}}", []),
            ("{threshold: 0.8, sensitivity: 'strict'}", []),
        ]
        for row in table {
            let parsed = try ParsedConfiguration(text: row.text, file: "f")
            var lines: [String] = []
            do {
                _ = try parsed.validated(by: KnownWords(Self.words, vocabulary: vocabulary))
            } catch {
                lines = error.problems.filter { !$0.isWarning }.map(\.description)
            }
            #expect(lines == row.lines, "\(row.text)")
        }
        #expect(
            Self.errors("{sensitivity: 'stirct'}") == [
                "f:1:15: sensitivity: expected one of \"strict\", \"balanced\", \"eager\", not 'stirct'; did you mean 'strict'?"
            ]
        )
        for text in ["0.5", "'0.5'", "'50%'", "50"] {
            let error = Self.errors("{sensitivity: \(text)}").first ?? ""
            #expect(error.hasSuffix("did you mean threshold: 0.5, where higher is stricter?"), "\(error)")
        }
    }

    @Test func `confirming networks are used unless the configuration or an option says otherwise`() throws {
        #expect(try Self.read("{}").configuration.confirms && Self.read("{confirm: true}").configuration.confirms)
        #expect(try !Self.read("{confirm: false}").configuration.confirms)
        #expect(Self.errors("{confirm: 'no'}").map { $0.prefix(15) } == ["f:1:11: confirm"])
        let unchecked = try ParsedConfiguration(text: "{confirm: true}", file: "f").unchecked
        #expect(unchecked.confirms() && !unchecked.confirms { $0.confirms = false })
    }

    @Test func `a password that every user can read is a warning`() throws {
        let folder = try TestFolder()
        let path = try folder.write("password", bytes: Array("secret".utf8))
        func warnings(_ mode: mode_t) throws -> [String] {
            #expect(chmod(path, mode) == 0)
            let text = "{mqtt: {host: 'broker', passwordFile: '\(path)'}}"
            return try ParsedConfiguration(text: text, file: "f").validated(by: KnownWords(Self.words)).warnings.map(
                \.description
            )
        }
        #expect(try warnings(0o600) == [] && warnings(0o640) == [] && warnings(0o400) == [])
        for mode in [0o644, 0o604, 0o666] as [mode_t] {
            let warnings = try warnings(mode)
            #expect(warnings.count == 1 && warnings[0].contains("mqtt.passwordFile"), "\(warnings)")
            #expect(warnings.first?.contains("which holds a secret; try chmod o-r") == true)
        }
    }

    @Test(arguments: [
        ("{mqtt: {host: 'a', tls: true, caFile: '/no/such.pem'}}", ["mqtt.caFile: no such file: /no/such.pem"]),
        ("{mqtt: {host: 'a', passwordFile: '/no/such'}}", ["mqtt.passwordFile: no such file: /no/such"]),
        ("{mqtt: {host: 'a', passwordFile: '/run/credentials/beckon.service/mqtt'}}", []),
        ("{mqtt: {host: 'a', tls: true, caFile: '/etc/passwd'}}", [noCertificate]),
        (
            "{mqtt: {host: 'a', caFile: '/etc/passwd'}}",
            [noCertificate, "mqtt.caFile: has no effect without tls: true"]
        ),
    ])
    func `files that the broker's connection lacks are warnings`(_ text: String, _ warnings: [String]) throws {
        #expect(try Self.read(text).warnings.map { "\($0.key): \($0.message)" } == warnings)
    }

    private static let noCertificate =
        "mqtt.caFile: /etc/passwd does not serve: it holds no certificate in PEM format (-----BEGIN CERTIFICATE-----)"

    @Test func `missing programs are warnings`() throws {
        let folder = try TestFolder()
        let text = try folder.write("plain.txt", bytes: [65])
        let file = try Self.read(
            """
            { actions: [ { run: ["/usr/bin/env"] },
              { run: ["\(folder.file("none"))"] },
              { run: ["\(text)"] },
              { run: ["/usr/bin"], directory: "/nowhere" } ] }
            """
        )
        #expect(
            file.warnings.map(\.description) == [
                "f:2:5: warning: actions[1].run: no such program: \(folder.file("none"))",
                "f:3:5: warning: actions[2].run: may not be executed: \(text); try chmod +x",
                "f:4:5: warning: actions[3].run: is a folder, not a program: /usr/bin",
                "f:4:24: warning: actions[3].directory: no such folder: /nowhere",
            ]
        )
        #expect(file.configuration.actions.count == 4)
    }

    @Test func `a key is read under its former name, with a warning that names the new one`() throws {
        let file = try Self.read("{\n gate: {\n  breath: 0.2 } }")
        #expect(file.configuration.gate.trailingSilence == 0.2)
        #expect(
            file.warnings.map(\.description) == [
                "f:3:3: warning: gate.breath: is now called 'trailingSilence'; rename it"
            ]
        )
        #expect(file.configuration.json.description.contains("\"trailingSilence\": 0.2"))
        #expect(
            Self.errors("{gate: {breath: 0.2,\ntrailingSilence: 0.1}}") == [
                "f:1:9: gate.breath: given as 'trailingSilence' too, its new name; leave this one out"
            ]
        )
    }

    @Test func `a phrase that is given twice is warned of`() throws {
        let file = try Self.read("{phrases: [{phrase: 'go left'},\n{phrase: ' go  left '}]}")
        #expect(
            file.warnings.map(\.description) == [
                "f:2:2: warning: phrases[1].phrase: is the same as phrases[0], whose actions apply"
            ]
        )
        #expect(file.configuration.phrases.count == 2)
    }

    @Test func `certificates of authorities that do not serve are reported`() throws {
        let folder = try TestFolder()
        try folder.write("ca.pem", bytes: Array("-----BEGIN CERTIFICATE-----\nMIIB\n".utf8))
        try folder.write("ca.der", bytes: [0x30, 0x82])
        func warnings(_ action: String) throws -> [String] {
            try Self.read("{actions: [{\(action)}]}").warnings.map(\.description)
        }
        let hook = "webhook: 'https://127.0.0.1/', caFile: '\(folder.path)"
        #expect(try warnings("\(hook)/ca.pem', followRedirects: true") == [])
        #expect(try warnings("webhook: 'https://127.0.0.1/', caFile: '/run/credentials/beckon.service/ca'") == [])
        for (action, problem) in [
            ("\(hook)/none.pem'", "no such file: \(folder.path)/none.pem"),
            ("\(hook)/ca.der'", "\(folder.path)/ca.der does not serve: it holds no certificate in PEM format"),
            ("webhook: 'http://127.0.0.1/', caFile: '\(folder.path)/ca.pem'", "has no effect without https"),
        ] {
            let said = try warnings(action)
            #expect(said.count == 1 && said[0].contains("warning: actions[0].caFile: \(problem)"), "\(said)")
        }
        let broker = try Self.read("{mqtt: {host: 'a', tls: true, caFile: '\(folder.path)/ca.der'}}")
        #expect(
            broker.warnings.contains { $0.description.contains("mqtt.caFile: \(folder.path)/ca.der does not serve") }
        )
    }

    @Test func `an action of https is written as it was read`() throws {
        let text = "{actions: [{webhook: 'https://127.0.0.1/', caFile: '/a.pem', followRedirects: true, timeout: 2}]}"
        let configuration = try Self.read(text).configuration
        #expect(
            configuration.actions.first?.effect
                == .webhook(try WebAddress("https://127.0.0.1/"), caFile: "/a.pem", followsRedirects: true)
        )
        let shown = configuration.json.description
        #expect(shown.contains("\"caFile\": \"/a.pem\", \"followRedirects\": true, \"timeout\": 2"), "\(shown)")
    }

    @Test func `a sound is a file that can be played, and needs a speaker`() throws {
        let folder = try TestFolder()
        try folder.write("ding.flac", format: 0x170002, rate: 44_100, [Float](repeating: 0.1, count: 4410))
        try folder.write("tone.wav", format: 0x10002, [Float](repeating: 0.1, count: 1600))
        try folder.write("cut.wav", bytes: Array(try folder.bytes("tone.wav").prefix(1000)))
        try folder.write("text.wav", bytes: Array("no audio at all".utf8))
        let ding = "words: {yes: {actions: [{play: '\(folder.file("ding.flac"))'}]}}"
        let file = try Self.read("{speaker: 'default', \(ding)}")
        #expect(file.warnings == [] && file.configuration.speaker == "default")
        #expect(file.configuration.words["yes"]?.actions == [Action(.play(folder.file("ding.flac")))])
        #expect(file.configuration.json.description.contains("\"play\": \"\(folder.file("ding.flac"))\""))
        let without = try Self.read("{\(ding)}").warnings
        #expect(
            without.map(\.description) == [
                "f:1:27: warning: words.yes.actions[0].play: is not heard without a speaker; name its device with the key speaker, or --speaker"
            ]
        )
        for name in ["none.wav", "cut.wav", "text.wav"] {
            let error = #expect(throws: ConfigurationError.self) {
                try Self.read("{speaker: 'default',\nactions: [{play: '\(folder.file(name))'}]}")
            }
            let said = error?.description ?? ""
            #expect(said.hasPrefix("f:2:12: actions[0].play: "), "\(said)")
            #expect(said.contains("'\(folder.file(name))'") && !said.contains("\n"), "\(said)")
        }
        for (text, problem) in [
            ("{actions: [{play: 'ding.wav'}]}", "f:1:19: actions[0].play: expected a path that begins with /"),
            ("{speaker: ''}", "f:1:11: speaker: expected a device's name, such as \"default\", not ''"),
            (
                "{actions: [{play: '\(folder.file("tone.wav"))', timeout: 3}]}",
                "actions[0].timeout: only goes with run or webhook"
            ),
        ] {
            let error = #expect(throws: ConfigurationError.self) { try Self.read(text) }
            #expect(error?.description.contains(problem) == true, "\(error?.description ?? "")")
        }
    }

    @Test func `a listed host may be posted to`() throws {
        let text = "{webhookHosts: ['Example.org'], actions: [{webhook: 'http://example.ORG:8080/x?y=1'}]}"
        #expect(try Self.read(text).configuration.actions.first?.name == "webhook http://example.ORG:8080/x?y=1")
    }

    @Test func `paths that are not files`() throws {
        let folder = try TestFolder()
        mkfifo(folder.file("pipe"), 0o600)
        try folder.write("latin.json5", bytes: [0x7B, 0xE9, 0x7D])
        for (path, says) in [
            (folder.file("none"), "No such file"), (folder.path, "is not a file"),
            (folder.file("pipe"), "is not a file"),
            (folder.file("latin.json5"), "UTF-8"), ("/dev/zero", "is not a file"),
        ] {
            let error = #expect(throws: ConfigurationError.self) {
                try ParsedConfiguration(path: path).validated(by: KnownWords(Self.words))
            }
            let text = error?.description ?? ""
            #expect(text.hasPrefix(path) && text.contains(says), "\(text)")
        }
    }

    @Test func `random text never traps the parser`() throws {
        let sample = Array(
            try String(contentsOfFile: SampleTests.path, encoding: .utf8).replacing("//", with: "").unicodeScalars
        )
        var generator = SplitMix(seed: 11)
        let signs = Array("{}[]:,'\"\\/*\n-+.0eExuN9\u{0}\u{feff}\u{d7ff}".unicodeScalars)
        var refused = 0
        for _ in 0..<300 {
            let start = Int.random(in: 0..<sample.count, using: &generator)
            var text = Array(sample[start...].prefix(400))
            for _ in 0..<Int.random(in: 0...4, using: &generator) where !text.isEmpty {
                let place = Int.random(in: 0..<text.count, using: &generator)
                text[place] = signs.randomElement(using: &generator) ?? "{"
            }
            let whole = "{" + String(String.UnicodeScalarView(text)) + "}"
            if !Self.errors(whole).isEmpty { refused += 1 }
        }
        #expect(refused > 100)
    }

    @Test func `the user's configuration file comes first`() throws {
        let folder = try TestFolder()
        let system = try folder.write("system.json5", bytes: Array("{}".utf8))
        let environment = ["XDG_CONFIG_HOME": folder.file("home"), "HOME": "/nowhere"]
        #expect(ConfigurationFile.find(environment: environment, systemPath: system) == system)
        try folder.folder("home/beckon")
        let own = try folder.write("home/beckon/config.json5", bytes: Array("{}".utf8))
        #expect(ConfigurationFile.find(environment: environment, systemPath: system) == own)
        #expect(ConfigurationFile.find(environment: ["XDG_CONFIG_HOME": "here"], systemPath: folder.file("no")) == nil)
        #expect(ConfigurationFile.userPath(environment: ["HOME": "/home/a"]) == "/home/a/.config/beckon/config.json5")
    }

    @Test func `a model that cannot be read is reported with its key`() {
        struct Broken: Error, CustomStringConvertible { let description = "no model here" }
        let error = #expect(throws: ConfigurationError.self) {
            try ParsedConfiguration(text: "{\n\n model: '/m', words: {yess: {}}}", file: "f").validated {
                configuration in
                #expect(configuration.model == "/m")
                throw Broken()
            }
        }
        #expect(error?.description == "f:3:2: model: no model here")
        // Of an option, the file says nothing.
        let other = #expect(throws: ConfigurationError.self) {
            try ParsedConfiguration(text: "{mode: 'spot'}", file: "f").validated { _ in throw Broken() }
        }
        #expect(other?.description == "no model here")
    }

    @Test func `of very many mistakes the first hundred are reported`() throws {
        let many = Self.errors("{" + (0..<5000).map { "\n tresholt\($0): 1," }.joined() + "}")
        #expect(many.count == 101 && many.first?.hasPrefix("f:2:2: tresholt0: unknown key") == true)
        #expect(many.last == "f: 100 problems or more; the rest of the file was not checked")
        let words = Self.errors("{words: {" + (0..<5000).map { "w\($0): {}," }.joined() + "}}")
        #expect(words.count == 101)
        let phrases = Self.errors("{phrases: [" + String(repeating: "{phrase: 'go lefd'},", count: 5000) + "]}")
        #expect(phrases.count == 101)
        let twice = Self.errors("{words: {" + String(repeating: "yes: {},", count: 5000) + "}}")
        #expect(twice.count == 101)
        // Warnings alone do not hide an error that comes after them.
        let warned = Self.errors(
            "{gate: {" + String(repeating: "breath: 1,", count: 1) + "}, actions: ["
                + String(repeating: "{run: ['/no/such']},", count: 200) + "], treshold: 1}"
        )
        #expect(warned.count == 101)
    }

    @Test func `long names cost no time and no long messages`() throws {
        let long = String(repeating: "x", count: 200_000)
        for text in [
            "{phrases: [{phrase: '\(String(repeating: "a ", count: 100_000))'}]}", "{\(long): 1}", "{mode: '\(long)'}",
            "{words: {\(long): {}}}", "{phrases: [{phrase: '\(long) go'}]}",
            "{threshold: \(long)}", "{actions: [{print: '{\(long)}'}]}", "{actions: [{webhook: 'ftp://\(long)'}]}",
        ] {
            let errors = Self.errors(text)
            #expect((1...2).contains(errors.count) && errors[0].count < 1000, "\(text.prefix(30)): \(errors[0].count)")
        }
    }

    @Test func `a file that is too large is refused with one line`() throws {
        let folder = try TestFolder()
        let path = try folder.write("c", bytes: Array("{}".utf8) + [UInt8](repeating: 32, count: 256 << 10))
        let error = #expect(throws: ConfigurationError.self) { try ParsedConfiguration(path: path) }
        #expect(error?.description == "\(path): is too large for a configuration (256 KiB at most)")
    }

    @Test func `who else may write the file is told`() throws {
        let folder = try TestFolder()
        let home = try folder.folder("home")
        let path = try folder.write("home/c", bytes: Array("{}".utf8))
        func warnings() throws -> [String] {
            try ParsedConfiguration(path: path).validated(by: KnownWords(Self.words)).warnings.map(\.message)
        }
        chmod(home, 0o755)
        chmod(path, 0o644)
        #expect(try warnings() == [])
        chmod(path, 0o666)
        #expect(try warnings() == ["everybody may write this file, which names programs to run; try chmod go-w"])
        chmod(path, 0o660)
        #expect(
            try warnings() == ["the group \(getegid()) may write this file, which names programs to run; try chmod g-w"]
        )
        chmod(path, 0o600)
        chmod(home, 0o777)
        #expect(
            try warnings() == ["everybody may write to the folder \(home) and replace this file; try chmod go-w"]
        )
        chmod(home, 0o1777)
        #expect(try warnings() == [], "the sticky bit protects the file, as in /tmp")
        chmod(home, 0o755)
        // The same file in the eyes of another user.
        let stranger = trustDoubts(path, try FileStatus(path: path), user: geteuid() + 1)
        let isRoot = geteuid() == 0
        #expect(stranger.count == (isRoot ? 0 : 2))
        if !isRoot { #expect(stranger[0].hasPrefix("another user (\(geteuid())) owns this file")) }
    }

    @Test func `a phrase may hold words of several words, and goes with them`() throws {
        let text =
            "{words: {'hey house': {threshold: 0.6}}, phrases: [{phrase: 'hey house stop'}, {phrase: 'go left'}]}"
        let known = Self.words + ["hey house"]
        var configuration = try ParsedConfiguration(text: text, file: "f").validated(by: KnownWords(known))
            .configuration
        #expect(configuration.leaveOut(wordsBeside: known) == [])
        #expect(configuration.phrases.map(\.phrase) == ["hey house stop", "go left"])
        let phrases = try configuration.detectorPhrases(labels: known)
        #expect(phrases.first?.labels.map { known[$0] } == ["hey house", "stop"])
        #expect(configuration.leaveOut(wordsBeside: Self.words) == ["hey", "hey house", "house"])
        #expect(configuration.phrases.map(\.phrase) == ["go left"])
    }
}
