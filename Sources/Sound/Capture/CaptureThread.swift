import Glibc
import System

/// The capture thread, on a stack that is locked in memory.
struct CaptureThread: ~Copyable {
    /// In bytes. ALSA's plug-ins use about 100 KiB while a device is opened.
    private static let stackSize = 512 * 1024

    private let thread: SystemThread
    private let stack: PinnedMemory

    /// - Parameters:
    ///   - name: at most 15 bytes.
    ///   - body: Runs on the thread; when it returns, the thread ends.
    init(name: StaticString = "beckon-capture", _ body: @escaping @Sendable () -> Void) throws(CaptureError) {
        let stack = try PinnedMemory(size: CaptureThread.stackSize)
        thread = try SystemThread(name: name, stack: stack.bytes, or: CaptureError.noThread, body)
        self.stack = stack
    }

    /// Waits until the thread has ended.
    consuming func join() { thread.join() }

    /// Gives the calling thread real-time priority (SCHED_FIFO, 1–99). Returns 0 or an errno.
    static func becomeRealTime(priority: Int) -> Int32 {
        var parameter = sched_param()
        parameter.sched_priority = Int32(clamping: priority)
        return pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameter)
    }
}
