import Core
import Network

/// Which of several Home Assistants hears commands: the first that wants to, as long as it answers; the others may look.
struct Ownership {
    enum Change {
        case lost
        case gained(ESPHomeLoop.Client)
    }

    private(set) var owner: ESPHomeLoop.Client?
    /// The signs of life of the owner when it was asked for one, and when that was.
    private var asked: (signs: Int, time: Instant)?
    /// One that does not answer for so long gives way to another one.
    private let longestSilence: Duration

    init(longestSilence: Duration) { self.longestSilence = longestSilence }

    /// Gives the satellite to one that wants it, if it is free.
    mutating func decide(_ clients: [ESPHomeLoop.Client], at now: Instant) -> [Change] {
        var changes: [Change] = []
        if let owner, owner.isEnding || !owner.conversation.wantsAssistant { changes += lose() }
        let waiting = clients.filter { !$0.isEnding && $0 !== owner && $0.conversation.wantsAssistant }
        guard !waiting.isEmpty else {
            asked = nil
            return changes
        }
        if let owner {
            // One that has lost its network does not say so.
            guard let question = asked else {
                owner.conversation.send(.ping)
                asked = (owner.conversation.signs, now)
                return changes
            }
            guard owner.conversation.signs == question.signs else {
                // It is there; the others may look. They are asked about again as long as they wait.
                if now - question.time >= longestSilence { asked = nil }
                return changes
            }
            guard now - question.time >= longestSilence else { return changes }
            owner.finish(.gone)
            changes += lose()
        }
        // The newest of those at the last one's address is the same Home Assistant, which has connected again.
        guard let new = waiting.last else { return changes }
        (owner, asked) = (new, nil)
        return changes + [.gained(new)]
    }

    /// The owner is gone.
    mutating func lose() -> [Change] {
        (owner, asked) = (nil, nil)
        return [.lost]
    }
}
