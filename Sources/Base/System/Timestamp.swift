private import Core
private import Glibc

/// A time on the wall clock, in nanoseconds; its text has milliseconds.
public struct Timestamp: Equatable, Comparable, Sendable {
    /// Nanoseconds since the beginning of 1970, UTC.
    public let nanoseconds: Int64

    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Now.
    public static var now: Timestamp { Timestamp(nanoseconds: Clock.timeOfDay) }

    /// The time of ``text``; nil for anything else.
    public init?(_ text: String) {
        let numbers = text.split { "-T:.Z".contains($0) }.map { Int64(digits: $0) }
        guard text.utf8.count == 24, text.hasSuffix("Z"), numbers.count == 7, !numbers.contains(nil) else { return nil }
        let parts = numbers.compactMap { $0 }
        // Years whose nanoseconds fit; the comparison at the end finds what else is wrong.
        guard (1678...2261).contains(parts[0]), parts[1...].allSatisfy({ $0 < 1000 }) else { return nil }
        var date = tm()
        (date.tm_year, date.tm_mon, date.tm_mday) = (Int32(parts[0]) - 1900, Int32(parts[1]) - 1, Int32(parts[2]))
        (date.tm_hour, date.tm_min, date.tm_sec) = (Int32(parts[3]), Int32(parts[4]), Int32(parts[5]))
        self.init(nanoseconds: Int64(timegm(&date)) * 1_000_000_000 + parts[6] * 1_000_000)
        guard self.text == text else { return nil }
    }

    /// This many seconds later, or earlier where negative; the same where that is beyond all times.
    public func adding(seconds: Double) -> Timestamp {
        let offset = Int64(exactly: (seconds * 1e9).rounded()) ?? 0
        let (sum, overflow) = nanoseconds.addingReportingOverflow(offset)
        return Timestamp(nanoseconds: overflow ? nanoseconds : sum)
    }

    /// ISO 8601 in UTC: `2026-03-01T12:30:05.250Z`.
    public var text: String { text(date: "-", time: ":") }

    /// ISO 8601 without `-` and `:`, for file names: `20260301T123005.250Z`.
    public var compactText: String { text(date: "", time: "") }

    /// Local time of day: `12:30:05`.
    public var timeOfDayText: String {
        let parts = local
        return [parts.tm_hour, parts.tm_min, parts.tm_sec].map { padded(Int($0), 2) }.joined(separator: ":")
    }

    /// Local date: `2026-03-01`.
    public var dayText: String {
        let parts = local
        return [Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday)].map { padded($0, 2) }
            .joined(separator: "-")
    }

    private var local: tm {
        var moment = time_t(nanoseconds / 1_000_000_000)
        var parts = tm()
        localtime_r(&moment, &parts)
        return parts
    }

    private func text(date: String, time: String) -> String {
        let (seconds, rest) = (nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000)
        // Before 1970 the rest is negative.
        var moment = time_t(rest < 0 ? seconds - 1 : seconds)
        let milliseconds = (rest < 0 ? rest + 1_000_000_000 : rest) / 1_000_000
        var parts = tm()
        gmtime_r(&moment, &parts)
        let day = [Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday)]
        let hour = [Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec)]
        return day.map { padded($0, 2) }.joined(separator: date) + "T"
            + hour.map { padded($0, 2) }.joined(separator: time)
            + ".\(padded(Int(milliseconds), 3))Z"
    }
}
