private import Core
private import Glibc

/// A time on the wall clock, in microseconds; its text has milliseconds.
public struct Timestamp: Equatable, Comparable, Sendable {
    /// Microseconds since the beginning of 1970, UTC; negative before that.
    public let microseconds: Int64

    /// The years 0 to 9999, whose texts have four digits.
    private static let range: ClosedRange<Int64> = -62_167_219_200_000_000...253_402_300_799_999_999

    /// - Parameter microseconds: what is before the year 0 or after 9999 becomes the nearest time of these years.
    public init(microseconds: Int64) {
        self.microseconds = min(max(microseconds, Self.range.lowerBound), Self.range.upperBound)
    }

    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.microseconds < right.microseconds }

    /// Now.
    public static var now: Timestamp { Timestamp(microseconds: Clock.timeOfDay) }

    /// The time of ``text``; nil for anything else.
    public init?(_ text: String) {
        let numbers = text.split { "-T:.Z".contains($0) }.map { Int64(digits: $0) }
        guard text.utf8.count == 24, text.hasSuffix("Z"), numbers.count == 7, !numbers.contains(nil) else { return nil }
        let parts = numbers.compactMap { $0 }
        // The comparison at the end finds what else is wrong.
        guard parts[0] <= 9999, parts[1...].allSatisfy({ $0 < 1000 }) else { return nil }
        var date = tm()
        (date.tm_year, date.tm_mon, date.tm_mday) = (Int32(parts[0]) - 1900, Int32(parts[1]) - 1, Int32(parts[2]))
        (date.tm_hour, date.tm_min, date.tm_sec) = (Int32(parts[3]), Int32(parts[4]), Int32(parts[5]))
        self.init(microseconds: Int64(timegm(&date)) * 1_000_000 + parts[6] * 1000)
        guard self.text == text else { return nil }
    }

    /// This many seconds later, or earlier where negative; the same where that is beyond all times.
    public func adding(seconds: Double) -> Timestamp {
        let offset = Int64(exactly: (seconds * 1e6).rounded()) ?? 0
        let (sum, overflow) = microseconds.addingReportingOverflow(offset)
        return Self.range.contains(sum) && !overflow ? Timestamp(microseconds: sum) : self
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
        Self.day(local, separator: "-")
    }

    private static func day(_ parts: tm, separator: String) -> String {
        [padded(Int(parts.tm_year) + 1900, 4), padded(Int(parts.tm_mon) + 1, 2), padded(Int(parts.tm_mday), 2)]
            .joined(separator: separator)
    }

    /// The second in which it is, and the microseconds since that began, also before 1970.
    private var moment: (second: time_t, rest: Int64) {
        let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return rest < 0 ? (time_t(seconds - 1), rest + 1_000_000) : (time_t(seconds), rest)
    }

    private var local: tm {
        var moment = moment.second
        var parts = tm()
        localtime_r(&moment, &parts)
        return parts
    }

    private func text(date: String, time: String) -> String {
        var second = moment.second
        var parts = tm()
        gmtime_r(&second, &parts)
        let hour = [Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec)]
        return Self.day(parts, separator: date) + "T" + hour.map { padded($0, 2) }.joined(separator: time)
            + ".\(padded(Int(moment.rest / 1000), 3))Z"
    }
}
