import Actions
import Audio
import Configuration
import Control
import Core
import Enrollment
import Events
import Inference
import Input
import IntegrationInterface
import LiveTeaching
import Spotting
import System
import Wyoming

/// Words that are taught with the service's own microphone, or with the audio of clients: on the thread of the queue of changes.
extension Daemon {
    /// Carries out a step of teaching a word. A step that stores something changes the file of taught words, which is then read again
    /// like after every change of it.
    ///
    /// - Throws: why it was not made; nothing has changed then.
    func teach(_ step: TeachingStep) throws -> ChangeQueue.Outcome {
        if case .name(let client, let name) = step { return try rename(client, to: name) }
        if step == .record, let trouble = pipeline?.source.trouble {
            throw DaemonError("the microphone does not hear now: \(trouble)")
        }
        let settings = currentSettings
        let note = try desk.execute(
            step,
            TeachingDesk.Settings(
                model: settings.vocabulary.model,
                modelFolder: ModelFolder.find(settings.configuration.model ?? loader.vocabulary.modelFolder),
                words: loader.vocabulary.words
            ) { [self] recorded in
                switch recorded {
                case .own(let number): pipeline?.misses.list.readClip(number).flatMap(Self.samples(of:))
                case .ofClient(let number):
                    clientWords?.first { $0.number == number }?.samples.map(Float.init(sample:))
                }
            } client: { [self] number, time in
                server?.watch(number, for: time).map { ($0.client.name, $0.sound.history) }
            } renamed: { [self] name, new in
                places(naming: name, new, settings.vocabulary.model)
            }
        )
        if let note { log.write(.notice, "teaching: \(note)") }
        return ChangeQueue.Outcome(note: note, hasRebuilt: false)
    }

    /// Gives a client of the wake-word server another name.
    private func rename(_ client: Int, to name: String) throws -> ChangeQueue.Outcome {
        let name = WordName.trimmed(name)
        guard name.utf8.count <= 60, printable(name) == name else {
            throw DaemonError("a client's name is one line of at most 60 bytes, without control characters")
        }
        let isKnown: Bool?
        do throws(SystemError) {
            isKnown = try server?.rename(client, to: name, in: StateFolder.path(of: instance))
        } catch {
            throw DaemonError("the name holds until the service ends: it is not kept: \(error)")
        }
        guard isKnown == true else { throw DaemonError("there is no such client any more") }
        return ChangeQueue.Outcome(note: nil, hasRebuilt: false)
    }

    /// Where the configuration has the old name of a word; nil for nowhere. A word of the model stays known under its own name.
    private func places(naming name: String, _ new: String, _ model: Model) -> String? {
        let known = Labels(model.labels).words
        guard !known.contains(name), let path = loader.path, let parsed = try? ParsedConfiguration(path: path) else {
            return nil
        }
        let others = (try? loader.vocabulary.words.read())?.words.map(\.name) ?? []
        let places = parsed.places(naming: [name], known: known + others, newName: new)
        guard !places.isEmpty else { return nil }
        return
            "what the configuration has for it does not apply any more: \(places.map(\.description).joined(separator: "; "))"
    }

    /// The samples of a recording's bytes, mono at 16 kHz; nil if they are not audio.
    private static func samples(of bytes: [UInt8]) -> [Float]? {
        guard let file = try? UnnamedFile(in: nil), (try? file.append(bytes)) != nil else { return nil }
        return try? FileBlocks.readClip(path: file.path, atMost: 60)
    }
}
