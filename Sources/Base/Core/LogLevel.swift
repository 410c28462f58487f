/// How urgent a message or a journal entry is.
public enum LogLevel: String, CaseIterable, Comparable, Sendable {
    case error, warning, notice, info, debug

    /// The priority of syslog (RFC 5424): 0 is the most urgent.
    public var syslogPriority: Int {
        switch self {
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .debug: 7
        }
    }

    /// The more urgent level is the greater one.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.syslogPriority > right.syslogPriority }
}
