private import Kernels

/// Why bytes are no word store.
enum StoreDamage: Error, CustomStringConvertible {
    case cutShort, newer, checksum, header, limits, longer
    case word(String)
    case twice(String)
    case take(String)
    case name(EnrollmentError)

    var description: String {
        switch self {
        case .cutShort: "cut short; restore it from a copy"
        case .newer: "written by a newer beckon; update this one"
        case .checksum: "damaged, its checksum does not match; restore it from a copy"
        case .header: "its header cannot be read; restore it from a copy"
        case .limits: "more words, or larger vectors, than the limits allow"
        case .word(let name): "the word '\(name)' has too many takes or an impossible threshold"
        case .twice(let name): "contains the word '\(name)' twice"
        case .take(let name): "the takes of '\(name)' are damaged; restore it from a copy"
        case .longer: "continues after its last word"
        case .name(let error): error.description
        }
    }
}

/// Reads numbers in sequence.
///
/// The machines that Beckon runs on are little-endian, as a store is, so numbers are copied as they are.
struct StoreReader {
    private let all: ArraySlice<UInt8>
    private(set) var position: Int

    init(_ bytes: ArraySlice<UInt8>) {
        all = bytes
        position = bytes.startIndex
    }

    var isAtEnd: Bool { position == all.endIndex }

    mutating func bytes(_ count: Int) throws(StoreDamage) -> ArraySlice<UInt8> {
        guard count >= 0, count <= all.endIndex - position else { throw .cutShort }
        defer { position += count }
        return all[position..<position + count]
    }

    /// A length in bytes, clamped to the largest `Int`.
    mutating func number() throws(StoreDamage) -> Int { Int(clamping: try checksum()) }

    mutating func checksum() throws(StoreDamage) -> UInt64 {
        try bytes(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The templates of a take; their numbers are finite.
    mutating func templates(_ count: Int, dimensions: Int) throws(StoreDamage) -> [[Float]] {
        guard dimensions > 0 else { throw .take("") }
        var templates: [[Float]] = []
        for _ in 0..<count {
            let vector: [Float] = try numbers(dimensions)
            guard vector.allSatisfy(\.isFinite) else { throw .take("") }
            templates.append(vector)
        }
        return templates
    }

    mutating func samples(_ count: Int) throws(StoreDamage) -> [Int16] { try numbers(count) }

    private mutating func numbers<Number: BitwiseCopyable>(_ count: Int) throws(StoreDamage) -> [Number] {
        let bytes = try bytes(count * MemoryLayout<Number>.stride)
        return bytes.withUnsafeBytes { source in
            [Number](unsafeUninitializedCapacity: count) { target, filled in
                UnsafeMutableRawBufferPointer(target).copyMemory(from: source)
                filled = count
            }
        }
    }
}

/// FNV-1a.
func storeChecksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.withUnsafeBytes { buffer in
        buffer.baseAddress.map { fnv1a($0, count: buffer.count, from: fnvBasis) } ?? fnvBasis
    }
}
