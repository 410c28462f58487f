private import Core

/// Names of files that are done: 17 bytes each, in place of the name.
struct DoneNames {
    /// A hash of 128 bits, so that no two names are taken for one.
    private struct Key: Comparable {
        let high, low: UInt64

        init(_ escaped: ArraySlice<UInt8>) {
            func hash(_ number: UInt8) -> UInt64 {
                var hasher = Hasher()
                hasher.combine(number)
                escaped.withUnsafeBytes { hasher.combine(bytes: $0) }
                return UInt64(bitPattern: Int64(hasher.finalize()))
            }
            (high, low) = (hash(0), hash(1))
        }

        static func < (left: Key, right: Key) -> Bool { (left.high, left.low) < (right.high, right.low) }
    }

    private var keys: [Key] = []
    private var isTaken: [Bool] = []

    var count: Int { keys.count }

    mutating func add(escaped name: ArraySlice<UInt8>) { keys.append(Key(name)) }

    /// Must be called after the last ``add(escaped:)``.
    mutating func sort() {
        keys.sort()
        isTaken = [Bool](repeating: false, count: keys.count)
    }

    /// Whether the name is there, as often as it was added.
    mutating func take(_ name: String) -> Bool {
        guard !keys.isEmpty else { return false }
        let key = Key(JournalContents.escaped(name)[...])
        var (low, high) = (0, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        while low < keys.count, keys[low] == key {
            if !isTaken[low] {
                isTaken[low] = true
                return true
            }
            low += 1
        }
        return false
    }
}
