import Testing

@testable import Audio

@Suite struct RingSizeTests {
    @Test(arguments: [4_096, 16_384, 65_536]) func wholePages(pageSize: Int) {
        for capacity in [1, 7, 8, 32, 100, 1_000] {
            let slots = BlockRing.slots(minimumCapacity: capacity, pageSize: pageSize)
            #expect(slots * BlockRing.blockBytes % pageSize == 0)
            #expect(slots - 9 >= capacity)
            #expect(slots < capacity + 9 + pageSize / 256, "no more than the page size asks for")
        }
    }

    @Test func mirrorShowsTheSameBytes() throws {
        let memory = try MirroredMemory(size: 65_536)
        for offset in [0, 1, 4_095, 65_535] {
            memory.start.storeBytes(of: UInt8(offset % 251 + 1), toByteOffset: offset, as: UInt8.self)
            #expect(memory.start.load(fromByteOffset: offset + 65_536, as: UInt8.self) == UInt8(offset % 251 + 1))
        }
    }

    @Test func refusesWhatTheSystemRefuses() {
        let error = #expect(throws: AudioError.self) { _ = try MirroredMemory(size: 1 << 60) }
        #expect(error == .memory)
        #expect(error?.description.contains("mmap") == true || error?.description.contains("ftruncate") == true)
    }
}
