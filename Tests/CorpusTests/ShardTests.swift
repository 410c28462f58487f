import Testing

@testable import Corpus

struct ShardTests {
    @Test func `a shard is a number and a count`() {
        #expect(Shard("3/16").map { [$0.number, $0.count] } == [3, 16])
        #expect(Shard("1/1")?.description == "1/1")
        for text in [
            "", "3", "0/4", "5/4", "-1/4", "1/0", "1/4/2", "a/b", "1/", "/4", "1/1000001", "+3/16", "3/+16", "3/0x10",
        ] {
            #expect(Shard(text) == nil, "\(text)")
        }
    }

    @Test func `the hash of a name never changes`() {
        // FNV-1a of 64 bits and the finaliser of MurmurHash3, computed by another program.
        #expect(Shard.hash([]) == 0xEFD0_1F60_BA99_2926)
        #expect(Shard.hash(Array("a.wav".utf8)) == 0x6684_8E34_C2CF_7A89)
        #expect(Shard.hash(Array("talks/2026-11-22 café.flac".utf8)) == 0x2D02_408F_C62B_4B80)
    }

    @Test func `shards share no name, leave none out, and are of about the same size`() {
        let names = (0..<20_000).map { "clips/\($0 / 100)/\($0 % 100).wav" }
        let shards = (1...16).compactMap { Shard("\($0)/16") }
        var sizes = [Int](repeating: 0, count: 16)
        for name in names {
            let mine = shards.filter { $0.contains(name) }
            #expect(mine.count == 1, "\(name)")
            if let first = mine.first { sizes[first.number - 1] += 1 }
        }
        // 1250 each, with a standard deviation of 34.
        #expect(sizes.allSatisfy { (1080...1420).contains($0) }, "\(sizes)")
    }
}
