import KernelInterface

/// The steps of one run through a network, with every address settled: offsets in floats into one block of memory.
///
/// `window` computes all columns; `hops` computes what so many hops bring, each tensor's buffer holding the old columns that
/// its readers still need, then the new ones.
struct Schedule: Sendable {
    /// A tensor's place.
    struct Slot: Sendable {
        var offset = 0
        /// Floats of old columns, at the front, and of those that a run computes.
        var kept = 0
        var fresh = 0
    }

    struct Convolution: Sendable {
        var shape: ConvolutionShape
        var weights: Int
        var quantiser: Quantiser?
        var residual: Int?
        var rectify: Bool
    }

    enum Work: Sendable {
        case convolution(Convolution)
        case add(right: Int, rectify: Bool)
        case mean(run: Int)
    }

    struct Step: Sendable {
        var work: Work
        var input: Int
        var output: Int
        var columns: Int
        var channels: Int
    }

    /// By tensor; a view's has no size.
    private(set) var slots: [Slot]
    private(set) var steps: [Step] = []
    /// Floats of the block.
    private(set) var count = 0
    /// Floats of scratch memory that a run needs for each stream.
    private(set) var scratchCount = 0
    private(set) var output = 0
    private(set) var embedding = 0
    /// Where the newest hop's columns of the activity layer begin.
    private(set) var activity = 0
    /// Input columns that the front end computes for a run, and where they go.
    let inputColumns: Int
    let inputOffset: Int

    /// All columns of the window.
    ///
    /// - Parameter embeds: whether the embedding is computed too, for which there may be layers of its own.
    static func window(_ network: Network, weights: borrowing PackedWeights, embeds: Bool) -> Schedule {
        Schedule(network, weights: weights, embeds: embeds, byHops: false, fresh: { $0.columns }, kept: { _ in 0 })
    }

    /// The new columns of some hops at once: one for a live stream, more where they are all there, as in a file.
    static func hops(_ hops: Int, _ network: Network, weights: borrowing PackedWeights, embeds: Bool) -> Schedule {
        let wanted = network.wanted(embeds: embeds)
        // A reader's newest input columns count from the end of the view; a crop's end lies between that and the end
        // of the memory.
        var needed = [Int](repeating: 0, count: network.tensors.count)
        func read(_ index: Int, columns: Int) {
            let tensor = network.tensors[index]
            needed[tensor.root] = max(needed[tensor.root], tensor.behind + columns)
        }
        for (index, layer) in network.layers.enumerated() where wanted[index + 1] {
            let tensor = network.tensors[index + 1]
            switch layer.operation {
            case .convolution(let numbers, _, _):
                read(layer.inputs[0], columns: numbers.shape.inputColumns(for: hops * tensor.fresh))
            case .mean(let run): read(layer.inputs[0], columns: hops * tensor.fresh + run - 1)
            case .add: for input in layer.inputs { read(input, columns: hops * tensor.fresh) }
            case .crop, .flatten: break
            }
        }
        read(network.output, columns: hops)
        if embeds, let index = network.embedding { read(index, columns: hops) }
        if let index = network.activity { read(index, columns: hops * network.tensors[index].columnsPerHop) }
        return Schedule(
            network,
            weights: weights,
            embeds: embeds,
            byHops: true,
            fresh: { hops * $0.fresh },
            kept: { max(0, needed[$0.root] - hops * $0.fresh) }
        )
    }

    private init(
        _ network: Network,
        weights: borrowing PackedWeights,
        embeds: Bool,
        byHops: Bool,
        fresh: (Network.Tensor) -> Int,
        kept: (Network.Tensor) -> Int
    ) {
        slots = Array(repeating: Slot(), count: network.tensors.count)
        let wanted = network.wanted(embeds: embeds)
        for (index, tensor) in network.tensors.enumerated() where tensor.root == index && wanted[index] {
            let slot = Slot(offset: count, kept: kept(tensor) * tensor.channels, fresh: fresh(tensor) * tensor.channels)
            slots[index] = slot
            count += aligned(slot.kept + slot.fresh)
        }
        inputColumns = fresh(network.tensors[0])
        inputOffset = slots[0].offset + slots[0].kept

        let places = slots
        /// Where the columns of a tensor begin that a run reads: a hop reads its newest, back from the end; a window
        /// reads from its first, and what a stride leaves over at the end is not read.
        func place(_ columns: Int, of index: Int) -> Int {
            let tensor = network.tensors[index]
            let channels = network.tensors[tensor.root].channels
            let slot = places[tensor.root]
            guard byHops else { return slot.offset + tensor.before * channels }
            return slot.offset + slot.kept + slot.fresh - (tensor.behind + columns) * channels
        }
        for (index, layer) in network.layers.enumerated() where wanted[index + 1] {
            let tensor = network.tensors[index + 1]
            let columns = fresh(tensor)
            let inputColumns: Int
            let work: Work
            switch layer.operation {
            case .convolution(let numbers, _, let rectify):
                let place = weights.places[index]
                work = .convolution(
                    Convolution(
                        shape: numbers.shape,
                        weights: place.offset,
                        quantiser: place.quantiser,
                        residual: nil,
                        rectify: rectify
                    )
                )
                inputColumns = numbers.shape.inputColumns(for: columns)
                if place.quantiser != nil {
                    // The kernels read on to the end of a group.
                    let count = inputColumns * numbers.inputChannels + quantisedGroup
                    scratchCount = max(scratchCount, aligned(count * weights.layout.inputBytes / 4))
                }
            case .mean(let run):
                work = .mean(run: run)
                inputColumns = columns + run - 1
            case .add(let rectify):
                if let fused = network.fusedAddend(of: index), fresh(network.tensors[index]) == columns,
                    let last = steps.last, case .convolution(var convolution) = last.work, !convolution.rectify
                {
                    convolution.residual = place(columns, of: fused)
                    convolution.rectify = rectify
                    steps[steps.count - 1].work = .convolution(convolution)
                    steps[steps.count - 1].output = slots[index + 1].offset + slots[index + 1].kept
                    continue
                }
                work = .add(right: place(columns, of: layer.inputs[1]), rectify: rectify)
                inputColumns = columns
            case .crop, .flatten: continue
            }
            let step = Step(
                work: work,
                input: place(inputColumns, of: layer.inputs[0]),
                output: slots[index + 1].offset + slots[index + 1].kept,
                columns: columns,
                channels: tensor.channels
            )
            steps.append(step)
        }
        output = place(1, of: network.output)
        embedding = place(1, of: embeds ? network.embedding ?? network.output : network.output)
        if let index = network.activity {
            let tensor = network.tensors[index]
            let old = byHops ? 0 : tensor.columns - tensor.columnsPerHop
            activity = place(tensor.columnsPerHop, of: index) + old * tensor.channels
        }
    }

    /// Moves the columns that stay old to the front, before a hop brings new ones.
    func age(_ base: UnsafeMutablePointer<Float>) {
        for index in slots.indices {
            let slot = slots[index]
            guard slot.kept > 0 else { continue }
            let start = base + slot.offset
            start.update(from: start + slot.fresh, count: slot.kept)
        }
    }
}
