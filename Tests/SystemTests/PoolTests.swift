import Foundation
import Synchronization
import System
import TestSupport
import Testing

struct PoolTests {
    private final class Object: Sendable {
        let users = Atomic<Int>(0)
    }

    @Test func `calls one after the other have the same object, and calls within each other do not`() {
        let pool = Pool<Object>()
        var made = 0
        func make() -> Object {
            made += 1
            return Object()
        }
        let first = pool.with(make: make) { ObjectIdentifier($0) }
        let (outer, inner) = pool.with(make: make) { outer in
            (ObjectIdentifier(outer), pool.with(make: make) { ObjectIdentifier($0) })
        }
        #expect(first == outer && outer != inner && made == 2)
    }

    @Test func `two objects are made in advance, however many streams ask`() {
        let pool = Pool<Object>()
        var made = 0
        for _ in 0..<5 {
            pool.reserve {
                made += 1
                return Object()
            }
        }
        #expect(made == 2)
    }

    @Test func `more calls at the same time than places are served`() {
        let pool = Pool<Object>()
        var identifiers: Set<ObjectIdentifier> = []
        func nest(_ depth: Int) {
            pool.with {
                Object()
            } _: { object in
                identifiers.insert(ObjectIdentifier(object))
                if depth > 1 { nest(depth - 1) }
            }
        }
        nest(70)
        #expect(identifiers.count == 70)
    }

    @Test func `no two threads have an object at the same time`() {
        let pool = Pool<Object>()
        let shared = Atomic<Int>(0)
        let left = Atomic<Int>(4)
        for _ in 0..<4 {
            Thread {
                for _ in 0..<20_000 {
                    pool.with {
                        Object()
                    } _: { object in
                        if object.users.add(1, ordering: .relaxed).oldValue > 0 { shared.add(1, ordering: .relaxed) }
                        object.users.subtract(1, ordering: .relaxed)
                    }
                }
                left.subtract(1, ordering: .releasing)
            }.start()
        }
        let end = Date(timeIntervalSinceNow: 60)
        while left.load(ordering: .acquiring) > 0, Date() < end { usleep(1000) }
        #expect(left.load(ordering: .acquiring) == 0 && shared.load(ordering: .relaxed) == 0)
    }

    @Test func `borrowing what was made in advance allocates nothing`() {
        let pool = Pool<Object>()
        pool.reserve { Object() }
        let trial = HeapTrial {
            for _ in 0..<1000 {
                pool.with {
                    Object()
                } _: { _ in
                }
            }
        }
        #expect(trial.isQuiet(seconds: 30))
    }
}
