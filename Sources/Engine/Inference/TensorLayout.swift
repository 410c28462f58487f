import KernelInterface
import Kernels

/// Which columns of each tensor a plan computes and keeps, in which form, and where they are in the state.
///
/// A tensor is kept as floats, quantised, or both: as its readers need it. Views have no memory of their own.
struct TensorLayout: Sendable {
    /// One form of a tensor: old columns that its readers still need, its history, then the columns that a run computes. All in bytes.
    struct Buffer: Sendable {
        var offset = 0
        var historyCount = 0
        var newCount = 0
        var columnCount = 0

        /// Offset of the first new column.
        var newOffset: Int { offset + historyCount }
        /// Offset after the last column.
        var end: Int { newOffset + newCount }

        var columns: Int { columnCount == 0 ? 0 : (historyCount + newCount) / columnCount }
    }

    /// The forms of a tensor; one that is not kept is empty.
    struct Tensor: Sendable {
        var floats = Buffer()
        var quantised = Buffer()
        /// How the quantised form is made.
        var quantiser: Quantiser?
        /// Whether the convolution that computes the tensor also quantises it.
        var isFused = false
    }

    /// One entry for each tensor of the network; views, and tensors that nothing needs, stay empty.
    private(set) var tensors: [Tensor]
    /// Columns that a run computes, for each tensor.
    private(set) var computed: [Int]
    /// For each layer, whether the convolution before it computes it, too.
    private(set) var isFusedAdd: [Bool]
    /// Whether positions are counted from a tensor's end, as they must be for hops; otherwise from its start, because a stride may leave
    /// columns at the end unread.
    private let countsFromEnd: Bool
    /// Floats of the state.
    private(set) var count = 0

    /// The newest columns of a form of a tensor that must be kept, and the last layer that reads them.
    private struct Need {
        var columns = 0
        var lastReader = 0

        mutating func read(_ count: Int, by layer: Int) {
            columns = max(columns, count)
            lastReader = max(lastReader, layer)
        }
    }

    private struct Needs {
        var floats = Need()
        var quantised = Need()
    }

    /// - Parameters:
    ///   - hops: number of hops of a run; nil for a window.
    ///   - stream: the layout whose buffers a window must be able to fill.
    init(
        _ network: Network,
        weights: borrowing PackedWeights,
        embeds: Bool,
        hops: Int?,
        stream: TensorLayout? = nil
    ) {
        let required = network.required(embeds: embeds)
        countsFromEnd = network.streams
        tensors = Array(repeating: Tensor(), count: network.tensors.count)
        isFusedAdd = network.layers.indices.map { index in
            guard required[index + 1], network.fusedAddend(of: index) != nil,
                case .convolution(_, .none) = network.layers[index - 1].operation
            else { return false }
            return network.tensors[index].newColumns == network.tensors[index + 1].newColumns
        }

        var needs = [Needs](repeating: Needs(), count: network.tensors.count)
        /// - Parameter layer: the layer that reads; `Int.max` for what is read after a run.
        func read(_ index: Int, columns: Int, isQuantised: Bool = false, by layer: Int = .max) {
            // Readers need the newest columns of a view, and a cropped view may end before its root does.
            let tensor = network.tensors[index]
            let form = isQuantised ? \Needs.quantised : \Needs.floats
            needs[tensor.root][keyPath: form].read(tensor.columnsAfter + columns, by: layer)
        }
        read(network.output, columns: hops ?? 1)
        if embeds { for index in network.embedding { read(index, columns: hops ?? 1) } }
        if let index = network.activity { read(index, columns: (hops ?? 1) * network.tensors[index].columnsPerHop) }
        if let stream {
            for (index, tensor) in stream.tensors.enumerated() {
                needs[index].floats.read(tensor.floats.columns, by: .max)
                needs[index].quantised.read(tensor.quantised.columns, by: .max)
            }
        }
        // A layer's readers come after it, so that going backwards all of them are known. A window computes only what is read.
        computed = network.tensors.map { tensor in hops.map { $0 * tensor.newColumns } ?? tensor.plane.columns }
        for (index, layer) in network.layers.enumerated().reversed() where required[index + 1] {
            let output = index + 1
            if hops == nil, network.streams, network.tensors[output].root == output {
                // A convolution that computes a sum has the sum's columns.
                let isFused = index + 1 < isFusedAdd.count && isFusedAdd[index + 1]
                computed[output] =
                    isFused ? computed[output + 1] : max(needs[output].floats.columns, needs[output].quantised.columns)
            }
            let columns = computed[output]
            switch layer.operation {
            case .convolution(let convolution, _):
                let shape = convolution.shape(of: network.tensors[layer.inputs[0]].plane)
                let isQuantised = weights.layers[index].isQuantised
                read(layer.inputs[0], columns: shape.inputColumns(for: columns), isQuantised: isQuantised, by: index)
            case .mean(let width): read(layer.inputs[0], columns: columns + width - 1, by: index)
            case .bandScale, .meanBands, .meanFrames, .normalise, .gate, .attention:
                read(layer.inputs[0], columns: columns, by: index)
            case .add:
                for input in layer.inputs where !(isFusedAdd[index] && input == index) {
                    read(input, columns: columns, by: index)
                }
            case .crop, .middleFrames, .flatten: break
            }
        }
        place(needs, network, weights, required, isStream: hops != nil)
    }

    /// Decides the forms of all tensors, and gives them memory.
    ///
    /// Each form lives from the layer that computes it to the last one that reads it, and then gives its memory to others; but for those
    /// of a network that streams, because the next hop needs them.
    private mutating func place(
        _ needs: [Needs],
        _ network: Network,
        _ weights: borrowing PackedWeights,
        _ required: [Bool],
        isStream: Bool
    ) {
        var taken: [(range: Range<Int>, lastReader: Int)] = []
        for (index, tensor) in network.tensors.enumerated() where tensor.root == index && required[index] {
            // A convolution's own output is not kept where the sum that follows is computed instead.
            if index < isFusedAdd.count, isFusedAdd[index] { continue }
            let isQuantised = needs[index].quantised.columns > 0
            let isFused = isQuantised && canFuse(index, network, weights)
            let keepsFloats = needs[index].floats.columns > 0 || !isFused
            // The layer that computes it: a sum may be computed by the convolution before.
            let layer = index > 0 && isFusedAdd[index - 1] ? index - 2 : index - 1
            taken.removeAll { $0.lastReader < layer }
            func buffer(_ need: Need, columnCount: Int, padding: Int) -> Buffer {
                let history = isStream ? max(0, need.columns - computed[index]) : 0
                var buffer = Buffer(
                    historyCount: history * columnCount,
                    newCount: computed[index] * columnCount,
                    columnCount: columnCount
                )
                let size = Arena.aligned((buffer.historyCount + buffer.newCount + padding + 3) / 4)
                var start = 0
                for entry in taken where entry.range.lowerBound < start + size {
                    start = max(start, entry.range.upperBound)
                }
                // In the order of their places.
                let place = taken.firstIndex { $0.range.lowerBound >= start } ?? taken.count
                let last = network.streams ? .max : max(need.lastReader, layer)
                taken.insert((start..<start + size, last), at: place)
                count = max(count, start + size)
                buffer.offset = 4 * start
                return buffer
            }
            if keepsFloats {
                tensors[index].floats = buffer(needs[index].floats, columnCount: 4 * tensor.channels, padding: 0)
            }
            if isQuantised {
                let inputBytes = weights.layout.inputBytes
                // The kernels may read up to the end of a group.
                tensors[index].quantised = buffer(
                    needs[index].quantised,
                    columnCount: tensor.channels * inputBytes,
                    padding: quantisedGroupSize * inputBytes
                )
                tensors[index].quantiser = weights.quantisers[index]
                tensors[index].isFused = isFused
            }
        }
    }

    /// Whether the convolution that computes a tensor can quantise it.
    ///
    /// A column that is not finite must be known by its first channel. That holds for results of quantised convolutions, so
    /// that a residual must be one, too.
    private func canFuse(_ index: Int, _ network: Network, _ weights: borrowing PackedWeights) -> Bool {
        func isQuantised(_ tensor: Int) -> Bool {
            guard tensor > 0, case .convolution(_, let activation) = network.layers[tensor - 1].operation else {
                return false
            }
            return (activation == .none || activation == .relu) && weights.layers[tensor - 1].isQuantised
        }
        guard index > 0, isFusedAdd[index - 1] else { return isQuantised(index) }
        guard isQuantised(index - 1), let residual = network.fusedAddend(of: index - 1) else { return false }
        let root = network.tensors[residual].root
        return isQuantised(root) || (root > 0 && isFusedAdd[root - 1] && isQuantised(root - 1))
    }

    /// Byte offset of the newest `columns` columns of a tensor as floats; in a window of a model that does not stream, of its first ones.
    func floats(_ index: Int, columns: Int, _ network: Network) -> Int {
        offset(tensors[network.tensors[index].root].floats, network.tensors[index], columns)
    }

    /// The same for the quantised form.
    func quantised(_ index: Int, columns: Int, _ network: Network) -> Int {
        offset(tensors[network.tensors[index].root].quantised, network.tensors[index], columns)
    }

    /// How a tensor is quantised.
    func quantiser(of index: Int, _ network: Network) -> Quantiser? { tensors[network.tensors[index].root].quantiser }

    private func offset(_ buffer: Buffer, _ tensor: Network.Tensor, _ columns: Int) -> Int {
        countsFromEnd
            ? buffer.end - (tensor.columnsAfter + columns) * buffer.columnCount
            : buffer.offset + tensor.columnsBefore * buffer.columnCount
    }

    /// Moves the newest columns of every buffer into its history, before a hop computes new ones.
    func shiftHistory(_ state: UnsafeMutablePointer<Float>) {
        // Counts indices: an array's iterator allocates in builds without optimisation.
        for index in tensors.indices {
            shift(tensors[index].floats, UnsafeMutableRawPointer(state))
            shift(tensors[index].quantised, UnsafeMutableRawPointer(state))
        }
    }

    private func shift(_ buffer: Buffer, _ state: UnsafeMutableRawPointer) {
        guard buffer.historyCount > 0 else { return }
        let start = state + buffer.offset
        start.copyMemory(from: start + buffer.newCount, byteCount: buffer.historyCount)
    }

    /// Copies the newest columns of a window's tensors into the buffers of this layout, which streams.
    func copy(_ window: TensorLayout, _ source: UnsafePointer<Float>, to state: UnsafeMutablePointer<Float>) {
        for index in tensors.indices {
            copy(window.tensors[index].floats, source, to: tensors[index].floats, state)
            copy(window.tensors[index].quantised, source, to: tensors[index].quantised, state)
        }
    }

    private func copy(
        _ source: Buffer,
        _ window: UnsafePointer<Float>,
        to target: Buffer,
        _ state: UnsafeMutablePointer<Float>
    ) {
        let count = target.historyCount + target.newCount
        guard count > 0 else { return }
        let from = UnsafeRawPointer(window) + source.end - count
        (UnsafeMutableRawPointer(state) + target.offset).copyMemory(from: from, byteCount: count)
    }
}
