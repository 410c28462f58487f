/// The known name nearest to a misspelt one; nil unless it is at most two edits away, and at most half of its length. Upper and
/// lower case are the same, and quotation marks around the misspelt one do not count.
///
/// The distance takes time with the product of the lengths, and the misspelt name may come from outside: longer names than
/// 64 bytes are not compared.
public func nearestName(to name: String, of names: some Sequence<String>) -> String? {
    let (longest, reach) = (64, 2)
    guard name.utf8.count <= longest else { return nil }
    let folded = (QuotationMarks.inside(name) ?? name).lowercased()
    let length = folded.count
    let near = names.lazy.filter { $0.utf8.count <= longest && abs($0.count - length) <= reach }
    let nearest = near.map { ($0, editDistance($0.lowercased(), folded)) }.min { $0.1 < $1.1 }
    guard let nearest, nearest.1 <= reach, 2 * nearest.1 <= nearest.0.count else { return nil }
    return nearest.0
}

/// The distance of Damerau and Levenshtein, in its restricted form: letters to insert, delete or replace, and neighbours to swap.
func editDistance(_ left: String, _ right: String) -> Int {
    let (left, right) = (Array(left), Array(right))
    var (before, row) = ([Int](), Array(0...right.count))
    for (i, a) in left.enumerated() {
        var next = [i + 1]
        for (j, b) in right.enumerated() {
            var least = min(row[j] + (a == b ? 0 : 1), row[j + 1] + 1, next[j] + 1)
            if i > 0, j > 0, a == right[j - 1], b == left[i - 1] { least = min(least, before[j - 1] + 1) }
            next.append(least)
        }
        (before, row) = (row, next)
    }
    return row[right.count]
}
