import Core
import Foundation
import Inference
import TestSupport
import Testing

/// Descriptions with one mistake each: each gives an error that names the key or layer, and never a trap.
struct ModelValidationTests {
    private let description: [String: Any]
    private let weights: [UInt8]

    init() throws {
        let folder = Folders.fixtures.appendingPathComponent("streaming")
        let json = try Data(contentsOf: folder.appendingPathComponent("model.json"))
        description = try JSONSerialization.jsonObject(with: json) as? [String: Any] ?? [:]
        weights = [UInt8](try Data(contentsOf: folder.appendingPathComponent("model.safetensors")))
    }

    private func error(_ json: Any) -> ModelError? {
        guard let data = try? JSONSerialization.data(withJSONObject: json) else { return nil }
        return error(bytes: Array(data))
    }

    private func error(bytes: [UInt8]) -> ModelError? {
        do {
            let model = try Model(description: bytes, weights: weights)
            var session = InferenceStream(model)
            let samples = [Float](repeating: 0.1, count: model.windowSamples)
            session.score(window: samples.span)
            session.scoreWhole(window: samples.span)
            return nil
        } catch {
            #expect(!error.message.contains("\n") && error.message.count < 500, "\(error.message)")
            #expect(error.message.hasPrefix("model.json:") || error.message.hasPrefix("model.safetensors: "))
            return error
        }
    }

    /// The description with one value of one layer changed; nil removes it.
    private func with(layer: String, _ key: String, _ value: Any?) -> [String: Any] {
        var changed = description
        var layers = description["layers"] as? [[String: Any]] ?? []
        for index in layers.indices where layers[index]["name"] as? String == layer { layers[index][key] = value }
        changed["layers"] = layers
        return changed
    }

    private func with(_ key: String, _ value: Any?, frontEnd: Bool = false) -> [String: Any] {
        var changed = description
        if frontEnd {
            var front = description["frontEnd"] as? [String: Any] ?? [:]
            front[key] = value
            changed["frontEnd"] = front
        } else {
            changed[key] = value
        }
        return changed
    }

    @Test func `the fixture itself is valid`() {
        #expect(error(description) == nil)
    }

    @Test func `a missing key is an error that names it`() {
        for key in description.keys where !["embedding", "activity"].contains(key) {
            let error = error(with(key, nil))
            #expect(error == .description && error?.message.contains("“\(key)”") == true, "\(key)")
        }
        for key in TestNetwork.logMel.keys {
            let error = error(with(key, nil, frontEnd: true))
            #expect(error == .description && error?.message.contains(key) == true, "\(key)")
        }
    }

    @Test func `a value of another type is an error that names it`() {
        let strange: [Any] = [NSNull(), "text", -1, 0, 1e300, 0.5, [1, 2], ["a": 1], true, Int.max, Int.min]
        for value in strange {
            for key in description.keys { _ = error(with(key, value)) }
            for key in TestNetwork.logMel.keys { _ = error(with(key, value, frontEnd: true)) }
            for layer in description["layers"] as? [[String: Any]] ?? [] {
                for key in layer.keys { _ = error(with(layer: layer["name"] as? String ?? "", key, value)) }
            }
        }
        #expect(error(with("sampleRate", "fast"))?.message.contains("“sampleRate”") == true)
        #expect(error(with("labels", 7))?.message.contains("“labels”") == true)
        #expect(error(with(layer: "stem", "kernel", "five"))?.message.contains("layers[0].kernel") == true)
    }

    @Test func `an error tells line and column`() {
        func message(_ text: String) -> String {
            do throws(ModelError) {
                _ = try ModelDescription(json: Array(text.utf8), file: "model.json")
                return ""
            } catch {
                return error.message
            }
        }
        #expect(message("{\n  \"format\": 1,\n}").hasPrefix("model.json:3:1: a key was expected, not '}'"))
        #expect(message("{\n  format: 1\n}").hasPrefix("model.json:2:3: a key was expected, not 'f'"))
        #expect(message("[]").hasPrefix("model.json:1:1: the document is not "))
        #expect(
            message("{\n \"format\": \"a\",\n \"version\": \"1\"}").hasPrefix(
                "model.json:3:13: key “version” is not a whole number"
            )
        )
        #expect(message("{\n \"format\": \"a\"}").hasPrefix("model.json:1:1: key “version” is missing"))
    }

    @Test func `numbers out of range are errors that name them`() {
        func contrast(_ changes: [String: Any]) -> (String, Any) {
            ("clipContrast", ["from": 5, "to": 9, "over": 3, "lead": 4].merging(changes) { $1 })
        }
        #expect(error(with(contrast([:]).0, contrast([:]).1)) == nil)
        let cases: [(String, Any)] = [
            ("format", "other-model"), ("version", 0), ("version", 3), ("temperature", 0), ("temperature", -1),
            ("temperature", 1e9),
            ("clipContrast", [5, 9]), ("clipContrast", "loud"), ("clipContrast", ["from": 5, "to": 9]),
            contrast(["from": 9, "to": 5]), contrast(["from": -1]), contrast(["to": 101]),
            contrast(["over": 0]), contrast(["over": -1]), contrast(["over": 5]),
            contrast(["lead": -1]), contrast(["lead": 76]), contrast(["lead": "long"]),
            ("clipTemperature", 0), ("clipTemperature", 1e9), ("clipTemperature", "warm"),
            ("clipShifts", 1), ("clipShifts", []), ("clipShifts", [0, 0, 0, 0, 76]), ("clipShifts", "much"),
            ("sampleRate", 0), ("windowSamples", 0), ("windowSamples", 1 << 40), ("windowSamples", 100),
            ("hopSamples", 0), ("hopSamples", -1600), ("hopSamples", 16001), ("hopSamples", 1500),
            ("labels", []), ("labels", ["yes", "_silence_", "_unknown_"]), ("labels", ["_unknown_", "_silence_"]),
            ("labels", ["yes", "yes", "_unknown_", "_silence_"]), ("labels", ["a b", "_unknown_", "_silence_"]),
            ("labels", ["ye\u{202E}s", "_unknown_", "_silence_"]),
            ("labels", ["yes\u{200D}", "_unknown_", "_silence_"]),
            ("outputLabels", []), ("outputLabels", ["other"]), ("output", "nothing"), ("embedding", "nothing"),
            ("thresholds", ["other": 0.5]), ("thresholds", ["yes": 0]), ("thresholds", ["yes": 1]),
            ("thresholds", ["_silence_": 0.5]), ("layers", []),
        ]
        for (key, value) in cases { #expect(error(with(key, value)) == .description, "\(key): \(value)") }
        #expect(error(with("output", "stem")) == .layer)
        #expect(error(with("embedding", "sum")) == .layer)
        #expect(error(with("activity", "nothing")) == .description)
        let frontEnd: [(String, Any)] = [
            ("kind", "wavelet"), ("fftSize", 500), ("fftSize", 32), ("fftSize", 8192), ("fftSize", -512),
            ("frameSamples", 0), ("frameSamples", 513), ("hopSamples", 0), ("hopSamples", -1), ("bands", 0),
            ("bands", 1 << 30), ("lowHertz", -1), ("lowHertz", 7600), ("highHertz", 9000), ("floor", 0),
            ("floor", -1), ("floor", 1e-60), ("deviation", 0), ("deviation", 1e-50), ("mean", 1e60),
        ]
        for (key, value) in frontEnd {
            let error = error(with(key, value, frontEnd: true))
            #expect(error == .description && error?.message.contains(key) == true, "\(key): \(value)")
        }
    }

    @Test func `sensitivities are checked, and errors name the key`() throws {
        /// Thresholds of `yes` and `no`, with further members.
        func part(_ yes: Any?, _ no: Any?, _ others: [String: Any] = [:]) -> [String: Any] {
            var thresholds: [String: Any] = [:]
            thresholds["yes"] = yes
            thresholds["no"] = no
            thresholds["go"] = 0.8
            return others.merging(["thresholds": thresholds]) { $1 }
        }
        func measured(_ members: [String: Any]) -> [String: Any] {
            ["strict": ["spot": part(0.9, 0.9, ["measured": members])]]
        }
        let good: [[String: Any]] = [
            [:], ["strict": [:]], ["eager": ["command": part(0.5, 0.5)]],
            [
                "strict": ["spot": part(0.7, 0.8)], "balanced": ["spot": part(0.7, 0.8)],
                "eager": ["spot": part(0.7, 0.1)],
            ],
            measured(["falseAcceptsPerHour": 0.1]),
            measured([
                "falseAcceptsPerHour": 0, "falseAcceptsPerHourInterval": [0, 1.5], "recall": 0.5,
                "recallInterval": [0.5, 0.5], "hours": 2.5,
            ]),
        ]
        for sensitivities in good {
            #expect(error(with("sensitivities", sensitivities)) == nil, "\(sensitivities)")
        }
        let key = "sensitivities.strict.spot"
        let bad: [([String: Any], key: String, says: String)] = [
            (["lax": [:]], "sensitivities", "“lax” is not one of strict, balanced, eager"),
            (["strict": ["talk": part(0.9, 0.9)]], "sensitivities.strict", "“talk” is neither spot nor command"),
            (["strict": ["spot": [:] as [String: Any]]], key + ".thresholds", "missing"),
            (["strict": ["spot": part(0.9, nil)]], key + ".thresholds", "“no” is missing; every word needs one"),
            (["strict": ["spot": part(0.9, 1)]], key + ".thresholds", "1.0 of “no” is not between 0 and 1"),
            (["strict": ["spot": part(0.9, "much")]], key + ".thresholds.no", "not a number"),
            (["strict": ["spot": part(0.69, 0.9)]], key + ".thresholds", "“yes” has a lower threshold at strict, 0.69"),
            (
                ["eager": ["command": part(0.7, 0.86)]], "sensitivities.eager.command.thresholds",
                "“no” has a lower threshold at balanced, 0.85, than at eager, 0.86"
            ),
            (
                ["strict": ["spot": part(0.8, 0.8)], "balanced": ["spot": part(0.9, 0.8)]], key + ".thresholds",
                "“yes” has a lower threshold at strict"
            ),
            (measured([:]), key + ".measured.falseAcceptsPerHour", "missing"),
            (measured(["falseAcceptsPerHour": -1]), key + ".measured.falseAcceptsPerHour", "-1.0 is not from 0.0"),
            (
                measured(["falseAcceptsPerHour": 1, "recall": 1.5]), key + ".measured.recall",
                "1.5 is not from 0.0 to 1.0"
            ),
            (
                measured(["falseAcceptsPerHour": 1, "recallInterval": [0.9, 0.8]]), key + ".measured.recallInterval",
                "two numbers, the lower one first"
            ),
            (
                measured(["falseAcceptsPerHour": 1, "falseAcceptsPerHourInterval": [1]]),
                key + ".measured.falseAcceptsPerHourInterval", "two numbers"
            ),
        ]
        for (sensitivities, key, says) in bad {
            let error = error(with("sensitivities", sensitivities))
            #expect(error == .description, "\(sensitivities)")
            let message = error?.message ?? ""
            #expect(message.contains("“\(key)”") && message.contains(says), "\(key), \(says): \(message)")
        }
    }

    @Test func `a model has the thresholds of the sensitivities and modes that it gives`() throws {
        var network = TestNetwork.medium()
        network.json["sensitivities"] = [
            "strict": ["spot": ["thresholds": ["yes": 0.9, "no": 0.95]]],
            "balanced": ["command": ["thresholds": ["yes": 0.6, "no": 0.75]]],
        ]
        let thresholds = try network.model().thresholds
        #expect(thresholds[.strict, .spot]?.prefix(2) == [0.9, 0.95])
        #expect(thresholds[.strict, .command] == nil)
        #expect(thresholds[.balanced, .spot]?.prefix(2) == [0.7, 0.8])
        #expect(thresholds[.balanced, .command]?.prefix(2) == [0.6, 0.75])
        #expect(thresholds.sensitivities(mode: .spot) == [.strict, .balanced])
        #expect(thresholds.sensitivities(mode: .command) == [.balanced])
    }

    @Test func `layers that do not fit are errors that name them`() {
        let cases: [(String, String, Any)] = [
            ("stem", "input", "stem"), ("stem", "input", "depth"), ("stem", "input", "nowhere"), ("stem", "in", 39),
            ("stem", "kernel", 0), ("stem", "kernel", -1), ("stem", "kernel", 80), ("stem", "kernel", 65_537),
            ("stem", "stride", 0), ("stem", "stride", 3), ("stem", "stride", 1 << 53), ("stem", "dilation", 0),
            ("stem", "dilation", 65_536), ("stem", "groups", 7), ("stem", "groups", 0), ("stem", "out", 0),
            ("stem", "out", 1 << 53), ("stem", "out", -24), ("point", "groups", 3), ("down1", "kernel", 6),
            ("cut", "start", 75), ("cut", "start", -1), ("cut", "end", 1 << 53), ("cut", "start", 1),
            ("sum", "inputs", ["point"]), ("sum", "inputs", []), ("sum", "inputs", ["point", "stem"]),
            ("sum", "inputs", ["point", "sum"]), ("pool", "columns", 0), ("pool", "columns", 7),
            ("pool", "columns", -1), ("pool", "op", "flatten"), ("hidden", "name", "stem"), ("stem", "name", "input"),
            ("logits", "in", 22),
        ]
        for (layer, key, value) in cases {
            let error = error(with(layer: layer, key, value))
            #expect(error == .layer, "\(layer).\(key): \(value): \(error?.message ?? "loaded")")
            #expect(error?.message.contains("layer “") == true, "\(error?.message ?? "")")
        }
        #expect(error(with(layer: "stem", "op", "attention")) == .description)
        #expect(error(with(layer: "stem", "activation", "tanh")) == .description)
        // Layers that fit each other, but not the weights file.
        for (layer, key, value) in [("depth", "name", "other"), ("skip", "name", "other")] {
            #expect(error(with(layer: layer, key, value)) == .layer)
        }
        #expect(error(with(layer: "wide", "dilation", 1)) != nil)
        #expect(error(with(layer: "hidden", "out", 20)) == .layer)
        #expect(error(with(layer: "stem", "kernel", 7)) != nil)
    }

    @Test func `an activity layer that does not fit a hop is an error that names it`() {
        let cases: [([String: Any], String, String)] = [
            (with("activity", "down1"), "down1", "one channel, not 40"),
            (with("activity", "logits"), "logits", "one channel, not 7"),
            (with(layer: "voice", "out", 2), "voice", "one channel, not 2"),
            (with("streaming", false), "voice", "streaming is false"),
            // The window has one column, so that a hop cannot bring four.
            (with(layer: "voice.hidden", "kernel", 33), "voice", "4 new columns, but has 1"),
        ]
        for (changed, layer, message) in cases {
            let error = error(changed)
            #expect(error == .layer && error?.message.contains("layer “\(layer)”: as “activity”") == true)
            #expect(error?.message.contains(message) == true, "\(error?.message ?? "loaded")")
        }
        // Without the key the same layers are valid.
        var changed = with("streaming", false)
        changed["activity"] = nil
        #expect(error(changed) == nil)
    }

    @Test func `models that are too large are refused`() {
        var network = TestNetwork()
        network.conv("a", "input", 40, 1 << 22)
        #expect(throws: ModelError.size) { try Model(description: network.description, weights: weights) }
        network = TestNetwork()
        network.conv("a", "input", 40, 1 << 20, kernel: 79)
        network.dense("b", "a", 1 << 20, 1 << 20)
        #expect(throws: ModelError.size) { try Model(description: network.description, weights: weights) }
        // Within the limits, but the weights are missing: no memory may be allocated for the sizes in the description.
        network = TestNetwork()
        network.conv("a", "input", 40, 80_000, kernel: 79)
        network.dense("logits", "a", 80_000, 5)
        #expect(throws: ModelError.tensor) { try Model(description: network.description, weights: weights) }
    }

    @Test func `missing and unreadable files are named`() {
        for folder in ["/nowhere", "/dev/null", Folders.tests.path, ""] {
            do {
                _ = try Model(folder: folder)
                Issue.record("loaded \(folder)")
            } catch {
                #expect(error == .unreadable && error.message.contains(folder + "/model.json"))
            }
        }
        #expect(throws: ModelError.unreadable) { try SafeTensors(path: "/dev/zero") }
        #expect(throws: ModelError.unreadable) { try SafeTensors(path: "/tmp") }
    }

    @Test func `text that is not a description is refused`() throws {
        let texts = ["", "{", "[]", "null", "7", "\u{0}", "{}", String(repeating: "[", count: 100_000)]
        for text in texts { #expect(error(bytes: Array(text.utf8)) == .description) }
        let json = Array(try JSONSerialization.data(withJSONObject: description))
        #expect(error(bytes: Array(json.dropLast())) == .description)
        for index in stride(from: 0, to: json.count, by: 97) { _ = error(bytes: Array(json[..<index])) }
        #expect(error(bytes: [0xFF, 0xFE] + json) == .description)
        #expect(error(bytes: json.map { $0 == 0x79 ? 0xC3 : $0 }) == .description)
    }

    @Test func `hundreds of random changes never trap`() throws {
        let json = Array(try JSONSerialization.data(withJSONObject: description))
        let alphabet = Array("0123456789-+.eE{}[],:\"\\tfn \u{0}é".utf8)
        var random = SplitMix(seed: 71)
        for _ in 0..<600 {
            var changed = json
            for _ in 0...random.int(0...3) {
                changed[random.int(0...(json.count - 1))] = alphabet[random.int(0...(alphabet.count - 1))]
            }
            _ = error(bytes: changed)
        }
    }
}
