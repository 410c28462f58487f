/// The elements that a STRIDED_SLICE takes of a tensor.
struct StridedRanges {
    private var starts: [Int] = []
    private var counts: [Int] = []
    private var strides: [Int] = []
    /// Adjacent elements of a run: the last extent, if its stride is 1.
    let run: Int
    /// Elements in all.
    let count: Int

    /// - Parameter numbers: the constants of an input: 1 for the starts, 2 for the ends, 3 for the strides.
    init(
        _ operation: TFLiteFile.Operator,
        of source: TFLiteFile.Tensor,
        in file: TFLiteFile,
        _ numbers: (Int) throws(WakeWordError) -> [Int32]
    ) throws(WakeWordError) {
        guard let options = operation.options else { throw .damaged.saying("STRIDED_SLICE has no options") }
        func mask(_ field: Int) throws(WakeWordError) -> Int32 {
            try file.buffer.number(Int32.self, options, field: field) ?? 0
        }
        let (fromStart, toEnd, single) = (try mask(0), try mask(1), try mask(4))
        guard try mask(2) == 0, try mask(3) == 0 else {
            throw .unsupported.saying("STRIDED_SLICE has new or omitted dimensions, which are not supported")
        }
        let (begins, ends, steps) = (try numbers(1), try numbers(2), try numbers(3))
        let shape = source.shape
        guard !shape.isEmpty, [begins.count, ends.count, steps.count].allSatisfy({ $0 == shape.count }) else {
            throw .damaged.saying("STRIDED_SLICE does not have a range for each dimension")
        }
        var total = 1
        for (index, extent) in shape.enumerated() {
            func has(_ mask: Int32) -> Bool { mask >> Int32(index) & 1 == 1 }
            func place(_ number: Int32) -> Int { min(max(number < 0 ? Int(number) + extent : Int(number), 0), extent) }
            let step = Int(steps[index])
            guard step > 0 else { throw .unsupported.saying("STRIDED_SLICE goes backwards, which is not supported") }
            let start = has(fromStart) ? 0 : place(begins[index])
            let end = has(single) ? min(start + 1, extent) : has(toEnd) ? extent : place(ends[index])
            let count = max(0, (end - start + step - 1) / step)
            starts.append(start)
            counts.append(count)
            strides.append(step)
            total *= count
        }
        count = total
        run = strides.last == 1 ? counts.last ?? 1 : 1
    }

    /// The offset of each run, in the order of the output.
    func offsets(in shape: [Int], _ budget: ModelBudget) throws(WakeWordError) -> [Int] {
        try budget.take(count, of: 3 * MemoryLayout<Int>.stride)
        var offsets = [0]
        for index in shape.indices {
            let isLast = index == shape.count - 1
            let count = isLast && run > 1 ? 1 : counts[index]
            offsets = offsets.flatMap { offset in
                (0..<count).map { offset * shape[index] + starts[index] + $0 * strides[index] }
            }
        }
        return offsets
    }
}
