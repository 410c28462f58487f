import Actions
import Capture
import Configuration
import Control
import Core
import Events
import IntegrationInterface
import Spotting
import Synchronization
import System

/// Changed settings: on the thread of the queue of changes, one after the other.
extension Daemon {
    /// Changes the settings in force. All changes go through this method, one after the other. Each writes one line to
    /// the log, and systemd sees the service as reloading until it is done.
    ///
    /// - Throws: what is wrong with the new settings; nothing has changed then.
    func apply(_ change: SettingsChange) throws -> ChangeQueue.Outcome {
        switch change {
        case .configuration:
            return try apply("the configuration was read again") {
                restoreSocket()
                return try apply(try loader.load())
            }
        case .words:
            return try apply("your own words were read again") {
                try apply(try loader.load(leavingOutUnknownWords: true))
            }
        case .thresholds(let change):
            return try apply("thresholds were set: \(printable(change.text))") {
                ChangeQueue.Outcome(note: try set(change))
            }
        case .mute(let isMuted):
            try mute(isMuted)
            return ChangeQueue.Outcome()
        }
    }

    func apply(
        _ what: String,
        _ change: () throws -> ChangeQueue.Outcome
    ) throws -> ChangeQueue.Outcome {
        try notifier.reloading {
            do {
                let outcome = try change()
                let effect = outcome.hasRebuilt ? "" : "; nothing has changed"
                log.write(.notice, what + effect + (outcome.note.map { "; \($0)" } ?? ""))
                return outcome
            } catch {
                log.write(.error, "\(error); the configuration in force stays as it was")
                throw error
            }
        }
    }

    func apply(_ loaded: ServiceSettings) throws -> ChangeQueue.Outcome {
        let old = settings.withLock { $0 }
        var new = loaded
        var notes = new.keepChoices(of: old)
        if let note = try checkDevice(new.configuration, besides: old.configuration) { notes.append(note) }
        if new.configuration.socket != configuredSocket {
            notes.append("socket: the one in use stays until the service is started again")
        }
        func outcome(hasRebuilt: Bool) -> ChangeQueue.Outcome {
            let problems = integrations.update(new, service, haveChanged: hasRebuilt)
            for problem in problems { log.write(.error, problem) }
            let lines = notes + problems
            return ChangeQueue.Outcome(
                note: lines.isEmpty ? nil : lines.joined(separator: "; "),
                hasRebuilt: hasRebuilt
            )
        }
        // Nothing is rebuilt for nothing: each rebuilding may cost the detector a hop.
        guard new.configuration != old.configuration || new.vocabulary !== old.vocabulary else {
            return outcome(hasRebuilt: false)
        }
        // First, because it is the only other step that can fail.
        try actions.update(new.configuration)
        dispatcher.update(
            new.configuration,
            labels: new.vocabulary.labels,
            device: microphone == nil ? nil : new.configuration.device
        )
        settings.withLock { $0 = new }
        log.level = new.configuration.log
        if new.choices.all != old.choices.all { log.write(.info, new.choices.text) }
        clips.update(new.configuration.clips)
        misses.update(isBesideAnother ? Configuration.Misses() : new.configuration.misses)
        detector.update(dispatcher.numbered(new.detector))
        microphone?.select(InputSelection(new.configuration))
        return outcome(hasRebuilt: true)
    }

    /// Checks that another device can be opened before the one in use is given up for it.
    ///
    /// - Returns: a note if it cannot, but no device is in use either, so that nothing is lost.
    /// - Throws: why it cannot be opened.
    func checkDevice(_ new: Configuration, besides old: Configuration) throws(CaptureError) -> String? {
        guard let microphone, new.device != old.device else { return nil }
        do throws(CaptureError) {
            try DeviceList.check(InputSelection(new))
            return nil
        } catch {
            let isInUse = [.running, .recovering].contains(microphone.status.state)
            guard isInUse else { return "the new device is waited for: \(error)" }
            throw error
        }
    }

    func set(_ change: ThresholdChange) throws(SpottingError) -> String? {
        var new = settings.withLock { $0 }
        let others = try new.set(change)
        settings.withLock { $0 = new }
        detector.update(dispatcher.numbered(new.detector))
        _ = integrations.update(new, service)
        return others.isEmpty ? nil : "these keep a choice of their own: \(printable(others.joined(separator: ", ")))"
    }

    /// Notices changed files, once a second.
    func lookAtFiles(_ words: borrowing Mutex<FileWatch>) {
        if words.withLock({ $0.hasChanged(at: Clock.now) }) { changes.submit(.words) }
        restoreSocket()
    }

    /// Makes the control socket again if somebody deleted its file.
    func restoreSocket() {
        do throws(ControlError) {
            if try control?.restore() == true {
                log.write(.warning, "the control socket was deleted; it was made again")
            }
        } catch {
            // Its folder is gone, or not writable: said once.
            if !socketProblem.exchange(true, ordering: .relaxed) { log.write(.warning, error.description) }
            return
        }
        socketProblem.store(false, ordering: .relaxed)
    }

    /// Closes or opens the microphone; never waits for the device.
    func mute(_ isMuted: Bool) throws(DaemonError) {
        guard let microphone else {
            throw DaemonError(
                "cannot mute: the audio comes from \(setup.input.name ?? "elsewhere"), not from a microphone"
            )
        }
        // The main thread logs the change when the microphone reports it.
        if isMuted { microphone.mute() } else { microphone.unmute() }
    }
}
