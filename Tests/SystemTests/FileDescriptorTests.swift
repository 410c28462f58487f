import Core
import Glibc
import System
import Testing

struct FileDescriptorTests {
    private func isOpen(_ descriptor: Int32) -> Bool { fcntl(descriptor, F_GETFD) >= 0 }

    @Test func `a pipe's ends are closed with their owner, and on exec`() throws {
        var numbers: [Int32] = []
        do {
            let pipe = try Pipe()
            numbers = [pipe.read.rawValue, pipe.write.rawValue]
            #expect(numbers.allSatisfy { $0 > 2 && fcntl($0, F_GETFD) & FD_CLOEXEC != 0 })
            let reading = pipe.keepReading()
            let isReading = isOpen(reading.rawValue)
            #expect(isReading)
        }
        // Another test may have reused the number of one end already, but hardly the numbers of both.
        #expect(!numbers.allSatisfy(isOpen))
    }

    @Test func `a wait ends at its deadline, or when something can be read`() throws {
        let pipe = try Pipe()
        var requests = [Poll.request(pipe.read.rawValue, POLLIN), Poll.request(-1, POLLIN)]
        let start = Clock.now
        Poll.wait(&requests, until: start + .milliseconds(20))
        #expect(requests.allSatisfy { $0.revents == 0 } && Clock.now - start >= .milliseconds(20))
        let wrote = writeAll([1], to: pipe.write.rawValue)
        #expect(wrote)
        Poll.wait(&requests, until: nil)
        #expect(requests[0].revents != 0)
    }

    @Test func `an eventfd wakes a waiting thread once`() throws {
        let event = try EventFD(or: { $0 })
        #expect(!event.wait(until: Clock.now + .milliseconds(10)))
        event.signal()
        event.signal()
        #expect(event.wait(until: Clock.now + .seconds(5)))
        #expect(!event.drain())
    }
}
