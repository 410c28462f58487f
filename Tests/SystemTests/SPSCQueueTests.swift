import Foundation
import System
import TestSupport
import Testing

struct SPSCQueueTests {
    private struct Element: Equatable, Sendable, BitwiseCopyable {
        var number: Int
        /// Always the complement of the other field, so that a torn element is detected.
        var check: Int

        init(_ number: Int) { (self.number, check) = (number, ~number) }
    }

    /// A queue in a class, so that two threads can share it.
    private final class Shared: Sendable {
        let queue: SPSCQueue<Element>

        init(capacity: Int) { queue = SPSCQueue(capacity: capacity) }
    }

    @Test func `elements come in order, and a full queue drops and counts the new ones`() {
        let queue = SPSCQueue<Element>(capacity: 5)
        #expect(queue.pop() == nil)
        for round in 0..<3 {
            for number in 0..<8 { #expect(queue.push(Element(number)) == (number < 5)) }
            #expect(queue.droppedCount == UInt64(round + 1) * 3)
            for number in 0..<5 { #expect(queue.pop() == Element(number)) }
            #expect(queue.pop() == nil)
        }
    }

    @Test func `a capacity below one is one`() {
        let queue = SPSCQueue<Int>(capacity: -3)
        #expect(queue.push(1) && !queue.push(2))
        #expect(queue.pop() == 1)
    }

    @Test func `between two threads nothing is lost, torn or out of order`() {
        let shared = Shared(capacity: 7)
        let count = 50_000
        Thread {
            for number in 0..<count {
                while !shared.queue.push(Element(number)) { sched_yield() }
            }
        }.start()
        var expected = 0
        // A switch of threads every few elements, which takes long on a busy machine.
        let end = Date(timeIntervalSinceNow: 300)
        while expected < count, Date() < end {
            guard let element = shared.queue.pop() else {
                sched_yield()
                continue
            }
            guard element == Element(expected) else {
                Issue.record("\(element) in place of \(expected)")
                return
            }
            expected += 1
        }
        #expect(expected == count)
    }

    @Test func `pushing and popping allocate nothing`() {
        let shared = Shared(capacity: 16)
        let trial = HeapTrial {
            for number in 0..<20 { shared.queue.push(Element(number)) }
            while shared.queue.pop() != nil {}
        }
        #expect(trial.isQuiet(seconds: 5))
    }
}
