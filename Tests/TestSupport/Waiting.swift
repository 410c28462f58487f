import Foundation
import Synchronization

/// Polls a condition every 2 ms. Returns whether it became true within `seconds`.
public func comesTrue(within seconds: Double = 5, _ condition: () throws -> Bool) rethrows -> Bool {
    let end = Date(timeIntervalSinceNow: seconds)
    while Date() < end {
        if try condition() { return true }
        usleep(2000)
    }
    return try condition()
}

/// Lines that other threads report.
public final class Lines: Sendable {
    private let lines = Mutex<[String]>([])

    public init() {}

    public func add(_ line: String) { lines.withLock { $0.append(line) } }

    public var all: [String] { lines.withLock { $0 } }
}
