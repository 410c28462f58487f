import CLinux
import Glibc

/// A thread of its own for capturing, with real-time priority where the system allows it.
struct CaptureThread: ~Copyable {
    /// ALSA's plug-ins want some 100 KiB while a device is opened.
    private static let stackSize = 512 * 1024

    private let thread: pthread_t
    private let stack: PinnedMemory

    /// What the new thread gets, and frees.
    private final class Start {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// - Parameter body: Runs on the thread, whose end is the thread's end.
    init(_ body: @escaping @Sendable () -> Void) throws(CaptureError) {
        let stack = try PinnedMemory(size: CaptureThread.stackSize)
        thread = try CaptureThread.begin(on: stack.bytes, body)
        self.stack = stack
    }

    private static func begin(
        on stack: UnsafeMutableRawBufferPointer,
        _ body: @escaping @Sendable () -> Void
    ) throws(CaptureError) -> pthread_t {
        // Not `pthread_attr_t()`: to whose module that belongs depends on which C header the compiler meets first.
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        pthread_attr_init(attributes)
        defer {
            pthread_attr_destroy(attributes)
            attributes.deallocate()
        }
        if let base = stack.baseAddress {
            // The system puts no guard below a stack that it was given.
            mprotect(base, Int(sysconf(Int32(_SC_PAGESIZE))), PROT_NONE)
            pthread_attr_setstack(attributes, base, stack.count)
        }
        var thread = pthread_t()
        let start = Unmanaged.passRetained(Start(body))
        let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { start in
            guard let start else { return nil }
            CLinux_name_thread("beckon-capture")
            Unmanaged<Start>.fromOpaque(start).takeRetainedValue().body()
            return nil
        }
        let result = pthread_create(&thread, attributes, run, start.toOpaque())
        guard result == 0 else {
            start.release()
            throw .system("cannot start the capture thread", "pthread_create", result)
        }
        return thread
    }

    /// Waits for the thread's end.
    consuming func join() { pthread_join(thread, nil) }

    /// Asks for real-time priority for the calling thread; 0 or an errno.
    static func becomeRealTime(priority: Int) -> Int32 {
        var parameter = sched_param()
        parameter.sched_priority = Int32(clamping: priority)
        return pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameter)
    }
}
