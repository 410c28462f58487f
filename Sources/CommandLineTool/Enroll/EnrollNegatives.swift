import Actions
import Audio
private import Core
import Enrollment
import Inference
private import JSON
private import System

/// `beckon enroll WORD --not CLIP`: recordings in which a taught word was found by mistake.
struct EnrollNegatives {
    let options: EnrollOptions
    let model: Model
    let negatives: NegativeSet?

    /// Makes each recording a negative example. Returns the exit status.
    func run(_ file: WordStoreFile) throws -> Int32 {
        guard !Labels(model.labels).words.contains(options.word) else {
            throw Failure(
                "the model knows '\(printable(options.word))' by itself, from all voices, so one recording cannot tell it what it is "
                    + "not; raise its threshold: beckon set \(ShellWord.quoted("\(printable(options.word))=0.95"))"
            )
        }
        var failed = 0
        // Of each, so that one that cannot be used keeps none of the others out.
        for clip in try clips() {
            let name = clip.name
            do {
                let samples = try FileBlocks.readClip(path: clip.path, atMost: 600, mix: options.listening.mix)
                report(name, try add(samples, to: file))
            } catch {
                // An error of the audio names the file, but not the number that was asked for.
                let isNamed = error is AudioError && name == clip.path
                // The path of a copy says nothing to anybody.
                let text = clip.copy == nil ? "\(error)" : "\(error)".replacing("'\(clip.path)'", with: "of its clip")
                Output.report(.error, isNamed ? text : "\(printable(name)): \(text)")
                failed += 1
            }
        }
        return failed > 0 ? 1 : 0
    }

    /// A recording, and what it is called.
    private struct Clip {
        let name: String
        let path: String
        /// Where it is one of the service's words: a copy, as the service may remove its own meanwhile.
        var copy: Copy?

        final class Copy: Sendable {
            let file: UnnamedFile

            init(_ bytes: [UInt8]) throws(SystemError) {
                file = try UnnamedFile(in: nil)
                try file.append(bytes)
            }
        }
    }

    /// The recordings; numbers are those of `beckon misses`.
    private func clips() throws -> [Clip] {
        let numbers = options.negatives.map { Int(digits: $0) }
        let kept = numbers.contains { $0 != nil } ? try MissesCommand.kept() : nil
        return try zip(options.negatives, numbers).map { text, number in
            guard let number, let kept else { return Clip(name: text, path: text) }
            let copy = try Clip.Copy(try kept.clip(number))
            return Clip(name: "word \(number)", path: copy.file.path, copy: copy)
        }
    }

    private func add(_ samples: [Float], to file: WordStoreFile) throws(EnrollmentError) -> NegativeEffect {
        try file.addNegative(
            samples,
            to: options.word,
            keepsAudio: options.keepsAudio,
            for: model,
            negatives,
            .announced(file.path)
        )
    }

    private func report(_ name: String, _ effect: NegativeEffect) {
        if options.json {
            let object: JSON = [
                "word": .string(options.word), "not": .string(name), "before": .number(effect.before, places: 4),
                "after": .number(effect.after, places: 4), "lowestTake": .number(effect.lowestTake, places: 4),
            ]
            Output.write(object.line)
            return
        }
        Output.writeText(
            "\(printable(name)): no longer '\(printable(options.word))' (score \(percent(effect.before)), now "
                + "\(percent(effect.after))); all takes still are (\(percent(effect.lowestTake)) or more)\n"
        )
    }
}
