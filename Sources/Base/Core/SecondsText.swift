/// Times as people and other programs write them.
public enum SecondsText {
    /// Units from the longest on, in seconds, by the names that they are written with.
    private static let units: [(names: Set<String>, seconds: Double)] = [
        (["h", "hr", "hour", "hours"], 3600), (["m", "min", "mins", "minute", "minutes"], 60),
        (["s", "sec", "secs", "second", "seconds"], 1), (["ms"], 0.001),
    ]

    /// The seconds of `12.5`, `5s`, `500ms`, `2 min`, `1m30s` or of a position such as `1:00` and `1:02:03.5`; nil for any other text.
    ///
    /// Minutes and seconds behind a colon have two digits and are below 60, so that no other notation is taken for them.
    public static func seconds(_ text: String) -> Double? {
        if let plain = Double(decimal: text) { return plain }
        return text.contains(":") ? position(text) : amount(text)
    }

    private static func position(_ text: String) -> Double? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), var total = parts.first.flatMap({ Int(digits: $0) }).map(Double.init)
        else {
            return nil
        }
        for (index, part) in parts.enumerated().dropFirst() {
            let whole = part.prefix { $0 != "." }
            guard whole.utf8.count == 2, let number = Double(decimal: part), number >= 0, number < 60,
                whole.count == part.count || index == parts.count - 1
            else { return nil }
            total = total * 60 + number
        }
        return total
    }

    /// Numbers with units, the longest unit first, each once.
    private static func amount(_ text: String) -> Double? {
        var (rest, total, next) = (text.lowercased()[...], 0.0, 0)
        repeat {
            let number = rest.prefix { $0.isNumber || $0 == "." }
            rest = rest.dropFirst(number.count).drop { $0 == " " }
            let name = rest.prefix { $0.isLetter }
            rest = rest.dropFirst(name.count).drop { $0 == " " }
            guard let value = Double(decimal: number),
                let unit = units[next...].firstIndex(where: { $0.names.contains(String(name)) })
            else { return nil }
            total += value * units[unit].seconds
            next = unit + 1
        } while !rest.isEmpty
        return total
    }
}
