/// Numbers in memory of their own, on a 64-byte boundary, initially zero: buffers of front ends and of networks.
///
/// It is Sendable because only its owner has access.
struct Memory<Number: Numeric & BitwiseCopyable>: ~Copyable, @unchecked Sendable {
    let base: UnsafeMutablePointer<Number>
    let count: Int

    init(_ count: Int) {
        self.count = count
        let bytes = max(count, 1) * MemoryLayout<Number>.stride
        let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 64)
        base = memory.bindMemory(to: Number.self, capacity: max(count, 1))
        base.initialize(repeating: 0, count: max(count, 1))
    }

    init(_ numbers: [Number]) {
        self.init(numbers.count)
        for index in numbers.indices { base[index] = numbers[index] }
    }

    deinit { UnsafeMutableRawPointer(base).deallocate() }

    func clear() { base.update(repeating: 0, count: count) }
}
