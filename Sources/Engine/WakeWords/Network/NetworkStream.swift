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
                case .dense(let step): dense(step)
                case .depthwise(let step): depthwise(step)
                case .lookUp(let step): lookUp(step)
                case .sum(let step): add(step)
                case .product(let step): multiply(step)
                case .pool(let step): pool(step)
                }
            }
        }
        return network.probability(memory.base[network.output])
    }

    private func lookUp(_ step: LookUpStep) {
        let table = network.tables.base + step.table
        for index in 0..<step.count {
            memory.base[step.output + index] = table[Int(UInt8(bitPattern: memory.base[step.input + index]))]
        }
    }

    private func dense(_ step: DenseStep) {
        let output = step.output
        let length = DenseStep.rowLength(step.length)
        for index in step.length..<length { widened.base[index] = 0 }
        for position in 0..<output.positions {
            let input = memory.base + (step.input + position * step.stride)
            for index in 0..<step.length { widened.base[index] = Int16(input[index]) }
            let target = memory.base + (output.place + position * output.channels)
            for channel in 0..<output.channels {
                let row = network.weights.base + (step.weights + channel * length)
                var sum: Int32 = 0
                for index in 0..<length { sum = sum &+ Int32(row[index]) &* Int32(widened.base[index]) }
                let place = output.firstChannel + channel
                sum = sum &+ network.biases.base[place]
                target[channel] = output.clamped(network.rescalings[place].apply(sum))
            }
        }
    }

    private func depthwise(_ step: DepthwiseStep) {
        let output = step.output
        for position in 0..<output.positions {
            for channel in 0..<output.channels {
                sums.base[channel] = network.biases.base[output.firstChannel + channel]
            }
            for tap in 0..<step.taps {
                let input = memory.base + (step.input + position * step.stride + tap * output.channels)
                let row = network.weights.base + (step.weights + tap * output.channels)
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

    private func add(_ step: SumStep) {
        combine(step.pairs) { left, right in
            let left = step.left.apply(left << SumStep.fractionBits)
            return step.sum.apply(left &+ step.right.apply(right << SumStep.fractionBits))
        }
    }

    private func multiply(_ step: ProductStep) {
        combine(step.pairs) { left, right in step.scale.apply(left * right) }
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

    private func pool(_ step: PoolStep) {
        let output = step.output
        for position in 0..<output.positions {
            for channel in 0..<output.channels {
                let first = step.input + position * step.stride + channel
                var (sum, highest): (Int32, Int32) = (0, -128)
                for tap in 0..<step.taps {
                    let element = Int32(memory.base[first + tap * output.channels])
                    sum &+= element
                    highest = max(highest, element)
                }
                let count = Int32(step.taps)
                let value: Int32 =
                    switch step.kind {
                    case .maximum: highest
                    case .average: (sum + (sum > 0 ? count / 2 : -(count / 2))) / count
                    case .mean(let scale, let zeroPoint): scale.apply(sum &- count &* zeroPoint)
                    }
                memory.base[output.place + position * output.channels + channel] = output.clamped(value)
            }
        }
    }
}
