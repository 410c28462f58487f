import Foundation
import Inference
import KernelInterface
import TestSupport

/// Builds a model: `model.json` as an object, and random weights for its layers.
struct TestNetwork {
    var json: [String: Any]
    var layers: [[String: Any]] = []

    static let logMel: [String: any Sendable] = [
        "kind": "log-mel", "frameSamples": 400, "hopSamples": 200, "fftSize": 512, "bands": 40, "lowHertz": 20,
        "highHertz": 7600, "floor": 1e-6, "mean": -4.2, "deviation": 4.1,
    ]

    init(frontEnd: [String: Any] = TestNetwork.logMel, streaming: Bool = true) {
        json = [
            "format": "beckon-model", "version": 1, "name": "test", "labels": ["yes", "no", "_unknown_", "_silence_"],
            "sampleRate": 16000, "windowSamples": 16000, "hopSamples": 1600, "streaming": streaming,
            "frontEnd": frontEnd, "output": "logits", "temperature": 1.5, "thresholds": ["yes": 0.7],
            "outputLabels": ["yes", "no", "_unknown_", "_unknown_", "_silence_"],
        ]
    }

    mutating func conv(
        _ name: String,
        _ input: String,
        _ inputs: Int,
        _ outputs: Int,
        kernel: Int = 1,
        stride: Int = 1,
        dilation: Int = 1,
        groups: Int = 1,
        relu: Bool = false
    ) {
        layers.append([
            "op": "conv1d", "name": name, "input": input, "in": inputs, "out": outputs, "kernel": kernel,
            "stride": stride, "dilation": dilation, "groups": groups, "activation": relu ? "relu" : "none",
        ])
    }

    mutating func dense(_ name: String, _ input: String, _ inputs: Int, _ outputs: Int) {
        layers.append(["op": "dense", "name": name, "input": input, "in": inputs, "out": outputs])
    }

    mutating func crop(_ name: String, _ input: String, _ start: Int, _ end: Int) {
        layers.append(["op": "crop", "name": name, "input": input, "start": start, "end": end])
    }

    mutating func add(_ name: String, _ left: String, _ right: String) {
        layers.append(["op": "add", "name": name, "inputs": [left, right], "activation": "relu"])
    }

    mutating func mean(_ name: String, _ input: String, _ columns: Int) {
        layers.append(["op": "mean", "name": name, "input": input, "columns": columns])
    }

    /// Adds an activity layer on the tensor `input`.
    mutating func voice(_ input: String, _ inputs: Int) {
        conv("voice.hidden", input, inputs, 8, relu: true)
        conv("voice", "voice.hidden", 8, 1)
        json["activity"] = "voice"
    }

    var description: [UInt8] {
        get throws {
            var json = json
            json["layers"] = layers
            return Array(try JSONSerialization.data(withJSONObject: json, options: .sortedKeys))
        }
    }

    /// Random weights for every layer that has any, scaled to keep the variance of activations.
    func tensors(_ generator: inout SplitMix) -> TensorFile {
        var file = TensorFile()
        for layer in layers {
            guard let name = layer["name"] as? String, let inputs = layer["in"] as? Int,
                let outputs = layer["out"] as? Int
            else { continue }
            let depth = inputs / (layer["groups"] as? Int ?? 1)
            let kernel = layer["kernel"] as? Int
            let count = outputs * depth * (kernel ?? 1)
            let size = Float(6 / Double(depth * (kernel ?? 1))).squareRoot()
            let shape = kernel.map { [outputs, $0, depth] } ?? [outputs, depth]
            file.add(name + ".weight", shape, generator.floats(count, -size...size))
            file.add(name + ".bias", [outputs], generator.floats(outputs, -0.1...0.1))
        }
        return file
    }

    func model(
        seed: UInt64 = 1,
        kernels: InstructionSet? = nil,
        precision: Precision? = nil
    ) throws -> Model {
        var generator = SplitMix(seed: seed)
        let weights = try tensors(&generator).bytes
        return try Model(description: description, weights: weights, kernels: kernels, precision: precision)
    }

    /// The architecture of the shipped model: a stem with a kernel of 5, then three residual blocks of stride 2.
    static func medium() -> TestNetwork {
        var network = TestNetwork()
        network.conv("stem", "input", 40, 48, kernel: 5, relu: true)
        var source = "stem"
        var channels = 48
        for (index, (outputs, kernel, cut)) in [(64, 7, 9), (96, 5, 6), (128, 3, 3)].enumerated() {
            let block = "b\(index + 1)"
            network.conv(block + ".first", source, channels, outputs, kernel: kernel, stride: 2, relu: true)
            network.conv(block + ".second", block + ".first", outputs, outputs, kernel: kernel)
            network.crop(block + ".crop", source, cut, cut)
            network.conv(block + ".skip", block + ".crop", channels, outputs, stride: 2)
            network.add(block, block + ".second", block + ".skip")
            source = block
            channels = outputs
        }
        network.conv("head", source, 128, 128, relu: true)
        network.mean("pool", "head", 2)
        network.dense("logits", "pool", 128, 5)
        network.json["embedding"] = "pool"
        return network
    }
}
