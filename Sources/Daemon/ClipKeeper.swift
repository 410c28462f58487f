import Actions
import Configuration
import Core
import Events
import Synchronization
import System

/// Saves the sound around what was heard, where the configuration asks for it.
final class ClipKeeper: Sendable {
    private struct State {
        var settings = Configuration.Clips()
        var store: ClipStore?
    }

    private let state = Mutex(State())
    /// Held while a clip is saved. Threads of their own, and not Dispatch's: those ask for priorities that a confined service
    /// is refused, and complain of it in the journal.
    private let saving = Mutex(())
    private let report: @Sendable (ActionRunner.Report) -> Void

    init(report: @escaping @Sendable (ActionRunner.Report) -> Void) { self.report = report }

    func follow(_ settings: Configuration.Clips) {
        state.withLock { $0 = State(settings: settings, store: ClipStore(settings)) }
    }

    /// Saves the clip of an event once its end has been heard.
    func keep(_ event: DetectionEvent, of tape: AudioHistory) {
        let (settings, store) = state.withLock { ($0.settings, $0.store) }
        guard let store else { return }
        let rate = Double(AudioFormat.sampleRate)
        let range = Int(max(0, event.start - settings.before) * rate)..<Int((event.end + settings.after) * rate)
        let wait = max(0, event.end + settings.after - event.time) + 0.2
        let time = Clock.now + .seconds(wait)
        // Saving touches a disk: it is nobody else's business.
        attempt { () throws(ActionError) in
            _ = try SystemThread(name: "beckon-clip", stackSize: 512 << 10, or: ActionError.noThread) { [self] in
                while Clock.now < time { Clock.sleep(until: time) }
                attempt { () throws(ActionError) in
                    _ = try saving.withLock { _ throws(ActionError) in try store.save(tape.piece(range), of: event) }
                }
            }
        }
    }

    private func attempt(_ work: () throws(ActionError) -> Void) {
        do throws(ActionError) {
            try work()
        } catch {
            report(ActionRunner.Report(priority: .error, text: error.description))
        }
    }
}
