import Foundation
import System
import TestSupport
import Testing

struct MailboxTests {
    @Test func `the newest value is taken, once`() {
        let mailbox = Mailbox<Int>()
        #expect(mailbox.take() == nil)
        mailbox.post(1)
        mailbox.post(2)
        #expect(mailbox.take() == 2)
        #expect(mailbox.take() == nil)
    }

    @Test func `between two threads values come in order, and the last one arrives`() {
        let mailbox = Mailbox<[Int]>()
        let count = 20_000
        Thread {
            for number in 1...count { mailbox.post([number]) }
        }.start()
        var newest = 0
        let end = Date(timeIntervalSinceNow: 20)
        while newest < count, Date() < end {
            guard let taken = mailbox.take() else { continue }
            #expect(taken[0] > newest)
            newest = taken[0]
        }
        #expect(newest == count)
        #expect(mailbox.take() == nil)
    }

    @Test func `looking into an empty mailbox and taking a number allocate nothing`() {
        let mailbox = Mailbox<Int>()
        let trial = HeapTrial {
            for number in 0..<1000 {
                if number % 10 == 0 { mailbox.post(number) }
                _ = mailbox.take()
            }
        }
        #expect(trial.isQuiet(seconds: 5))
    }
}
