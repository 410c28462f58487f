private import Core
private import Glibc
private import Synchronization
private import System

/// Lets a fork wait for the calls of other threads: the child has none of these threads, and a lock that one of them held would stay closed
/// there for ever.
///
/// Only atomic numbers, because locks and conditions of the parent are of no use in a child. A call never forks.
enum ForkGate {
    /// How long a fork waits at most, as where another thread looks through a file of hours. Then it is as it would be without a gate: the
    /// child hangs only where that thread was inside one of the few moments in which it holds a lock.
    private static let patience = Duration.seconds(2)

    /// Threads that are inside a call.
    private static let calls = Atomic<Int>(0)
    /// Threads that fork.
    private static let forks = Atomic<Int>(0)

    private static let isPrepared =
        pthread_atfork(
            {
                forks.add(1, ordering: .sequentiallyConsistent)
                let end = Clock.now + patience
                while calls.load(ordering: .sequentiallyConsistent) > 0, Clock.now < end { usleep(500) }
            },
            { forks.subtract(1, ordering: .sequentiallyConsistent) },
            {
                calls.store(0, ordering: .sequentiallyConsistent)
                forks.store(0, ordering: .sequentiallyConsistent)
            }
        ) == 0

    /// Begins a call, after the forks that have begun.
    static func enter() {
        guard isPrepared else { return }
        while true {
            calls.add(1, ordering: .sequentiallyConsistent)
            guard forks.load(ordering: .sequentiallyConsistent) > 0 else { return }
            leave()
            while forks.load(ordering: .sequentiallyConsistent) > 0 { usleep(500) }
        }
    }

    /// Ends a call that began with ``enter()``.
    static func leave() {
        if isPrepared { calls.subtract(1, ordering: .sequentiallyConsistent) }
    }
}
