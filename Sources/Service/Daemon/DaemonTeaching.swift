import Actions
import Audio
import Configuration
import Control
import Core
import Enrollment
import Events
import Inference
import Input
import LiveTeaching
import Spotting
import System

/// Words that are taught with the service's own microphone: on the thread of the queue of changes.
extension Daemon {
    /// Carries out a step of teaching a word. A step that stores something changes the file of taught words, which is then read again
    /// like after every change of it.
    ///
    /// - Throws: why it was not made; nothing has changed then.
    func teach(_ step: TeachingStep) throws -> ChangeQueue.Outcome {
        guard let pipeline else { throw DaemonError("this service has no microphone to teach words with") }
        if step == .record, let trouble = pipeline.source.trouble {
            throw DaemonError("the microphone does not hear now: \(trouble)")
        }
        let settings = currentSettings
        let note = try pipeline.teaching.execute(
            step,
            TeachingDesk.Settings(
                model: settings.vocabulary.model,
                modelFolder: ModelFolder.find(settings.configuration.model ?? loader.vocabulary.modelFolder),
                words: loader.vocabulary.words
            ) { pipeline.misses.list.readClip($0).flatMap(Self.samples(of:)) }
        )
        if let note { log.write(.notice, "teaching: \(note)") }
        return ChangeQueue.Outcome(note: note, hasRebuilt: false)
    }

    /// The samples of a recording's bytes, mono at 16 kHz; nil if they are not audio.
    private static func samples(of bytes: [UInt8]) -> [Float]? {
        guard let file = try? UnnamedFile(in: nil), (try? file.append(bytes)) != nil else { return nil }
        return try? FileBlocks.readClip(path: file.path, atMost: 60)
    }
}
