public import Core

/// Decides which device of a group acts on a word that several heard. A pure value: it gets times and messages, and returns what to
/// send and what was decided.
///
/// A device that hears a word claims it, waits for a window, and then acts if no claim that came in is higher than its own. Who acts
/// says so, and ends the contests of the others, also those of a device that hears the word later. Where the device with the highest claim
/// says nothing, the others wait for one more window, and claim again in its middle: then the next one acts, as the first may have died
/// meanwhile. Claims and acts are said twice, as messages may be lost. Only the device's own clock counts, as it tells when messages came
/// in: no message has a time.
public struct Arbiter: Sendable {
    public enum Outcome: Equatable, Sendable {
        case act
        /// Another device acts, with this bid.
        case yield(to: Bid)
    }

    /// The end of the contest for a word of this device.
    public struct Decision: Equatable, Sendable {
        /// As given to ``begin(_:word:bid:at:)``.
        public let number: UInt64
        public let outcome: Outcome
    }

    /// What to do: first send, then carry out.
    public struct Effects: Equatable, Sendable {
        public var messages: [GroupMessage] = []
        public var decisions: [Decision] = []
    }

    private struct Contest {
        let number: UInt64
        let word: String
        let own: Bid
        /// The highest claims of others, the highest first: one may turn out to be silent.
        var rivals: [Bid] = []
        var end: Instant
        /// How far it is; the waits take half a window each.
        var phase = Phase.claimed

        enum Phase { case claimed, repeated, waiting, claimedAgain }

        mutating func add(_ bid: Bid) {
            guard !rivals.contains(bid) else { return }
            rivals = Array((rivals + [bid]).sorted(by: >).prefix(2))
        }
    }

    private struct Heard {
        let message: GroupMessage
        let time: Instant
    }

    /// Most messages that are remembered: a hostile device cannot make it grow.
    private static let mostHeard = 256

    private let group: String
    private let window: Duration
    /// The contests that are open, oldest first.
    private var contests: [Contest] = []
    /// What others said within the window.
    private var heard: [Heard] = []
    /// The words on which this device acted within the window, and when to say so once more.
    private var acted: [(word: String, bid: Bid, time: Instant, again: Instant?)] = []
    /// The words on which others acted within the window: what they say once more is not about the next time that it is heard.
    private var yielded: [(word: String, bid: Bid, time: Instant)] = []

    /// - Parameter window: time to wait for others' claims, and in which a word that is heard twice is the same one.
    public init(group: String, window: Duration) {
        (self.group, self.window) = (group, window)
    }

    /// When to call ``advance(to:)``; nil for never.
    public var deadline: Instant? { (contests.map(\.end) + acted.compactMap(\.again)).min() }

    /// Begins the contest for a word that this device has heard.
    ///
    /// - Parameter number: names it in the decision.
    public mutating func begin(_ number: UInt64, word: String, bid: Bid, at now: Instant) -> Effects {
        forget(before: now)
        var effects = Effects()
        let known = heard.filter { $0.message.word == word }
        if let actor = known.last(where: { $0.message.kind == .act }) {
            settle(word)
            yielded.append((word, actor.message.bid, now))
            effects.decisions = [Decision(number: number, outcome: .yield(to: actor.message.bid))]
            return effects
        }
        var contest = Contest(number: number, word: word, own: bid, end: now + window / 2)
        for claim in known { contest.add(claim.message.bid) }
        contests.append(contest)
        effects.messages = [GroupMessage(.claim, group: group, word: word, bid: bid)]
        return effects
    }

    /// Takes a message of another device.
    public mutating func receive(_ message: GroupMessage, at now: Instant) -> Effects {
        forget(before: now)
        var effects = Effects()
        let word = message.word
        switch message.kind {
        case .claim:
            for index in contests.indices where contests[index].word == word {
                contests[index].add(message.bid)
            }
            // It has not heard that this device acts, or hears the word later.
            if let own = acted.last(where: { $0.word == word }) {
                effects.messages = [GroupMessage(.act, group: group, word: word, bid: own.bid)]
                return effects
            }
            remember(message, at: now)
        case .act:
            guard !yielded.contains(where: { $0.word == word && $0.bid == message.bid }) else { return effects }
            let open = contests.filter { $0.word == word }
            guard !open.isEmpty else {
                remember(message, at: now)
                return effects
            }
            contests.removeAll { $0.word == word }
            settle(word)
            yielded.append((word, message.bid, now))
            effects.decisions = open.map { Decision(number: $0.number, outcome: .yield(to: message.bid)) }
        }
        return effects
    }

    /// Ends the contests whose window is over, and says once more what is to be.
    public mutating func advance(to now: Instant) -> Effects {
        var messages: [GroupMessage] = []
        for index in acted.indices {
            guard let again = acted[index].again, again <= now else { continue }
            acted[index].again = nil
            messages.append(GroupMessage(.act, group: group, word: acted[index].word, bid: acted[index].bid))
        }
        var effects = end(at: now) { $0.end <= now }
        effects.messages = messages + effects.messages
        return effects
    }

    /// Acts on what is not decided yet: nobody else can be heard. With a number, on that alone.
    public mutating func release(_ number: UInt64? = nil, at now: Instant) -> Effects {
        for index in contests.indices where number.map({ $0 == contests[index].number }) ?? true {
            (contests[index].rivals, contests[index].phase) = ([], .claimedAgain)
        }
        return end(at: now) { contest in number.map { $0 == contest.number } ?? true }
    }

    private mutating func end(at now: Instant, _ isOver: (Contest) -> Bool) -> Effects {
        var effects = Effects()
        let over = contests.filter(isOver)
        contests.removeAll(where: isOver)
        for var contest in over {
            let rival = contest.rivals.first.flatMap { $0 > contest.own ? $0 : nil }
            switch contest.phase {
            case .claimed:
                (contest.phase, contest.end) = (.repeated, contest.end + window / 2)
                contests.append(contest)
                effects.messages.append(GroupMessage(.claim, group: group, word: contest.word, bid: contest.own))
                continue
            case .repeated where rival != nil:
                contest.rivals.removeFirst()
                (contest.phase, contest.end) = (.waiting, now + window / 2)
                contests.append(contest)
                continue
            case .waiting:
                (contest.phase, contest.end) = (.claimedAgain, now + window / 2)
                contests.append(contest)
                // Who has acted says so again.
                effects.messages.append(GroupMessage(.claim, group: group, word: contest.word, bid: contest.own))
                continue
            case .repeated, .claimedAgain: break
            }
            settle(contest.word)
            if let rival {
                effects.decisions.append(Decision(number: contest.number, outcome: .yield(to: rival)))
                continue
            }
            acted.append((contest.word, contest.own, now, now + window / 4))
            effects.messages.append(GroupMessage(.act, group: group, word: contest.word, bid: contest.own))
            effects.decisions.append(Decision(number: contest.number, outcome: .act))
        }
        return effects
    }

    private mutating func remember(_ message: GroupMessage, at now: Instant) {
        if heard.count == Self.mostHeard { heard.removeFirst() }
        heard.append(Heard(message: message, time: now))
    }

    /// What was said about a word that is decided says nothing about the next time that it is heard.
    private mutating func settle(_ word: String) { heard.removeAll { $0.message.word == word } }

    private mutating func forget(before now: Instant) {
        let window = window
        heard.removeAll { now - $0.time > window }
        acted.removeAll { now - $0.time > window }
        yielded.removeAll { now - $0.time > window }
    }
}
