public import Core
public import Glibc
import System

/// What is said on a connection: bytes in, bytes out. It knows no socket and no clock; a ``ClientConnection`` moves its bytes.
public protocol Conversation: AnyObject {
    /// Bytes for the client; the connection removes what it has sent.
    var output: [UInt8] { get set }
    /// Events that the client has sent, as far as they are complete.
    var events: Int { get }
    /// Whether the client is in the middle of an event.
    var isWithinEvent: Bool { get }
}

/// Why a conversation stopped to use bytes.
public enum ConversationPause {
    /// All bytes were used.
    case needsInput
    /// A stream has a complete hop, which must be processed first.
    case hop
    /// The client has had its turn; call again in the next one.
    case turn
    /// Too much output waits; call again when it was sent.
    case output
    /// The speaker has to play first what was sent; call again soon.
    case speaker
    /// The client broke the protocol, or is not wanted; it got an error as its last event.
    case end
}

/// Why a connection ended.
public enum ConnectionEnd {
    /// The client closed it, or is gone.
    case gone
    /// The client sent no event in time, or not all of one.
    case silent
    /// The client did not read its answers.
    case slow
    /// The conversation ended it.
    case violation
}

/// How long a client may take.
public struct ConnectionLimits: Sendable {
    /// For its first event, for the rest of an event that has begun, and to read its answers.
    public var timeout = Duration.seconds(10)
    /// Without a byte between two events. Satellites that send only speech are silent for long.
    public var idle = Duration.seconds(3600)
    /// The same while connections are scarce.
    public var idleWhenFull = Duration.seconds(60)

    public init() {}
}

/// Receive buffers of the system are no larger, so that a client that floods is slowed down by TCP.
private let receiveBufferSize: Int32 = 64 << 10

/// Time after which a client that sends more than it gets turns for counts as one that floods.
private let longestBacklog = Duration.milliseconds(250)
/// The same of one whose audio is live, which is served before the others.
private let longestLiveBacklog = Duration.seconds(2)
/// How much faster than spoken live audio may be for any time: clocks differ, and clients measure time roughly.
private let fastestLive = 1.05
/// How far live audio may be ahead of the time that a client has waited and been served.
private let mostAhead = Duration.seconds(3)

/// A client's socket, the bytes on their way from it and to it, and the time that the client takes.
public final class ClientConnection<Talk: Conversation> {
    public let conversation: Talk
    public let peer: Peer
    /// The address at the other end; nil on a unix socket.
    public let address: IPAddress?
    public let start = Clock.now
    /// How long it waited before it was served: what was said meanwhile comes at once.
    private let waited: Duration
    /// Processor time in ns that it has had lately; its owner lowers it again.
    public var recentWork = 0.0
    /// What the conversation waits for.
    public private(set) var pause = ConversationPause.needsInput
    public private(set) var end: ConnectionEnd?

    private let descriptor: FileDescriptor
    /// Bytes that were received and not used; those from `used` on.
    private var kept: [UInt8] = []
    private var used = 0
    /// Whether the system had no more when they were read.
    private var isLast = true
    /// Whether the client sends no more.
    private var isAtEnd = false
    /// Whether it has sent a whole event.
    public private(set) var hasSpoken = false
    /// When the newest bytes came.
    public private(set) var lastInput: Instant
    /// Since when the client has sent more than it got turns for; nil if all it sent was used.
    public private(set) var backlogStart: Instant?
    /// When it had its first turn, in which what it had sent was read.
    public private(set) var firstTurn: Instant?
    /// When the audio that was scored would have ended if it had been said as fast as live audio may be; nil if there was none.
    public private(set) var spoken: Instant?
    /// When the event that is under way began; since when output waits.
    private var eventStart: Instant
    private var outputStart: Instant?

    public init(_ connection: consuming Connection, _ conversation: Talk, waited: Duration = .zero) {
        self.waited = waited
        peer = connection.peer
        address = IPAddress(peerOf: connection.descriptor.rawValue)
        descriptor = connection.take()
        self.conversation = conversation
        lastInput = Clock.now
        eventStart = lastInput
        var size = receiveBufferSize
        setsockopt(descriptor.rawValue, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    /// What to wait for.
    public var request: pollfd {
        let events = (isReading ? POLLIN : 0) | (conversation.output.isEmpty ? 0 : POLLOUT)
        // Where nothing is waited for, poll would report the end of the connection again and again.
        return Poll.request(events == 0 ? -1 : descriptor.rawValue, events)
    }

    private var isReading: Bool { !isAtEnd && pause == .needsInput }
    /// Whether it can go on without anything to wait for.
    public var canGoOn: Bool {
        end == nil && (pause == .hop || pause == .turn || pause == .output && conversation.output.isEmpty)
    }
    /// Whether nothing is read until the speaker has played; see ``ConversationPause/speaker``.
    public var waitsForSpeaker: Bool { end == nil && pause == .speaker }
    /// Whether ``check(at:_:isFull:)`` ends it now, or soon.
    public var isEnding: Bool { end != nil || pause == .end || isAtEnd }

    /// Whether it sends more than it gets turns for, and has done so for a while.
    public func floods(at now: Instant) -> Bool {
        backlogStart.map { now - $0 >= (isLive(at: now) ? longestLiveBacklog : longestBacklog) } ?? false
    }

    /// Whether it sends audio, and as fast as is spoken.
    public func isLive(at now: Instant) -> Bool { spoken.map { $0 - now <= mostAhead } ?? false }

    /// Notes that audio was scored.
    public func addScored(_ length: Duration, at now: Instant) {
        spoken = max(spoken ?? now - waited, now - waited) + .seconds(length.seconds / fastestLive)
    }

    /// Whether it has said nothing, though it could.
    public var isSilent: Bool { firstTurn != nil && !hasSpoken }

    /// Whether it makes room for a new connection where all places are taken. Without live audio a backlog of any age is enough:
    /// new connections that flood may come faster than their backlogs grow old.
    public func yields(at now: Instant) -> Bool {
        isSilent || (isLive(at: now) ? floods(at: now) : backlogStart != nil)
    }

    /// As ``Places`` sees it.
    public func holder(at now: Instant, isKept: Bool = false) -> Places.Holder {
        let floods = hasSpoken && yields(at: now)
        let since = !hasSpoken ? start : floods ? backlogStart ?? lastInput : lastInput
        return Places.Holder(peer, isSilent: !hasSpoken, floods: floods, since: since, isKept: isKept)
    }

    /// Notes that nothing has come since its last turn.
    public func rest(at now: Instant) {
        firstTurn = firstTurn ?? now
        if pause == .needsInput { backlogStart = nil }
    }

    /// Reads what has come, at most what fits the buffer.
    ///
    /// - Parameter advance: uses the bytes; removes those it used from the beginning.
    public func receive(
        _ buffer: UnsafeMutableRawBufferPointer,
        at now: Instant,
        _ advance: (inout UnsafeBufferPointer<UInt8>) -> ConversationPause
    ) {
        guard isReading else { return }
        let count = recv(descriptor.rawValue, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
        guard count > 0 else {
            if count == 0 {
                isAtEnd = true
            } else if errno != EAGAIN, errno != EINTR {
                end = .gone
            }
            rest(at: now)
            return
        }
        lastInput = now
        firstTurn = firstTurn ?? now
        let wasWithinEvent = conversation.isWithinEvent
        let events = conversation.events
        let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
        var input = UnsafeRawBufferPointer(bytes).bindMemory(to: UInt8.self)
        pause = advance(&input)
        kept.removeAll(keepingCapacity: kept.count <= 4096)
        used = 0
        kept += input
        isLast = count < buffer.count
        backlogStart = pause == .needsInput && isLast ? nil : backlogStart ?? now
        note(events: events, wasWithinEvent: wasWithinEvent, at: now)
    }

    /// Goes on with bytes that came before.
    public func proceed(at now: Instant, _ advance: (inout UnsafeBufferPointer<UInt8>) -> ConversationPause) {
        let wasWithinEvent = conversation.isWithinEvent
        let events = conversation.events
        let (from, count) = (used, kept.count)
        kept.withUnsafeBufferPointer { kept in
            var input = UnsafeBufferPointer(rebasing: kept[from...])
            pause = advance(&input)
            used = count - input.count
        }
        if pause == .needsInput, isLast { backlogStart = nil }
        note(events: events, wasWithinEvent: wasWithinEvent, at: now)
    }

    private func note(events: Int, wasWithinEvent: Bool, at now: Instant) {
        if conversation.events > events { hasSpoken = true }
        // Events follow each other without a gap where a client sends audio: the one that is under way is a new one.
        if !wasWithinEvent || conversation.events > events { eventStart = now }
    }

    /// Ends the connection for a reason of the owner.
    public func finish(_ reason: ConnectionEnd) { end = end ?? reason }

    /// Sends as much as the system takes, without waiting.
    public func flush(at now: Instant) {
        while !conversation.output.isEmpty, end == nil {
            let count = conversation.output.withUnsafeBytes {
                send(descriptor.rawValue, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            if count > 0 {
                conversation.output.removeFirst(count)
                outputStart = nil
            } else if errno == EAGAIN {
                outputStart = outputStart ?? now
                return
            } else if errno != EINTR {
                end = .gone
            }
        }
    }

    /// Ends the connection where its time is over, or nothing is left to do.
    public func check(at now: Instant, _ limits: ConnectionLimits, isFull: Bool) {
        guard end == nil else { return }
        if pause == .end {
            // The error is sent once, as far as the system takes it.
            end = .violation
        } else if isAtEnd, pause == .needsInput, conversation.output.isEmpty {
            end = .gone
        } else if let outputStart, now - outputStart >= limits.timeout {
            end = .slow
        } else if pause == .needsInput {
            let isBegun = !hasSpoken || conversation.isWithinEvent
            if isBegun, now - eventStart >= limits.timeout {
                end = .silent
            } else if !isBegun, now - lastInput >= (isFull ? limits.idleWhenFull : limits.idle) {
                end = .silent
            }
        }
    }
}
