import Core
public import Events
import Glibc
import Network
import Synchronization
import System

/// Announces a server or satellite to the network by mDNS, through Debian's `avahi-daemon` and `libavahi-client`, so that Home Assistant
/// finds it by itself.
///
/// The library is loaded when it is there; without it, or without the daemon, nothing is announced. A thread of its own does
/// everything, because the calls wait for the system's message bus. Nobody waits for it: the daemon withdraws the service when the
/// thread has ended, or the process.
public final class Announcement: Sendable {
    /// What is announced. A pure value.
    public struct Entry: Sendable {
        /// Home Assistant knows the service by it, so it must stay the same.
        public var name: String
        /// Such as `_wyoming._tcp`.
        public var type: String
        public var port: UInt16
        /// What clients may know before they connect, each `key=value`.
        public var text: [String]

        public init(_ name: String, type: String, port: UInt16, text: [String] = []) {
            (self.name, self.type, self.port, self.text) = (name, type, port, text)
        }
    }

    /// The client's functions, as `avahi-client/client.h` and `publish.h` of version 0.8 declare them.
    private struct Library {
        typealias Callback = @convention(c) (OpaquePointer?, Int32, UnsafeMutableRawPointer?) -> Void

        let newPoll: @convention(c) () -> OpaquePointer?
        let getPoll: @convention(c) (OpaquePointer?) -> OpaquePointer?
        let loop: @convention(c) (OpaquePointer?) -> Int32
        let newClient:
            @convention(c) (OpaquePointer?, Int32, Callback, UnsafeMutableRawPointer?, UnsafeMutablePointer<Int32>) ->
                OpaquePointer?
        let newGroup: @convention(c) (OpaquePointer?, Callback, UnsafeMutableRawPointer?) -> OpaquePointer?
        let reset: @convention(c) (OpaquePointer?) -> Int32
        let add:
            @convention(c) (
                OpaquePointer?, Int32, Int32, Int32, UnsafePointer<CChar>, UnsafePointer<CChar>,
                UnsafePointer<CChar>?, UnsafePointer<CChar>?, UInt16, OpaquePointer?
            ) -> Int32
        let addText: @convention(c) (OpaquePointer?, UnsafePointer<CChar>) -> OpaquePointer?
        let freeText: @convention(c) (OpaquePointer?) -> Void
        let commit: @convention(c) (OpaquePointer?) -> Int32
        let quit: @convention(c) (OpaquePointer?) -> Void
        let freeClient: @convention(c) (OpaquePointer?) -> Void
        let freePoll: @convention(c) (OpaquePointer?) -> Void

        /// Nil if the library is not installed.
        init?() {
            guard let library = dlopen("libavahi-client.so.3", RTLD_NOW) else { return nil }
            // The library's dependency, libavahi-common, has the poll's functions.
            func find<Function>(_ name: String) throws(SocketError) -> Function {
                guard let symbol = dlsym(library, name) else { throw SocketError("\(name) is missing") }
                return unsafeBitCast(symbol, to: Function.self)
            }
            do {
                newPoll = try find("avahi_simple_poll_new")
                getPoll = try find("avahi_simple_poll_get")
                loop = try find("avahi_simple_poll_loop")
                newClient = try find("avahi_client_new")
                newGroup = try find("avahi_entry_group_new")
                reset = try find("avahi_entry_group_reset")
                add = try find("avahi_entry_group_add_service_strlst")
                addText = try find("avahi_string_list_add")
                freeText = try find("avahi_string_list_free")
                commit = try find("avahi_entry_group_commit")
                quit = try find("avahi_simple_poll_quit")
                freeClient = try find("avahi_client_free")
                freePoll = try find("avahi_simple_poll_free")
            } catch {
                return nil
            }
        }
    }

    /// What the callbacks need; lives as long as the client.
    private final class Service {
        /// `AVAHI_CLIENT_S_RUNNING`, `AVAHI_CLIENT_NO_FAIL`; all interfaces, both protocols.
        static let running: Int32 = 2
        static let waitsForDaemon: Int32 = 2
        static let any: Int32 = -1
        /// `AVAHI_ENTRY_GROUP_ESTABLISHED` and `_COLLISION`.
        static let established: Int32 = 2
        static let collision: Int32 = 3

        let library: Library
        let entry: Entry
        let log: ServiceLog
        var group: OpaquePointer?

        init(_ library: Library, _ entry: Entry, log: ServiceLog) {
            self.library = library
            self.entry = entry
            self.log = log
        }

        /// The daemon is there, perhaps again.
        func publish(_ client: OpaquePointer?) {
            let context = Unmanaged.passUnretained(self).toOpaque()
            if group == nil {
                group = library.newGroup(client, { _, state, context in Service.from(context)?.note(state) }, context)
            } else {
                _ = library.reset(group)
            }
            // The list begins with what was added last.
            let text = entry.text.reversed().reduce(nil) { library.addText($0, $1) }
            defer { library.freeText(text) }
            guard group != nil,
                library.add(group, Self.any, Self.any, 0, entry.name, entry.type, nil, nil, entry.port, text) == 0,
                library.commit(group) == 0
            else { return log.write(.warning, "mDNS: the service \(printable(entry.name)) cannot be announced") }
        }

        func note(_ state: Int32) {
            switch state {
            case Self.established: log.write(.info, "mDNS: announced as \(printable(entry.name)), \(entry.type)")
            case Self.collision:
                log.write(
                    .warning,
                    "mDNS: another service is called \(printable(entry.name)); this one is not announced"
                )
            default: break
            }
        }

        static func from(_ context: UnsafeMutableRawPointer?) -> Service? {
            context.map { Unmanaged<Service>.fromOpaque($0).takeUnretainedValue() }
        }
    }

    private let isEnded = Mutex(false)
    /// Ends the client's loop, while it runs. The lock of `isEnded` guards it.
    private nonisolated(unsafe) var quit: (() -> Void)?

    /// Announces a server. Does not wait.
    public init(_ entry: Entry, log: ServiceLog) {
        _ = try? SystemThread(name: "beckon-mdns", stackSize: 512 << 10, or: SocketError.noThread) { [self] in
            run(entry, log)
        }
    }

    /// Withdraws it. Does not wait.
    public func end() {
        isEnded.withLock { isEnded in
            isEnded = true
            quit?()
        }
    }

    private func run(_ entry: Entry, _ log: ServiceLog) {
        guard let library = Library() else {
            return log.write(.info, "mDNS: libavahi-client3 is not installed; the server is not announced")
        }
        let service = Service(library, entry, log: log)
        let poll = library.newPoll()
        defer { library.freePoll(poll) }
        var failure: Int32 = 0
        let client = library.newClient(
            library.getPoll(poll),
            Service.waitsForDaemon,
            { client, state, context in
                if state == Service.running { Service.from(context)?.publish(client) }
            },
            Unmanaged.passUnretained(service).toOpaque(),
            &failure
        )
        guard client != nil else {
            return log.write(.info, "mDNS: the system's message bus does not answer; the server is not announced")
        }
        defer { library.freeClient(client) }
        let isEnded = isEnded.withLock { isEnded in
            quit = { library.quit(poll) }
            return isEnded
        }
        if !isEnded { withExtendedLifetime(service) { _ = library.loop(poll) } }
        self.isEnded.withLock { _ in quit = nil }
    }
}
