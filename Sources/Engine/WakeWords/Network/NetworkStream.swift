/// The state of a network in one stream: everything that it computes and remembers. After `init`, nothing allocates.
struct NetworkStream: ~Copyable {
    let network: StreamingNetwork
    private let memory: Memory<Int8>
    /// Inputs of a position, widened; sums of a position.
    private let widened: Memory<Int16>
    private let sums: Memory<Int32>

    init(_ network: StreamingNetwork) {
        self.network = network
        memory = Memory(network.initial)
        widened = Memory(network.longestRow)
        sums = Memory(network.mostChannels)
    }

    /// Returns to the state before the first step.
    func reset() {
        for index in 0..<memory.count { memory.base[index] = network.initial[index] }
    }

    /// Writes features of a hop into the input.
    ///
    /// - Parameters:
    ///   - features: `[bands]`, as the front end gives them.
    ///   - hop: which hop of a step, below `network.hopsPerStep`.
    func put(_ features: [UInt16], hop: Int) {
        let first = network.input + hop * MicroFrontEnd.bands
        for band in 0..<min(features.count, MicroFrontEnd.bands) {
            memory.base[first + band] = network.quantise(features[band])
        }
    }

    /// Computes a step.
    ///
    /// - Returns: the probability of the word.
    func run() -> Float {
        network.steps.withUnsafeBufferPointer { steps in
            for step in steps {
                switch step {
                case .move(let loops, let input, let output):
                    loops.copy(memory.base + input, to: memory.base + output)
                case .dense(let positions, let weights): dense(positions, weights)
                case .depthwise(let positions, let weights): depthwise(positions, weights)
                case .pool(let kind, let positions): pool(kind, positions)
                case .lookUp(let input, let output, let count, let table):
                    let table = network.tables.base + table
                    for index in 0..<count {
                        memory.base[output + index] = table[Int(UInt8(bitPattern: memory.base[input + index]))]
                    }
                case .sum(let pairs, let left, let right, let sum):
                    combine(pairs) { one, other in
                        let one = left.apply(one << NetworkStep.fractionBits)
                        return sum.apply(one &+ right.apply(other << NetworkStep.fractionBits))
                    }
                case .product(let pairs, let scale): combine(pairs) { one, other in scale.apply(one * other) }
                }
            }
        }
        return network.probability(memory.base[network.output])
    }

    private func dense(_ positions: LayerPositions, _ weights: Int) {
        let output = positions.output
        let length = NetworkStep.rowLength(positions.count)
        for index in positions.count..<length { widened.base[index] = 0 }
        for position in 0..<output.positions {
            let input = memory.base + (positions.input + position * positions.stride)
            for index in 0..<positions.count { widened.base[index] = Int16(input[index]) }
            let target = memory.base + (output.place + position * output.channels)
            for channel in 0..<output.channels {
                let row = network.weights.base + (weights + channel * length)
                var sum: Int32 = 0
                for index in 0..<length { sum = sum &+ Int32(row[index]) &* Int32(widened.base[index]) }
                let place = output.firstChannel + channel
                sum = sum &+ network.biases.base[place]
                target[channel] = output.clamped(network.rescalings[place].apply(sum))
            }
        }
    }

    private func depthwise(_ positions: LayerPositions, _ weights: Int) {
        let output = positions.output
        for position in 0..<output.positions {
            for channel in 0..<output.channels {
                sums.base[channel] = network.biases.base[output.firstChannel + channel]
            }
            for tap in 0..<positions.count {
                let input = memory.base + (positions.input + position * positions.stride + tap * output.channels)
                let row = network.weights.base + (weights + tap * output.channels)
                for channel in 0..<output.channels {
                    sums.base[channel] = sums.base[channel] &+ Int32(input[channel]) &* Int32(row[channel])
                }
            }
            let target = memory.base + (output.place + position * output.channels)
            for channel in 0..<output.channels {
                let rescaling = network.rescalings[output.firstChannel + channel]
                target[channel] = output.clamped(rescaling.apply(sums.base[channel]))
            }
        }
    }

    @inline(__always)
    private func combine(_ pairs: ElementPairs, _ value: (_ left: Int32, _ right: Int32) -> Int32) {
        let run = pairs.loops.run
        pairs.loops.forEachRun { a, b, c in
            let (left, right) = (memory.base + pairs.left + a, memory.base + pairs.right + b)
            for index in 0..<run.count {
                memory.base[pairs.output.place + c + index] = pairs.output.clamped(
                    value(Int32(left[index * run.a]) - pairs.leftZero, Int32(right[index * run.b]) - pairs.rightZero)
                )
            }
        }
    }

    private func pool(_ kind: PoolKind, _ positions: LayerPositions) {
        let output = positions.output
        for position in 0..<output.positions {
            for channel in 0..<output.channels {
                let first = positions.input + position * positions.stride + channel
                var (sum, highest): (Int32, Int32) = (0, -128)
                for tap in 0..<positions.count {
                    let element = Int32(memory.base[first + tap * output.channels])
                    sum &+= element
                    highest = max(highest, element)
                }
                let count = Int32(positions.count)
                let value: Int32 =
                    switch kind {
                    case .maximum: highest
                    case .average: (sum + (sum > 0 ? count / 2 : -(count / 2))) / count
                    case .mean(let scale, let zeroPoint): scale.apply(sum &- count &* zeroPoint)
                    }
                memory.base[output.place + position * output.channels + channel] = output.clamped(value)
            }
        }
    }
}
