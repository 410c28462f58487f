/// The known name nearest to a misspelt one; nil unless it is at most two edits away, and at most half of its length. Upper and
/// lower case are the same.
///
/// The distance takes time with the product of the lengths, and the misspelt name may come from outside: longer names than
/// 64 bytes are not compared.
public func nearestName(to name: String, of names: some Sequence<String>) -> String? {
    let (longest, reach) = (64, 2)
    guard name.utf8.count <= longest else { return nil }
    let length = name.count
    let folded = name.lowercased()
    let near = names.lazy.filter { $0.utf8.count <= longest && abs($0.count - length) <= reach }
    let nearest = near.map { ($0, editDistance($0.lowercased(), folded)) }.min { $0.1 < $1.1 }
    guard let nearest, nearest.1 <= reach, 2 * nearest.1 <= nearest.0.count else { return nil }
    return nearest.0
}

/// The Levenshtein distance: letters to insert, delete or replace.
func editDistance(_ left: String, _ right: String) -> Int {
    let right = Array(right)
    var row = Array(0...right.count)
    for (i, a) in left.enumerated() {
        var diagonal = row[0]
        row[0] = i + 1
        for (j, b) in right.enumerated() {
            let replace = diagonal + (a == b ? 0 : 1)
            diagonal = row[j + 1]
            row[j + 1] = min(replace, row[j + 1] + 1, row[j] + 1)
        }
    }
    return row[right.count]
}
