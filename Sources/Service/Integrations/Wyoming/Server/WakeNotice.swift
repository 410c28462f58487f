import Core
import Events
import Synchronization
import System

/// What a client does that is worth a line of the log.
enum WakeNotice {
    /// It asks for names that are not known.
    case unknownNames([String])
    /// It sends channels of which one is the opposite of the others.
    case oppositeChannels
    /// Its samples are not what it says, by this line.
    case samples(String)
    /// A word or phrase was found for it.
    case heard(DetectionEvent)
    /// Its words are not kept, as those of others have all the room.
    case noRoomForWords
}

/// Writes notices about clients to the log: each once, and not more often than is worth reading.
final class WakeNotices: Sendable {
    private struct State {
        var said: Set<String> = []
        var nextLine = Instant(nanoseconds: 0)
        var nextOpposite = Instant(nanoseconds: 0)
        var hasSaidNoRoom = false
        var saidOfSamples: Set<String> = []
    }

    /// Names that are remembered, so that each is said once; there are never so many words.
    private static let most = 256
    private static let interval = Duration.seconds(5)
    /// Each client tells once; many connect again for each word.
    private static let oppositeInterval = Duration.seconds(60)

    private let log: ServiceLog
    private let heard: @Sendable (DetectionEvent) -> Void
    private let state = Mutex(State())

    /// - Parameter heard: takes the words and phrases.
    init(_ log: ServiceLog, heard: @escaping @Sendable (DetectionEvent) -> Void = { _ in }) {
        (self.log, self.heard) = (log, heard)
    }

    func note(_ notice: WakeNotice) {
        let now = Clock.now
        switch notice {
        case .heard(let event): heard(event)
        case .unknownNames(let names):
            // A client may send thousands.
            let names = names.prefix(8).map { String($0.prefix(64)) }
            let new = state.withLock { state -> [String] in
                let new = names.filter { !state.said.contains($0) }
                guard !new.isEmpty, now >= state.nextLine else { return [] }
                state.nextLine = now + Self.interval
                if state.said.count >= Self.most { state.said = [] }
                state.said.formUnion(new)
                return new
            }
            guard !new.isEmpty else { return }
            let list = printable(new.map { "'\($0)'" }.joined(separator: ", "))
            log.write(
                .notice,
                "a Wyoming client asks for \(list), which is not known and will not be detected; "
                    + "beckon words lists the words, beckon enroll teaches one"
            )
        case .samples(let line):
            let isNew = state.withLock { $0.saidOfSamples.count < Self.most && $0.saidOfSamples.insert(line).inserted }
            if isNew { log.write(.warning, line) }
        case .noRoomForWords:
            let isSaid = state.withLock { state in
                defer { state.hasSaidNoRoom = true }
                return state.hasSaidNoRoom
            }
            guard !isSaid else { return }
            log.write(
                .notice,
                "more Wyoming clients send audio than wyoming.recent.quota has room for; words of further ones are found, but not kept"
            )
        case .oppositeChannels:
            let isTime = state.withLock { state in
                defer { if now >= state.nextOpposite { state.nextOpposite = now + Self.oppositeInterval } }
                return now >= state.nextOpposite
            }
            guard isTime else { return }
            log.write(
                .warning,
                "a Wyoming client sends a channel that is the opposite of the others, as if wired the wrong way round; it is turned in "
                    + "the mix"
            )
        }
    }
}
