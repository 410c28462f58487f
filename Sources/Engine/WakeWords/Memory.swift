/// Integers in memory of their own, initially zero: buffers of the front end and of networks.
///
/// It is Sendable because only its owner has access.
struct Memory<Number: FixedWidthInteger>: ~Copyable, @unchecked Sendable {
    let base: UnsafeMutablePointer<Number>
    let count: Int

    init(_ count: Int) {
        self.count = count
        base = UnsafeMutablePointer.allocate(capacity: max(count, 1))
        base.initialize(repeating: 0, count: max(count, 1))
    }

    init(_ numbers: [Number]) {
        self.init(numbers.count)
        for index in numbers.indices { base[index] = numbers[index] }
    }

    deinit { base.deallocate() }

    func clear() { base.update(repeating: 0, count: count) }
}
