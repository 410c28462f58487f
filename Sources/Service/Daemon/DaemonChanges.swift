import Configuration
import Control
import Core
import Enrollment
import Events
import IntegrationInterface
import LiveTeaching
import Network
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
            return try apply("the file of taught words was read again") {
                try apply(try loader.load(leavingOutUnknownWords: true))
            }
        case .thresholds(let change):
            return try apply("thresholds were set: \(printable(change.text))") {
                ChangeQueue.Outcome(note: try set(change))
            }
        case .mute(let isMuted):
            try pipeline?.mute(isMuted)
            return ChangeQueue.Outcome()
        case .teaching(let step): return try teach(step)
        }
    }

    private func apply(
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
                log.write(.error, "\(error); the settings in force stay as they were")
                throw error
            }
        }
    }

    private func apply(_ loaded: ServiceSettings) throws -> ChangeQueue.Outcome {
        let old = currentSettings
        var new = loaded
        var notes = new.keepChoices(of: old)
        if let note = try pipeline?.checkDevice(new.configuration, besides: old.configuration) { notes.append(note) }
        if pipeline != nil, new.configuration.socket != configuredSocket {
            notes.append("socket: the one in use stays until the service is started again")
        }
        // Nothing is rebuilt for nothing: each rebuilding may cost the detector a hop.
        let hasRebuilt = new.configuration != old.configuration || new.vocabulary !== old.vocabulary
        if hasRebuilt {
            try pipeline?.update(new)
            settings.withLock { $0 = new }
            log.level = new.configuration.log
            if pipeline != nil, new.choices.all != old.choices.all { log.write(.info, new.choices.text) }
        }
        let problems = integrations.update(new, self, haveChanged: hasRebuilt)
        for problem in problems { log.write(.error, problem) }
        let lines = notes + problems
        return ChangeQueue.Outcome(note: lines.isEmpty ? nil : lines.joined(separator: "; "), hasRebuilt: hasRebuilt)
    }

    private func set(_ change: ThresholdChange) throws(SpottingError) -> String? {
        var new = currentSettings
        let others = try new.set(change)
        settings.withLock { $0 = new }
        pipeline?.update(thresholds: new)
        _ = integrations.update(new, self)
        return others.isEmpty ? nil : "these keep a choice of their own: \(printable(others.joined(separator: ", ")))"
    }

    /// The file of taught words, as it is now; nil if there is none.
    var wordsFile: FileStatus? { loader.vocabulary.words.path.flatMap { try? FileStatus(path: $0) } }

    /// Notices changed files, once a second.
    ///
    /// - Parameter words: the file of taught words, as it was the last time.
    func lookAtFiles(_ words: borrowing Mutex<FileStatus?>) {
        let new = wordsFile
        let hasChanged = words.withLock { old in
            defer { old = new }
            return old != new
        }
        if hasChanged { changes.submit(.words) }
        desk.endIfIdle()
        restoreSocket()
    }

    /// Makes the control socket again if somebody deleted its file.
    private func restoreSocket() {
        do throws(SocketError) {
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
}
