/// How urgent a message or a journal entry is.
public enum LogLevel: String, CaseIterable, Comparable, Sendable {
    // In the order of syslog, from 3 on.
    case error, warning, notice, info, debug

    /// The priority of syslog (RFC 5424): 0 is the most urgent.
    public var syslogPriority: Int { 3 + (Self.allCases.firstIndex(of: self) ?? 0) }

    /// The more urgent level is the greater one.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.syslogPriority > right.syslogPriority }
}
