import Foundation
import Glibc

/// Tests whether a piece of work allocates heap memory.
///
/// Swift reserves the symbol `malloc`, so a test cannot replace it with a counting one. Instead the work runs on a new
/// thread, whose cache of freed blocks is empty: a small block that is allocated and freed stays in that cache, and the
/// C library still counts it as used. Other tests allocate at the same time, so there are many trials: one without
/// growth shows that the work does not allocate.
public final class HeapTrial: @unchecked Sendable {
    private let work: () -> Void
    private var growth = -1
    private let before = HeapAccount()
    private let after = HeapAccount()

    public init(_ work: @escaping () -> Void) { self.work = work }

    /// Whether one of many trials, over at most `seconds`, left the heap size unchanged.
    public func isQuiet(seconds: Double) -> Bool {
        let end = Date(timeIntervalSinceNow: seconds)
        repeat {
            let done = DispatchSemaphore(value: 0)
            Thread { [self] in
                before.take()
                work()
                after.take()
                if let start = before.used, let end = after.used { growth = end - start }
                done.signal()
            }.start()
            done.wait()
            if growth == 0 { return true }
        } while Date() < end
        return false
    }
}

/// Bytes of the heap in use, by all threads; nil where the C library does not say. Allocates.
public func heapInUse() -> Int? {
    let account = HeapAccount()
    account.take()
    return account.used
}

/// The C library's statistics of the heap, written into memory that is allocated beforehand.
private final class HeapAccount {
    private typealias Report = @convention(c) (Int32, UnsafeMutablePointer<FILE>?) -> Int32

    private let text = UnsafeMutablePointer<CChar>.allocate(capacity: 1 << 16)
    private let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: 1 << 16)
    private let stream: UnsafeMutablePointer<FILE>?
    private let report: Report?

    init() {
        text.initialize(repeating: 0, count: 1 << 16)
        stream = fmemopen(text, 1 << 16, "w")
        if let stream { setvbuf(stream, buffer, _IOFBF, 1 << 16) }
        report = dlsym(nil, "malloc_info").map { unsafeBitCast($0, to: Report.self) }
    }

    deinit {
        if let stream { fclose(stream) }
        text.deallocate()
        buffer.deallocate()
    }

    func take() {
        if let stream { rewind(stream) }
        _ = report?(0, stream)
        if let stream { fflush(stream) }
    }

    /// Bytes in use over all arenas: bytes from the system minus free bytes.
    var used: Int? {
        let report = String(cString: text)
        guard let last = report.range(of: "</heap>", options: .backwards) else { return nil }
        let totals = report[last.upperBound...]
        func size(_ element: String) -> Int? {
            guard let place = totals.range(of: element),
                let size = totals[place.upperBound...].range(of: "size=\"")
            else { return nil }
            return Int(totals[size.upperBound...].prefix { $0.isNumber })
        }
        guard let system = size("<system type=\"current\""), let free = size("<total type=\"rest\""),
            let fast = size("<total type=\"fast\""), let mapped = size("<total type=\"mmap\"")
        else { return nil }
        return system + mapped - free - fast
    }
}
