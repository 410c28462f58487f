private import Foundation
import Service
private import Synchronization

/// What a service has to say, on standard error: with priorities where the journal reads it, plain elsewhere.
final class ServiceLog: Sendable {
    private let threshold = Mutex(Configuration.Log.info)
    private let isJournal = ProcessInfo.processInfo.environment["JOURNAL_STREAM"] != nil

    /// From which priority on anything is written.
    var level: Configuration.Log {
        get { threshold.withLock { $0 } }
        set { threshold.withLock { $0 = newValue } }
    }

    func write(_ priority: JournalPriority, _ text: String) {
        let most: JournalPriority =
            switch level {
            case .error: .error
            case .warning: .warning
            case .info: .info
            case .debug: .debug
            }
        guard priority.number <= most.number else { return }
        let lines = text.split(separator: "\n").map { isJournal ? "<\(priority.number)>\($0)\n" : "beckon: \($0)\n" }
        Terminal.error(lines.joined())
    }
}
