import Inference
import KernelInterface
import Kernels
import TestSupport
import Testing

/// Scoring hop by hop must give the same results as computing each whole window.
struct StreamingTests {
    /// The largest difference of logits, posteriors, embedding and activity, over `hops` hops of noise.
    ///
    /// - Parameter reprime: the hop at which the stream is scored whole instead.
    private func difference(_ model: Model, hops: Int, random: inout SplitMix, reprime: Int? = nil) -> Float {
        var stream = InferenceStream(model, embeds: true)
        var whole = InferenceStream(model, embeds: true)
        let start = [Float](repeating: 0, count: model.windowSamples)
        var audio = start
        for hop in 0..<hops {
            let loudness = [Float(1), 0.1, 0.001, 0][hop % 7 == 6 ? 3 : hop % 3]
            audio += random.floats(model.hopSamples, -loudness...loudness)
        }
        var largest: Float = 0
        for hop in 1...hops {
            let first = hop * model.hopSamples
            let window = audio.span.extracting(first..<(first + model.windowSamples))
            if hop == reprime { stream.scoreWhole(window: window) } else { stream.score(window: window) }
            whole.scoreWhole(window: window)
            largest = max(largest, largestDifference(stream.logits, whole.logits))
            largest = max(largest, largestDifference(stream.posteriors, whole.posteriors))
            largest = max(largest, largestDifference(stream.embedding, whole.embedding))
            largest = max(largest, largestDifference(stream.activity, whole.activity))
        }
        return largest
    }

    @Test func `the medium network streams`() throws {
        let model = try TestNetwork.medium().model()
        var random = SplitMix(seed: 41)
        let error = difference(model, hops: 40, random: &random)
        print("streaming, medium network, 40 hops: worst difference \(error)")
        #expect(error < 1e-5)
    }

    @Test func `a stream continues after a whole window`() throws {
        let model = try TestNetwork.medium().model()
        var random = SplitMix(seed: 42)
        #expect(difference(model, hops: 20, random: &random, reprime: 5) < 1e-5)
    }

    @Test(arguments: [true, false]) func `a lookahead gives what the next hop gives`(streams: Bool) throws {
        var network = TestNetwork.medium()
        network.json["streaming"] = streams
        let model = try network.model()
        var random = SplitMix(seed: 43)
        var session = InferenceStream(model)
        let hop = model.hopSamples
        let audio = random.floats(model.windowSamples + 8 * hop, -0.5...0.5)
        func window(_ number: Int) -> [Float] { Array(audio[number * hop..<number * hop + model.windowSamples]) }
        for number in 0..<8 {
            session.score(window: window(number).span)
            let (current, next) = (session.posteriors, window(number + 1))
            session.lookAhead(window: next.span)
            #expect(session.posteriors == current)
            let lookahead = session.lookaheadPosteriors
            session.score(window: next.span)
            #expect(session.posteriors == lookahead)
        }
    }

    @Test func `streams of one model do not disturb each other`() throws {
        let model = try TestNetwork.medium().model()
        var random = SplitMix(seed: 43)
        let audio = random.floats(32000)
        var first = InferenceStream(model)
        var second = InferenceStream(model)
        second.scoreWhole(window: audio.span.extracting(0..<16000))
        for hop in 1...10 {
            first.score(window: audio.span.extracting((hop * 1600)..<(hop * 1600 + 16000)))
            second.score(window: audio.span.extracting((hop * 1600)..<(hop * 1600 + 16000)))
        }
        // After ten hops both hold the same second.
        #expect(largestDifference(first.logits, second.logits) < 1e-5)
    }

    @Test func `random networks stream`() throws {
        var random = SplitMix(seed: 44)
        var largest: Float = 0
        for round in 0..<30 {
            let network = randomNetwork(&random)
            let model = try network.model(seed: UInt64(round))
            #expect(model.activityCount > 0)
            let error = difference(model, hops: 14, random: &random)
            #expect(error < 1e-5, "\(network.layers)")
            largest = max(largest, error)
        }
        print("streaming, 30 random networks: worst difference \(largest)")
    }

    /// Where some layers are in int8 and others are not, tensors are kept as integers, as floats, or both.
    @Test(arguments: InstructionSet.supported.filter { $0 != .scalar })
    func `random networks stream in int8 to the last bit`(set: InstructionSet) throws {
        var random = SplitMix(seed: 48)
        for round in 0..<30 {
            var network = randomNetwork(&random)
            var ranges = ["input": 4.0]
            for layer in network.layers where random.int(0...3) > 0 { ranges[layer["name"] as? String ?? ""] = 4 }
            network.json["ranges"] = ranges
            let model = try network.model(seed: UInt64(round), kernels: set, precision: .int8)
            #expect(difference(model, hops: 14, random: &random) == 0, "\(network.layers) \(ranges)")
        }
    }

    /// What a confirming network may have, a streaming one may, too: SiLU, sums of several tensors, and convolutions over one band.
    @Test(arguments: [Precision.float, .int8])
    func `layers of confirming networks stream to the last bit`(precision: Precision) throws {
        var network = TestNetwork()
        network.conv("a", "input", 40, 16, kernel: 3)
        network.layers[0]["activation"] = "silu"
        network.conv("b", "a", 16, 16, kernel: 3)
        network.conv("c", "a", 16, 16, kernel: 3)
        network.layers[2]["activation"] = "silu"
        network.crop("d", "a", 1, 1)
        network.layers.append(["op": "add", "name": "sum", "inputs": ["b", "c", "d"], "activation": "relu"])
        network.conv("e", "sum", 16, 16, kernel: 5)
        network.mean("pool", "e", 71)
        network.dense("logits", "pool", 16, 5)
        if precision == .int8 { network.json["ranges"] = ["input": 4, "a": 4, "sum": 6, "e": 4] }
        var random = SplitMix(seed: 49)
        #expect(try difference(network.model(precision: precision), hops: 14, random: &random) == 0)
        let all = network.layers
        for (index, change) in [
            (0, ["op": "conv2d", "kernel": [1, 3], "padding": [0, 1], "stride": [1, 1], "dilation": [1, 1]]),
            (6, ["op": "meanFrames"]), (6, ["op": "meanBands"]), (6, ["op": "middleFrames", "count": 3]),
        ] as [(Int, [String: Any])] {
            network.layers = all
            network.layers[index].merge(change) { $1 }
            #expect(throws: ModelError.layer) { try network.model() }
        }
    }

    /// The sum may not be computed with `b`, whose output others read.
    @Test func `a sum after a crop streams`() throws {
        var network = TestNetwork()
        network.conv("a", "input", 40, 8, kernel: 3)
        network.conv("c", "a", 8, 8, kernel: 2)
        network.conv("b", "input", 40, 8, kernel: 3)
        network.crop("late", "b", 1, 0)
        network.add("sum", "c", "late")
        network.conv("d", "b", 8, 8, kernel: 2)
        network.add("both", "sum", "d")
        network.mean("pool", "both", 76)
        network.dense("logits", "pool", 8, 5)
        var random = SplitMix(seed: 49)
        #expect(difference(try network.model(), hops: 12, random: &random) < 1e-5)
    }

    /// A random network of branches that are cut to the same columns and added, with strides that divide 8 columns, and an
    /// activity layer on one of the sums.
    private func randomNetwork(_ random: inout SplitMix) -> TestNetwork {
        var network = TestNetwork()
        var (source, columns, channels, rate) = ("input", 79, 40, 8)
        var stages = [(source, channels)]
        for index in 0..<random.int(2...5) {
            let stride = rate > 1 && columns > 12 && random.int(0...1) == 1 ? 2 : 1
            let grouped = [1, 2, 4, channels][random.int(0...3)]
            let groups = channels % grouped == 0 ? grouped : 1
            let outputs = groups * random.int(1...max(1, 30 / groups))
            let dilation = random.int(1...2)
            // Adjust the span so that the last column ends with the window.
            var kernel = random.int(1...4)
            var before = 0
            while (columns - (dilation * (kernel - 1) + 1)) % stride != 0 {
                if dilation == 1 { kernel += 1 } else { (before, columns) = (before + 1, columns - 1) }
            }
            if before > 0 {
                network.crop("cut\(index)", source, before, 0)
                source = "cut\(index)"
            }
            let span = dilation * (kernel - 1) + 1
            network.conv(
                "main\(index)",
                source,
                channels,
                outputs,
                kernel: kernel,
                stride: stride,
                dilation: dilation,
                groups: groups,
                relu: true
            )
            let left = (columns - span) / stride + 1
            // The branch drops as many columns as the kernel; some are at the end, so the branch lags.
            let end = random.int(0...((span - 1) / stride)) * stride
            network.crop("drop\(index)", source, span - 1 - end, end)
            network.conv("skip\(index)", "drop\(index)", channels, outputs, stride: stride)
            network.add("sum\(index)", "main\(index)", "skip\(index)")
            (source, columns, channels, rate) = ("sum\(index)", left, outputs, rate / stride)
            if columns >= rate { stages.append((source, channels)) }
        }
        network.mean("pool", source, columns)
        network.dense("logits", "pool", channels, 5)
        network.json["embedding"] = "pool"
        let stage = stages[random.int(0...(stages.count - 1))]
        network.voice(stage.0, stage.1)
        return network
    }

    @Test func `a network on the waveform streams`() throws {
        var network = TestNetwork(frontEnd: ["kind": "waveform", "scale": 0.5])
        network.conv("a", "input", 1, 6, kernel: 80, stride: 40, relu: true)
        network.conv("b", "a", 6, 8, kernel: 4, stride: 4, relu: true)
        network.mean("pool", "b", 99)
        network.crop("last", "b", 98, 0)
        network.add("sum", "pool", "last")
        network.dense("logits", "sum", 8, 5)
        // 399 columns of 40 samples are 3 too many for the second stride.
        #expect(throws: ModelError.layer) { try network.model() }
        network.layers[1]["kernel"] = 7
        let model = try network.model()
        var random = SplitMix(seed: 45)
        #expect(difference(model, hops: 15, random: &random) < 1e-5)
    }

    @Test func `an activity layer that lags behind the window streams`() throws {
        var network = TestNetwork.medium()
        network.voice("b1", 64)
        network.crop("late", "voice", 3, 2)
        network.json["activity"] = "late"
        let late = try network.model()
        var random = SplitMix(seed: 47)
        #expect(difference(late, hops: 12, random: &random) < 1e-5)
        network.json["activity"] = "voice"
        let prompt = try network.model()
        #expect(late.activityCount == 4 && prompt.activityCount == 4)
        // Two columns late: the last two of a hop are the first two of the next.
        let audio = random.floats(32000)
        var first = InferenceStream(prompt)
        var second = InferenceStream(late)
        var before = first.activity
        for hop in 1...10 {
            let window = audio.span.extracting((hop * 1600)..<(hop * 1600 + 16000))
            first.score(window: window)
            second.score(window: window)
            let lagged: [Float] = Array(before.suffix(2)) + first.activity.prefix(2)
            #expect(second.activity == lagged)
            before = first.activity
        }
    }

    @Test func `a network whose span is shorter than a hop streams`() throws {
        var network = TestNetwork()
        network.conv("a", "input", 40, 8, kernel: 3)
        network.crop("last", "a", 76, 0)
        network.dense("logits", "last", 8, 5)
        let model = try network.model()
        var random = SplitMix(seed: 46)
        #expect(difference(model, hops: 15, random: &random) < 1e-5)
        #expect(model.multiplyAddsPerHop == 8 * (40 * 8 * 3) + 8 * 5)
    }
}
