import Glibc
import Synchronization

/// A value that one thread sets and any thread reads: the setting thread never waits, allocates or locks.
///
/// A sequence lock: a reader copies the value again where the writer was at it meanwhile.
// Sendable is unchecked because of the raw memory: all access to it is atomic.
public final class Published<Value: BitwiseCopyable & Sendable>: @unchecked Sendable {
    /// Odd while the value is being set.
    private let version = Atomic<UInt64>(0)
    private let words: UnsafeMutablePointer<Atomic<UInt64>>
    /// The value, filled up to whole words; only the writer's.
    private let copy: UnsafeMutableRawPointer
    private static var count: Int { (MemoryLayout<Value>.size + 7) / 8 }

    public init(_ value: Value) {
        words = .allocate(capacity: Self.count)
        for index in 0..<Self.count { (words + index).initialize(to: Atomic(0)) }
        copy = .allocate(byteCount: 8 * Self.count, alignment: 16)
        copy.initializeMemory(as: UInt8.self, repeating: 0, count: 8 * Self.count)
        set(value)
    }

    deinit {
        words.deinitialize(count: Self.count)
        words.deallocate()
        copy.deallocate()
    }

    /// Sets the value. One thread at a time.
    public func set(_ value: Value) {
        copy.storeBytes(of: value, as: Value.self)
        let next = version.load(ordering: .relaxed) + 1
        version.store(next, ordering: .relaxed)
        atomicMemoryFence(ordering: .releasing)
        for index in 0..<Self.count {
            words[index].store(copy.load(fromByteOffset: 8 * index, as: UInt64.self), ordering: .relaxed)
        }
        version.store(next + 1, ordering: .releasing)
    }

    /// The value that was set last. Any thread.
    public var value: Value {
        withUnsafeTemporaryAllocation(byteCount: 8 * Self.count, alignment: 16) { room in
            while true {
                let before = version.load(ordering: .acquiring)
                for index in 0..<Self.count {
                    room.storeBytes(of: words[index].load(ordering: .relaxed), toByteOffset: 8 * index, as: UInt64.self)
                }
                atomicMemoryFence(ordering: .acquiring)
                if before % 2 == 0, version.load(ordering: .relaxed) == before { return room.load(as: Value.self) }
                sched_yield()
            }
        }
    }
}
