import Glibc
import System

/// The capture thread, with real-time priority where the system allows it.
struct CaptureThread: ~Copyable {
    /// In bytes. ALSA's plug-ins use some 100 KiB while a device is opened.
    private static let stackSize = 512 * 1024

    private let thread: SystemThread
    private let stack: PinnedMemory

    /// - Parameter body: Runs on the thread, whose end is the thread's end.
    init(_ body: @escaping @Sendable () -> Void) throws(CaptureError) {
        let stack = try PinnedMemory(size: CaptureThread.stackSize)
        thread = try SystemThread(name: "beckon-capture", stack: stack.bytes, or: CaptureError.noThread, body)
        self.stack = stack
    }

    /// Waits for the thread's end.
    consuming func join() { thread.join() }

    /// Asks for real-time priority for the calling thread; 0 or an errno.
    static func becomeRealTime(priority: Int) -> Int32 {
        var parameter = sched_param()
        parameter.sched_priority = Int32(clamping: priority)
        return pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameter)
    }
}
