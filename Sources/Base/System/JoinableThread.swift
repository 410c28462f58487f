/// A ``SystemThread`` that may lie in an array, which holds no noncopyable values. Used by the thread that made it.
public final class JoinableThread {
    private var thread: SystemThread?

    /// For work that needs no more than the system gives to the first thread of a program.
    private static let stackSize = 4 << 20
    /// What a thread that scores audio takes at most, its stack included.
    private static let room = 64 << 20

    /// Starts a thread.
    ///
    /// - Parameters: as for ``SystemThread``.
    /// - Returns: nil if the system gives no thread, or no memory for its work.
    public init?(name: StaticString, _ body: @escaping @Sendable () -> Void) {
        guard AddressSpace.shortage(for: Self.room) == nil else { return nil }
        do throws(SystemError) {
            thread = try SystemThread(name: name, stackSize: Self.stackSize, or: { $0 }, body)
        } catch {
            return nil
        }
    }

    /// Waits until the thread has ended; afterwards it does nothing.
    public func join() {
        if let thread = thread.take() { thread.join() }
    }
}
