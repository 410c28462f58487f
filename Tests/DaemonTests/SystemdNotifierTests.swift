import Foundation
import Glibc
import Network
import System
import TestSupport
import Testing

@testable import Daemon

/// Messages to systemd, as it gets them on its socket.
struct SystemdNotifierTests {
    /// A datagram socket in systemd's place.
    private func manager(_ path: String) throws -> FileDescriptor {
        let descriptor = FileDescriptor(socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue), 0))
        var address = try #require(UnixSocket.address(path))
        var length = MemoryLayout<sockaddr_un>.size
        if path.hasPrefix("@") {
            address.sun_path.0 = 0
            length = 2 + path.utf8.count
        }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor.rawValue, $0, socklen_t(length))
            }
        }
        #expect(result == 0)
        return descriptor
    }

    private func message(_ manager: borrowing FileDescriptor) -> String? {
        var bytes = [UInt8](repeating: 0, count: 1000)
        let count = recv(manager.rawValue, &bytes, bytes.count, 0)
        return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
    }

    @Test(arguments: [false, true])
    func `messages, to a path or an abstract name`(_ isAbstract: Bool) throws {
        let folder = try TestFolder()
        let path = isAbstract ? "@beckon-test-\(UUID().uuidString)" : folder.file("notify")
        let manager = try manager(path)
        let notifier = SystemdNotifier(environment: ["NOTIFY_SOCKET": path])
        notifier.reloading {}
        #expect(message(manager) == nil, "before the service is ready")
        #expect(notifier.notifyReady())
        notifier.report(status: "Listening to mic\n; 3 words")
        #expect(notifier.notifyAlive())
        notifier.reloading {}
        notifier.notifyStopping()
        var messages: [String] = []
        while let next = message(manager) { messages.append(next) }
        #expect(messages[0...2] == ["READY=1", "STATUS=Listening to mic?; 3 words", "WATCHDOG=1"])
        #expect(messages[3].hasPrefix("RELOADING=1\nMONOTONIC_USEC=") && messages[4...] == ["READY=1", "STOPPING=1"])
    }

    @Test func `a systemd that does not read holds up nothing, and is told again`() throws {
        let folder = try TestFolder()
        let manager = try manager(folder.file("notify"))
        let notifier = SystemdNotifier(environment: ["NOTIFY_SOCKET": folder.file("notify")])
        var count = 0
        while notifier.notifyAlive(), count < 100_000 { count += 1 }
        #expect(count < 100_000 && !notifier.notifyReady())
        _ = message(manager)
        #expect(notifier.notifyReady())
    }

    @Test func `the watchdog's period is that of this process`() {
        func period(_ environment: [String: String]) -> Duration? {
            SystemdNotifier(environment: environment).watchdogPeriod
        }
        #expect(period([:]) == nil && period(["WATCHDOG_USEC": "x"]) == nil && period(["WATCHDOG_USEC": "0"]) == nil)
        #expect(period(["WATCHDOG_USEC": "20000000"]) == .seconds(20))
        #expect(period(["WATCHDOG_USEC": "5", "WATCHDOG_PID": "\(getpid())"]) == .microseconds(5))
        #expect(period(["WATCHDOG_USEC": "5", "WATCHDOG_PID": "1"]) == nil)
    }
}
