import Core
import Foundation
import Glibc
import Inference
import KernelInterface
import Kernels
import TestSupport
import Testing

/// Confirming networks against PyTorch's answers, and the fusion of their answers.
struct ConfirmingTests {
    private static let folder = Folders.fixtures.appendingPathComponent("confirming")

    /// The windows of `confirm-reference.safetensors`, in the middle of the stored ones.
    private struct Answers {
        let file: SafeTensors
        private let waves: [[Float]]

        init(_ folder: URL) throws {
            file = try SafeTensors(path: folder.appendingPathComponent("confirm-reference.safetensors").path)
            waves = try Reference.waveforms(file)
        }

        func windows(_ samples: Int) -> [[Float]] {
            waves.map { Array($0.dropFirst(($0.count - samples) / 2).prefix(samples)) }
        }
    }

    /// The largest differences of features and logits from PyTorch's: of all networks of a model, and by network.
    private func errors(_ folder: URL, _ set: InstructionSet, _ precision: Precision) throws -> (
        feature: Float, logits: [String: Float]
    ) {
        let model = try Model(folder: folder.path, kernels: set, precision: precision)
        let answers = try Answers(folder)
        var (feature, worst): (Float, [String: Float]) = (0, [:])
        for network in try #require(model.confirmation).networks {
            let windows = answers.windows(network.windowSamples)
            let logits = try answers.file.floats(
                network.name + ".logits",
                shape: [windows.count, network.labels.count]
            )
            // The scalar loops take seconds for each.
            for (index, window) in windows.prefix(set == .scalar ? 2 : .max).enumerated() {
                let answer = network.answer(to: window, kernels: model.kernels)
                let count = network.labels.count
                let error = largestDifference(answer.logits, Array(logits[index * count..<(index + 1) * count]))
                worst[network.name] = max(worst[network.name] ?? 0, error)
                guard index == 0 else { continue }
                feature = max(
                    feature,
                    largestDifference(answer.features, try answers.file.floats(network.name + ".features"))
                )
            }
        }
        return (feature, worst)
    }

    @Test(arguments: InstructionSet.supported)
    func `networks with every kind of layer agree with PyTorch`(set: InstructionSet) throws {
        let errors = try errors(Self.folder, set, .float)
        print("\(set) confirming networks: worst errors \(errors.logits) in a logit, \(errors.feature) in a feature")
        #expect(errors.logits.values.allSatisfy { $0 < 1e-3 } && errors.feature < 1e-3)
    }

    @Test(arguments: InstructionSet.supported)
    func `the shipped networks agree with PyTorch`(set: InstructionSet) throws {
        let folder = Folders.models.appendingPathComponent("commands")
        let exact = try errors(folder, set, .float)
        #expect(exact.logits.values.allSatisfy { $0 < 1e-3 } && exact.feature < 1e-3)
        let integer = try errors(folder, set, .int8)
        print("\(set) shipped networks: worst errors \(exact.logits) in a logit, \(integer.logits) in int8")
        // Of logits from -12 to 13. The rejecter that was trained beside talk has twice the error of the others in one window.
        for (name, error) in integer.logits { #expect(error < (name == "rejects" ? 2.5 : 1.5), "\(name)") }
    }

    @Test func `a network without a confirmation has none, and one can be left out`() throws {
        #expect(try Model(folder: Folders.fixtures.appendingPathComponent("streaming").path).confirmation == nil)
        let without = try Model(folder: Self.folder.path, confirms: false)
        #expect(without.confirmation == nil)
        let with = try Model(folder: Self.folder.path)
        let confirmation = try #require(with.confirmation)
        #expect(confirmation.networks.map(\.name) == ["plane", "line"])
        #expect(confirmation.words == [0, 1], "`go` is known to one network alone")
        #expect(confirmation.proposals == [.command: 0.15, .spot: 0.2])
        #expect(confirmation.reachSamples == 12000)
        #expect(with.identity != without.identity)
        #expect(confirmation.multiplyAdds > 3_000_000 && confirmation.weightBytes > 30_000)
    }

    /// The fused answer from those of single windows, as Models/FORMAT.md defines it.
    private func expected(
        _ confirmation: ConfirmingNetworks,
        _ model: Model,
        _ posteriors: [Float],
        middle: Int,
        _ audio: [Float],
        shares: [Double],
        own: Double
    ) -> (fused: [Double], confirmed: [Double]) {
        func normalised(_ logs: [Double]) -> [Double] {
            let powers = logs.map { exp($0) }
            return powers.map { $0 / powers.reduce(0, +) }
        }
        var sums = [0.0, 0.0, 0.0]
        for (network, share) in zip(confirmation.networks, shares) {
            let shifts = network.name == "plane" ? [-1600, 0, 1600] : [0]
            for shift in shifts {
                let first = middle + shift - network.windowSamples / 2
                var window = (first..<first + network.windowSamples).map { audio.indices.contains($0) ? audio[$0] : 0 }
                let highest = window.map(abs).max() ?? 0
                if highest > 0.5 { window = window.map { $0 * 0.5 / highest } }
                let probabilities = normalised(
                    network.answer(to: window, kernels: model.kernels).logits.map(Double.init)
                )
                let words = ["yes", "no"].map { probabilities[network.labels.firstIndex(of: $0) ?? 0] }
                let all = words + [1 - words[0] - words[1]]
                for index in 0..<3 { sums[index] += share / Double(shifts.count) * log(max(1e-6, all[index])) }
            }
        }
        let total = shares.reduce(0, +)
        let rest = 1 - Double(posteriors[0]) - Double(posteriors[1])
        let mine = [Double(posteriors[0]), Double(posteriors[1]), rest]
        return (
            normalised(zip(sums, mine).map { $0 + own * log(max(1e-6, $1)) }), normalised(sums.map { $0 / total })
        )
    }

    @Test(arguments: [Prior.stream, .clip])
    func `answers are fused as weighted sums of log-posteriors`(prior: Prior) throws {
        let model = try Model(folder: Self.folder.path)
        let confirmation = try #require(model.confirmation)
        let confirmer = Confirmer(confirmation, of: model, prior: prior)
        var random = SplitMix(seed: 7)
        for round in 0..<4 {
            let audio = random.floats(40000).map { round == 1 ? $0 * 0.01 : $0 * 2 }
            let posteriors: [Float] = [0.5, 0.1, 0.05, 0.3, 0.05]
            // A window may begin before the audio, or end after it.
            let middle = [20000, 24000, 3000, 39000][round]
            confirmer.look(posteriors, middle: middle) { first, samples in
                for index in samples.indices {
                    samples[index] = audio.indices.contains(first + index) ? audio[first + index] : 0
                }
            }
            let (shares, own) = prior == .clip ? ([0.5, 0.65], 0.5) : ([0.35, 0.65], 0.25)
            let expected = expected(confirmation, model, posteriors, middle: middle, audio, shares: shares, own: own)
            for (value, number) in zip(confirmer.fused, expected.fused) { #expect(abs(Double(value) - number) < 1e-4) }
            for (value, number) in zip(confirmer.confirmed, expected.confirmed) {
                #expect(abs(Double(value) - number) < 1e-4)
            }
        }
    }

    /// Shares of the two networks and of the model between those of clear clips, 0.5, 0.65 and 0.5, and of noisy ones, 0, 0.9 and 0.2.
    @Test(arguments: [
        (Float(-1), [0, 0.9], 0.2), (10, [0, 0.9], 0.2), (13, [0.15, 0.825], 0.29), (20, [0.5, 0.65], 0.5),
        (.infinity, [0.5, 0.65], 0.5),
    ])
    func `the shares of clips move with their contrast`(contrast: Float, shares: [Double], own: Double) throws {
        let model = try Self.model(try moving(from: 10, to: 20))
        let confirmation = try #require(model.confirmation)
        let audio = (0..<40_000).map { Float($0 % 100) / 200 }
        let posteriors: [Float] = [0.5, 0.1, 0.05, 0.3, 0.05]
        for prior in [Prior.clip, .stream] {
            let confirmer = Confirmer(confirmation, of: model, prior: prior)
            confirmer.look(posteriors, middle: 20_000, contrast: contrast) { first, samples in
                for index in samples.indices { samples[index] = audio[first + index] }
            }
            let (shares, own) = prior == .clip ? (shares, own) : ([0.35, 0.65], 0.25)
            let expected = expected(confirmation, model, posteriors, middle: 20_000, audio, shares: shares, own: own)
            for (value, number) in zip(confirmer.fused, expected.fused) { #expect(abs(Double(value) - number) < 1e-4) }
            for (value, number) in zip(confirmer.confirmed, expected.confirmed) {
                #expect(abs(Double(value) - number) < 1e-4)
            }
        }
    }

    /// The fixture whose shares move between two contrasts.
    private func moving(from: Double, to: Double) throws -> [String: Any] {
        var json = try json()
        let outputs = try #require(json["outputLabels"] as? [String])
        let over = try #require(outputs.firstIndex(of: "_silence_"))
        json["clipContrast"] = ["from": 5, "to": 10, "over": over, "lead": 6]
        var confirm = try #require(json["confirm"] as? [String: Any])
        confirm["clipContrast"] = ["from": from, "to": to]
        confirm["noisyClipShare"] = 0.2
        var networks = try #require(confirm["networks"] as? [[String: Any]])
        networks[0]["noisyClipShare"] = 0
        networks[1]["noisyClipShare"] = 0.9
        confirm["networks"] = networks
        json["confirm"] = confirm
        return json
    }

    @Test func `confirmed words have thresholds of their own`() throws {
        func thresholds(_ json: [String: Any], confirms: Bool = true) throws -> [Float?] {
            let model = try Self.model(json, confirms: confirms)
            return [Sensitivity.balanced, .strict].map { model.thresholds[$0, .spot]?.first }
        }
        var json = try json()
        let words = ["yes", "no", "go"]
        func all(_ value: Double) -> [String: Double] { Dictionary(uniqueKeysWithValues: words.map { ($0, value) }) }
        json["thresholds"] = all(0.8)
        json["sensitivities"] = ["strict": ["spot": ["thresholds": all(0.9)]]]
        #expect(try thresholds(json) == [0.8, 0.9], "the model's apply where there are no others")
        var confirm = json["confirm"] as? [String: Any] ?? [:]
        confirm["thresholds"] = all(0.5)
        json["confirm"] = confirm
        #expect(try thresholds(json) == [0.5, nil])
        confirm["sensitivities"] = ["strict": ["spot": ["thresholds": all(0.6)]]]
        json["confirm"] = confirm
        #expect(try thresholds(json) == [0.5, 0.6] && thresholds(json, confirms: false) == [0.8, 0.9])
        confirm["sensitivities"] = ["strict": ["spot": ["thresholds": all(0.4)]]]
        json["confirm"] = confirm
        #expect(try error(json)?.message.contains("“confirm.sensitivities.strict.spot.thresholds”") == true)
        confirm["thresholds"] = all(1.5)
        json["confirm"] = confirm
        #expect(try error(json)?.message.contains("“confirm.thresholds”") == true)
    }

    @Test func `a word that has not lasted is less likely`() throws {
        let model = try Self.model(try with("duration", ["hops": 4, "penalty": 0.5]))
        let confirmation = try #require(model.confirmation)
        let nats = [1, 2, 4, 9].map { confirmation.duration.nats(after: $0) }
        #expect(nats == [1.5, 1, 0, 0])
        let confirmer = Confirmer(confirmation, of: model)
        func answers(_ penalty: Float) -> (fused: [Float], confirmed: [Float]) {
            confirmer.look([0.5, 0.1, 0.05, 0.3, 0.05], middle: 0, penalty: penalty) { _, samples in
                for index in samples.indices { samples[index] = Float(index % 100) / 300 }
            }
            return (confirmer.fused, confirmer.confirmed)
        }
        let (all, less) = (answers(0), answers(1.5))
        #expect(all.confirmed == less.confirmed)
        for word in 0..<2 {
            let odds = (all.fused[word] / all.fused[2], less.fused[word] / less.fused[2])
            #expect(abs(log(odds.0) - log(odds.1) - 1.5) < 1e-4)
        }
        #expect(try Model(folder: Self.folder.path).confirmation?.duration.nats(after: 0) == 0)
    }

    /// Of two networks, the second does not look where the first leaves no word above the limit; for clips it always does.
    @Test(arguments: [(0.0, true), (1e-9, true), (0.9999, false)])
    func `a word that the first network refuses is not looked at by the others`(limit: Double, looks: Bool) throws {
        let model = try Self.model(try with("refuseBelow", limit))
        let confirmation = try #require(model.confirmation)
        let posteriors: [Float] = [0.5, 0.1, 0.05, 0.3, 0.05]
        let audio = [Float](repeating: 0.1, count: 40_000)
        for prior in [Prior.stream, .clip] {
            let confirmer = Confirmer(confirmation, of: model, prior: prior)
            var windows: [Int] = []
            confirmer.look(posteriors, middle: 20_000) { first, samples in
                windows.append(samples.count)
                for index in samples.indices { samples[index] = audio[first + index] }
            }
            let all = looks || prior == .clip
            #expect(windows == [16_000, 16_000, 16_000] + (all ? [24_000] : []))
            let (shares, own) = prior == .clip ? ([0.5, 0.65], 0.5) : (all ? [0.35, 0.65] : [0.35], 0.25)
            let expected = expected(confirmation, model, posteriors, middle: 20_000, audio, shares: shares, own: own)
            for (value, number) in zip(confirmer.fused, expected.fused) { #expect(abs(Double(value) - number) < 1e-4) }
            for (value, number) in zip(confirmer.confirmed, expected.confirmed) {
                #expect(abs(Double(value) - number) < 1e-4)
            }
        }
    }

    @Test func `samples that are not finite count as silence`() throws {
        let model = try Model(folder: Self.folder.path)
        let confirmer = Confirmer(try #require(model.confirmation), of: model)
        confirmer.look([0.5, 0.1, 0.05, 0.3, 0.05], middle: 0) { _, samples in
            for index in samples.indices { samples[index] = index % 3 == 0 ? .nan : -.infinity }
        }
        let strange = confirmer.fused
        confirmer.look([0.5, 0.1, 0.05, 0.3, 0.05], middle: 0) { _, samples in samples.update(repeating: 0) }
        #expect(strange == confirmer.fused && strange.allSatisfy(\.isFinite))
    }

    private final class Looks {
        let confirmer: Confirmer
        init(_ model: Model, _ confirmation: ConfirmingNetworks) { confirmer = Confirmer(confirmation, of: model) }

        func look() {
            confirmer.look([0.5, 0.1, 0.05, 0.3, 0.05], middle: 9) { first, samples in
                for index in samples.indices { samples[index] = Float((first + index) % 100) / 300 }
            }
        }
    }

    @Test func `a look allocates nothing`() throws {
        let model = try Model(folder: Self.folder.path)
        let looks = Looks(model, try #require(model.confirmation))
        #expect(HeapTrial { looks.look() }.isQuiet(seconds: 30))
    }

    // MARK: - Damaged models

    private func json() throws -> [String: Any] {
        let data = try Data(contentsOf: Self.folder.appendingPathComponent("model.json"))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    private static func weights(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appendingPathComponent(name + ".safetensors")))
    }

    /// The fixture with another description.
    private static func model(_ json: [String: Any], confirms: Bool = true) throws -> Model {
        try Model(
            description: [UInt8](try JSONSerialization.data(withJSONObject: json)),
            weights: weights("model"),
            confirm: weights("confirm"),
            confirms: confirms
        )
    }

    /// The error of the model with this description, and these weights of its confirming networks; nil if it loads.
    private func error(_ json: [String: Any], confirm: [UInt8]? = nil, without: Bool = false) throws -> ModelError? {
        let (bytes, weights) = (try Self.weights("confirm"), try Self.weights("model"))
        let description = [UInt8](try JSONSerialization.data(withJSONObject: json))
        do throws(ModelError) {
            let model = try Model(description: description, weights: weights, confirm: without ? nil : confirm ?? bytes)
            if let confirmation = model.confirmation {
                let confirmer = Confirmer(confirmation, of: model)
                confirmer.look([0.2, 0.2, 0.2, 0.2, 0.2], middle: 0) { _, samples in samples.update(repeating: 0.1) }
            }
            return nil
        } catch {
            #expect(!error.message.contains("\n") && error.message.count < 500, "\(error.message)")
            return error
        }
    }

    /// The description with a key of `confirm`, of its first network, or of a layer of that, changed; nil removes it.
    private func with(_ key: String, _ value: Any?, network: Bool = false, layer: String? = nil, frontEnd: Bool = false)
        throws -> [String: Any]
    {
        var json = try json()
        var confirm = try #require(json["confirm"] as? [String: Any])
        var networks = try #require(confirm["networks"] as? [[String: Any]])
        if let layer {
            var layers = try #require(networks[0]["layers"] as? [[String: Any]])
            for index in layers.indices where layers[index]["name"] as? String == layer { layers[index][key] = value }
            networks[0]["layers"] = layers
        } else if frontEnd {
            var front = try #require(networks[0]["frontEnd"] as? [String: Any])
            front[key] = value
            networks[0]["frontEnd"] = front
        } else if network {
            networks[0][key] = value
        } else {
            confirm[key] = value
        }
        if layer != nil || frontEnd || network { confirm["networks"] = networks }
        json["confirm"] = confirm
        return json
    }

    @Test func `each mistake gives one line that names it`() throws {
        #expect(try error(try json()) == nil)
        let cases: [(json: [String: Any], says: String)] = [
            (try json().merging(["version": 1]) { $1 }, "needs version 2"),
            (try json().merging(["version": 3]) { $1 }, "versions 1 and 2"),
            (try with("networks", [] as [Any]), "0 networks"),
            (try with("networks", nil), "networks"),
            (try with("share", -1), "confirm.share"),
            (try with("clipShare", 1e9), "confirm.clipShare"),
            (try with("noisyClipShare", 0.5), "“confirm.clipContrast”: missing"),
            (try with("noisyClipShare", -1), "confirm.noisyClipShare"),
            (try with("noisyClipShare", 11, network: true), "“noisyClipShare”"),
            (try with("clipContrast", ["from": 10, "to": 20]), "the model has no “clipContrast”"),
            (try moving(from: 20, to: 20), "“confirm.clipContrast”: 20.0 and 20.0"),
            (try moving(from: 20, to: 1e9), "decibels from 0 to 100"),
            (try with("proposals", ["other": 0.5]), "“other” is not a mode"),
            (try with("refuseBelow", 1.0), "“confirm.refuseBelow”: 1.0 is not from 0 to below 1"),
            (try with("duration", ["hops": 101, "penalty": 0.5]), "“confirm.duration.hops”: 101 is not from 0 to 100"),
            (
                try with("duration", ["hops": 5, "penalty": -1]),
                "“confirm.duration.penalty”: -1.0 is not from 0 to 100"
            ),
            (try with("proposals", ["spot": 1]), "between 0 and 1"),
            (try with("name", "line", network: true), "same name"),
            (try with("labels", ["a", "b", "c", "d"], network: true), "none of the model's words"),
            (try with("labels", ["yes", "yes", "c", "d"], network: true), "twice"),
            (try with("labels", ["yes", "no"], network: true), "2 labels for 4 logits"),
            (try with("shifts", [] as [Any], network: true), "shifts"),
            (try with("shifts", [2], network: true), "shifts"),
            (try with("share", -0.1, network: true), "“share”"),
            (try with("output", "none", network: true), "“none”"),
            (try with("output", "block", network: true), "as “output”"),
            (try with("windowSamples", 0, network: true), "windowSamples"),
            (try with("ranges", ["none": 1], network: true), "“none”"),
            (try with("ranges", ["wide": -1], network: true), "ranges"),
            (try with("kind", "waveform", frontEnd: true), "centred-log-mel"),
            (try with("slopes", 3, frontEnd: true), "frontEnd.slopes"),
            (try with("frameSamples", 1023, frontEnd: true), "not even"),
            (try with("axis", "columns", frontEnd: true), "axis"),
            (try with("op", "conv3d", layer: "stem"), "unknown op"),
            (try with("activation", "tanh", layer: "stem"), "activation"),
            (try with("kernel", [5], layer: "stem"), "kernel"),
            (try with("kernel", [5, 5, 5], layer: "stem"), "more than two"),
            (try with("kernel", [99, 5], layer: "stem"), "spans more"),
            (try with("dilation", [2, 1], layer: "stem"), "“dilation”"),
            (try with("dilation", [1, 2], layer: "stem"), "several bands"),
            (try with("groups", 3, layer: "stem"), "“groups” 3"),
            (try with("stride", [0, 1], layer: "stem"), "“stride”"),
            (try with("padding", [-1, 0], layer: "stem"), "“padding”"),
            (try with("in", 4, layer: "stem"), "“in” is 4"),
            (try with("input", "later", layer: "stem"), "“later”"),
            (try with("name", "features", layer: "stem"), "taken"),
            (try with("parts", 3, layer: "norm"), "“parts” 3"),
            (try with("channels", 3, layer: "norm"), "“channels” is 3"),
            (try with("inputs", ["norm"], layer: "block"), "1 inputs"),
            (try with("inputs", ["norm", "stem"], layer: "block"), "differ"),
            (try with("activation", "silu", layer: "block"), "silu"),
            (try with("count", 0, layer: "middle"), "“count”"),
            (try with("input", "block", layer: "pool"), "bands"),
        ]
        for (json, says) in cases {
            let error = try error(json)
            #expect(error?.message.contains(says) == true, "\(says): \(error?.message ?? "no error")")
        }
        let missing = try error(try json(), without: true)
        #expect(missing == .unreadable && missing?.message.contains("confirm.safetensors: no such file") == true)
    }

    @Test func `values of other types and damaged weights never trap`() throws {
        let strange: [Any?] = [
            nil, NSNull(), "text", -1, 0, 1e300, 0.5, [1, 2], ["a": 1], true, Int.max, Int.min, 4096,
        ]
        for value in strange {
            for key in [
                "networks", "share", "clipShare", "noisyClipShare", "clipContrast", "proposals", "duration",
                "refuseBelow",
                "thresholds", "sensitivities",
            ] {
                _ = try error(try with(key, value))
            }
            for key in ["name", "windowSamples", "labels", "layers", "output", "share", "shifts", "frontEnd", "ranges"]
            {
                _ = try error(try with(key, value, network: true))
            }
            for key in ["fftSize", "hopSamples", "bands", "slopes", "axis"] {
                _ = try error(try with(key, value, frontEnd: true))
            }
            for key in ["kernel", "stride", "padding", "dilation", "groups", "in", "out", "input", "activation"] {
                _ = try error(try with(key, value, layer: "bands"))
            }
        }
        for pair in [[4096, 4096], [Int.max, Int.max], [1, 4096]] {
            for key in ["kernel", "stride", "padding", "dilation"] { _ = try error(try with(key, pair, layer: "time")) }
        }
        let bytes = [UInt8](try Data(contentsOf: Self.folder.appendingPathComponent("confirm.safetensors")))
        for count in [0, 7, 8, 100, 2000, bytes.count - 1] {
            #expect(try error(try json(), confirm: Array(bytes.prefix(count))) != nil)
        }
        let other = [UInt8](try Data(contentsOf: Self.folder.appendingPathComponent("model.safetensors")))
        let error = try error(try json(), confirm: other)
        #expect(error == .tensor && error?.message.contains("plane.stem.weight") == true)
    }
}
