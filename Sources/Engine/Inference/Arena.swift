private import System

/// Floats on a 64-byte boundary, initially zero, divided into regions: the memory of packed weights, sessions and batches.
///
/// The owner reserves every region in a `Layout`, then allocates once; kernels get plain pointers into the regions. It
/// is Sendable because only its owner has access, and the weights of a shared model are never written after loading.
package struct Arena: ~Copyable, @unchecked Sendable {
    /// Part of an arena; it begins on a 64-byte boundary.
    package struct Region: Sendable {
        /// Floats from the start of the arena.
        package let offset: Int
        /// Floats.
        package let count: Int
    }

    /// The regions of an arena that is not allocated yet.
    package struct Layout {
        /// Floats reserved so far, a multiple of 16.
        private(set) var count = 0

        package init() {}

        package mutating func reserve(_ count: Int) -> Region {
            let region = Region(offset: self.count, count: count)
            self.count += Arena.aligned(count)
            return region
        }
    }

    package let base: UnsafeMutablePointer<Float>
    /// Floats.
    package let count: Int
    /// Pages of their own; nil for memory of the heap.
    private let pages: ZeroPages?

    package init(_ layout: Layout) { self.init(layout, pages: nil) }

    /// Memory that the system provides page by page, where it is written: what is never written takes none.
    init(writtenLater layout: Layout) {
        self.init(layout, pages: ZeroPages(byteCount: layout.count * MemoryLayout<Float>.stride))
    }

    private init(_ layout: Layout, pages: consuming ZeroPages?) {
        count = layout.count
        if let start = pages?.start {
            base = start.bindMemory(to: Float.self, capacity: count)
        } else {
            let bytes = max(count, 1) * MemoryLayout<Float>.stride
            let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 64)
            base = memory.bindMemory(to: Float.self, capacity: count)
            base.initialize(repeating: 0, count: count)
        }
        self.pages = pages
    }

    deinit { if pages == nil { UnsafeMutableRawPointer(base).deallocate() } }

    package subscript(region: Region) -> UnsafeMutablePointer<Float> { base + region.offset }

    /// Copies `region.count` floats to a region of at least that size.
    func copy(_ region: Region, to target: Region) {
        self[target].update(from: self[region], count: region.count)
    }

    /// The next multiple of 16 floats, 64 bytes.
    static func aligned(_ count: Int) -> Int { (count + 15) & ~15 }
}
