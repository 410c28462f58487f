import CSystem
import Glibc

/// A POSIX thread with a name and a given stack. Destroying this value without ``join()`` detaches the thread.
public struct SystemThread: ~Copyable {
    private let thread: pthread_t

    /// What the new thread gets; it releases it.
    private final class Start {
        let name: StaticString
        let body: @Sendable () -> Void

        init(_ name: StaticString, _ body: @escaping @Sendable () -> Void) { (self.name, self.body) = (name, body) }
    }

    /// Starts a thread on a stack that the system allocates.
    ///
    /// - Parameters:
    ///   - name: shown by `ps` and `top`; at most 15 bytes.
    ///   - stackSize: in bytes.
    ///   - failure: makes the error to throw if the system gives no thread.
    ///   - body: runs on the thread; when it returns, the thread ends.
    public init<Failure: Error>(
        name: StaticString,
        stackSize: Int,
        or failure: (SystemError) -> Failure,
        _ body: @escaping @Sendable () -> Void
    ) throws(Failure) {
        do throws(SystemError) {
            try self.init(Start(name, body)) { pthread_attr_setstacksize($0, stackSize) }
        } catch {
            throw failure(error)
        }
    }

    /// Starts a thread whose stack is the caller's memory, which must outlive the thread.
    ///
    /// The lowest page of `stack` becomes the guard page.
    public init<Failure: Error>(
        name: StaticString,
        stack: UnsafeMutableRawBufferPointer,
        or failure: (SystemError) -> Failure,
        _ body: @escaping @Sendable () -> Void
    ) throws(Failure) {
        do throws(SystemError) {
            try self.init(Start(name, body)) { attributes in
                guard let base = stack.baseAddress else { return EINVAL }
                // The system puts no guard page below a given stack.
                mprotect(base, Int(sysconf(Int32(_SC_PAGESIZE))), PROT_NONE)
                return pthread_attr_setstack(attributes, base, stack.count)
            }
        } catch {
            throw failure(error)
        }
    }

    private init(
        _ start: Start,
        prepare: (UnsafeMutablePointer<pthread_attr_t>) -> Int32
    ) throws(SystemError) {
        // Not `pthread_attr_t()`: which module that initialiser belongs to depends on the C header imported first.
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        pthread_attr_init(attributes)
        defer {
            pthread_attr_destroy(attributes)
            attributes.deallocate()
        }
        let refusal = prepare(attributes)
        guard refusal == 0 else { throw SystemError("pthread_attr_setstack", refusal) }
        let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { start in
            guard let start else { return nil }
            let given = Unmanaged<Start>.fromOpaque(start).takeRetainedValue()
            given.name.withUTF8Buffer { name in
                name.withMemoryRebound(to: CChar.self) { CSystem_name_thread($0.baseAddress) }
            }
            given.body()
            return nil
        }
        var thread = pthread_t()
        let start = Unmanaged.passRetained(start)
        let result = pthread_create(&thread, attributes, run, start.toOpaque())
        guard result == 0 else {
            start.release()
            throw SystemError("pthread_create", result)
        }
        self.thread = thread
    }

    deinit { pthread_detach(thread) }

    /// Waits until the thread has ended.
    public consuming func join() {
        let thread = thread
        discard self
        pthread_join(thread, nil)
    }
}

/// Pins the calling thread to the processor that it runs on now.
///
/// - Returns: the processor's number; nil if the system does not allow it.
public func pinThread() -> Int? {
    let number = CSystem_pin_thread()
    return number >= 0 ? Int(number) : nil
}
