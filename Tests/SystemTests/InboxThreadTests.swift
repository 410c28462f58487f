import Core
import Synchronization
import System
import TestSupport
import Testing

/// What servers and other threads with an inbox rely on.
struct InboxThreadTests {
    private static func unchanged(_ error: SystemError) -> SystemError { error }

    private func make() throws -> InboxThread<[Int]> { try InboxThread([], or: Self.unchanged) }

    @Test func `everything that is posted is taken once, in order, before the end`() throws {
        let thread = try make()
        let taken = Mutex<[Int]>([])
        try thread.start(name: "test-inbox", stackSize: 256 << 10, or: Self.unchanged) {
            while true {
                thread.wait(until: Clock.now + .seconds(60))
                let (new, isStopped) = thread.take { inbox in
                    defer { inbox = [] }
                    return inbox
                }
                taken.withLock { $0 += new }
                if isStopped { return }
            }
        }
        for number in 0..<1000 {
            #expect(
                thread.post {
                    $0.append(number)
                    return true
                }
            )
        }
        // The wait of a minute ends at once.
        #expect(thread.stop(until: Clock.now + .seconds(30)) { $0.append(1000) })
        #expect(taken.withLock { $0 } == Array(0...1000))
        // A second stop has nothing to wait for.
        #expect(thread.isStopped && thread.stop(until: Clock.now))
    }

    @Test func `what is changed without a word wakes nobody`() throws {
        let thread = try make()
        thread.withLock { $0 = [1] }
        #expect(!thread.wait(until: Clock.now))
        thread.wake()
        #expect(thread.wait(until: Clock.now + .seconds(30)))
        thread.wake()
        thread.drain()
        #expect(!thread.wait(until: Clock.now))
        #expect(thread.take { $0 } == ([1], isStopped: false))
    }

    @Test func `a thread that does not end is given up, and one that was never started is not waited for`() throws {
        let stuck = try make()
        let release = Latch()
        try stuck.start(name: "test-inbox", stackSize: 256 << 10, or: Self.unchanged) { release.wait() }
        #expect(!stuck.stop(until: Clock.now + .milliseconds(20)))
        release.open()
        #expect(stuck.stop(until: nil))
        #expect(try make().stop(until: nil))
    }
}
