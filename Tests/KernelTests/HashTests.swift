import Kernels
import Testing

struct HashTests {
    private func hash(_ bytes: [UInt8], from start: UInt64 = fnvBasis) -> UInt64 {
        bytes.withUnsafeBytes { bytes in
            guard let first = bytes.baseAddress else { return start }
            return hashWords(first, count: bytes.count, from: start)
        }
    }

    @Test func `every byte changes the hash, for any length`() {
        var seen: Set<UInt64> = []
        var expected = 0
        for count in 1...40 {
            let zeros = [UInt8](repeating: 0, count: count)
            seen.insert(hash(zeros))
            expected += 1
            for index in 0..<count {
                for bit in [0, 7] {
                    var bytes = zeros
                    bytes[index] = 1 << bit
                    seen.insert(hash(bytes))
                    expected += 1
                }
            }
        }
        #expect(seen.count == expected)
    }

    @Test func `a hash continues from its start value, and does not depend on alignment`() {
        let bytes = (0..<64).map { UInt8($0 * 37 & 255) }
        let unaligned = [0] + bytes
        let hashed = unaligned.withUnsafeBytes { buffer in
            buffer.baseAddress.map { hashWords($0 + 1, count: 64, from: fnvBasis) }
        }
        #expect(hashed == hash(bytes))
        #expect(hash(bytes, from: hash([1])) != hash(bytes, from: hash([2])))
    }
}
