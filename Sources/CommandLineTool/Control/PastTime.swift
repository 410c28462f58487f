private import Core
private import Glibc
import System

extension Timestamp {
    /// What a text for ``init(past:now:)`` looks like, for messages.
    static let expectedPast = "a time such as 2h, 3d, 10:30, yesterday or '2026-03-01 10:30'"

    /// A time before now as people write it: how long ago (`2h`, `90 min ago`, `3d`), the last time of day (`10:30`), `today`, `yesterday`, a
    /// local date with or without a time, or ``text``. Nil for any other text.
    init?(past text: String, now: Timestamp) {
        var text = text.lowercased()
        if let exact = Timestamp(text.uppercased()) {
            self = exact
            return
        }
        if text.hasPrefix("-") { text.removeFirst() }
        if text.hasSuffix(" ago") { text.removeLast(4) }
        if text == "today" || text == "yesterday" {
            guard let midnight = Self.local(day: now.dayText, time: [0, 0, 0], days: text == "today" ? 0 : -1) else {
                return nil
            }
            self = midnight
        } else if text.contains(where: \.isLetter), !text.contains("-"), let seconds = Self.seconds(ago: text) {
            self = now.adding(seconds: -seconds)
        } else {
            let parts = text.split(whereSeparator: { $0 == " " || $0 == "t" }).map(String.init)
            guard let first = parts.first, parts.count <= 2 else { return nil }
            if parts.count == 1, first.contains(":") {
                guard let time = Self.time(first), var date = Self.local(day: now.dayText, time: time) else {
                    return nil
                }
                if date > now, let before = Self.local(day: now.dayText, time: time, days: -1) { date = before }
                self = date
            } else {
                guard let time = parts.count == 1 ? [0, 0, 0] : Self.time(parts[1]),
                    let date = Self.local(day: first, time: time)
                else { return nil }
                self = date
            }
        }
    }

    private static func seconds(ago text: String) -> Double? {
        let number = text.prefix { $0.isNumber || $0 == "." }
        if ["d", "day", "days"].contains(text.dropFirst(number.count).drop { $0 == " " }) {
            return Double(decimal: number).map { $0 * 86_400 }
        }
        return SecondsText.seconds(text)
    }

    /// The hour, minute and second of `10:30` or `10:30:05`.
    private static func time(_ text: String) -> [Int]? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { $0.utf8.count <= 2 ? Int(digits: $0) : nil }
        guard (2...3).contains(parts.count), numbers.count == parts.count,
            zip(numbers, [24, 60, 60]).allSatisfy({ $0 < $1 })
        else { return nil }
        return numbers + (numbers.count == 2 ? [0] : [])
    }

    /// A time of a day, such as `2026-03-01`, by the local clock.
    private static func local(day: String, time: [Int], days: Int = 0) -> Timestamp? {
        let numbers = day.split(separator: "-").compactMap { Int32(digits: $0) }
        guard day.utf8.count == 10, numbers.count == 3, (1...12).contains(numbers[1]), (1...31).contains(numbers[2])
        else { return nil }
        var date = tm()
        (date.tm_year, date.tm_mon, date.tm_mday) = (numbers[0] - 1900, numbers[1] - 1, numbers[2] + Int32(days))
        (date.tm_hour, date.tm_min, date.tm_sec) = (Int32(time[0]), Int32(time[1]), Int32(time[2]))
        date.tm_isdst = -1
        let seconds = mktime(&date)
        // mktime moves a 30th of February to March.
        guard days != 0 || date.tm_mday == numbers[2] else { return nil }
        return Timestamp(microseconds: Int64(seconds) * 1_000_000)
    }
}
