import Core
import Events
import IntegrationInterface
import Network
import System

/// The entities with the states that they show, and when they change.
struct EntityBoard {
    /// How often the level of the microphone is told.
    private static let levelInterval = Duration.seconds(5)

    private(set) var entities = DeviceEntities(.init())
    private var shown = DeviceEntities.State()
    private var nextLevel = Clock.now

    /// Shows a word.
    mutating func note(_ event: DetectionEvent) {
        shown.lastWord = event.name
        shown.ratio = event.sound?.signalToNoise
    }

    /// Makes the entities anew.
    ///
    /// - Parameter player: nil without a speaker.
    mutating func refresh(_ state: ServiceState, player: DeviceEntities.Player?, at now: Instant) {
        shown.words = state.words.map { .init(name: $0.name, threshold: $0.threshold) }
        shown.isMuted = state.isMuted
        if now >= nextLevel {
            shown.level = state.level.map { ($0 * 2).rounded() / 2 }
            nextLevel = now + Self.levelInterval
        }
        shown.player = player
        entities = DeviceEntities(shown)
    }

    /// Tells clients that want to know what has changed for them.
    func send(to clients: [ESPHomeLoop.Client]) {
        for client in clients where client.conversation.wantsStates && client.conversation.isKeepingUp {
            for (key, answer) in entities.states where client.conversation.known[key] != answer {
                client.conversation.known[key] = answer
                client.conversation.send(answer)
            }
        }
    }
}
