private import Inference
import Phonemes
import Spotting
private import System
import WakeWords

extension VocabularyLoader {
    /// The language that names are read as, in manifests.
    private static let language = "en"

    /// How wake words are said that are looked at by their sounds, by name, and the network for that: those of English with a phrase that can
    /// be pronounced and is long enough. Others fire by their models alone, as all do where the networks of sounds are missing.
    ///
    /// - Parameter hearing: if it was read before.
    /// - Throws: `ModelError` for damaged networks.
    func pronunciations(
        of wakeWords: [WakeWord],
        _ hearing: SoundHearing?
    ) throws -> (pronunciations: [String: [Pronunciation]], hearing: SoundHearing?) {
        let english = wakeWords.filter { $0.manifest.languages.contains(Self.language) }
        guard !english.isEmpty, let folder = try? PhonemeFolder.find(beside: ModelFolder.find(modelFolder)) else {
            return ([:], nil)
        }
        let hearing = try hearing ?? SoundHearing(PhonemeNetwork(folder: folder))
        let pronouncer = try Pronouncer(folder: folder)
        var found: [String: [Pronunciation]] = [:]
        for word in english {
            let ways = (try? pronouncer.pronunciations(of: word.name)) ?? []
            if ways.allSatisfy({ $0.sounds.count >= TypedWordCalibration.fewestSounds }) { found[word.name] = ways }
        }
        FreeMemory.giveBack()
        return found.isEmpty ? ([:], nil) : (found, hearing)
    }
}
