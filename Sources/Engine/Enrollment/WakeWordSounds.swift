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
    func pronunciations(
        of wakeWords: [WakeWord],
        _ hearing: SoundHearing?
    ) -> (pronunciations: [String: [Pronunciation]], hearing: SoundHearing?) {
        let english = wakeWords.filter { $0.manifest.languages.contains(Self.language) }
        guard !english.isEmpty,
            let hearing = try? hearing ?? PhonemeFolder.hearing(beside: ModelFolder.find(modelFolder)),
            let pronouncer = try? Pronouncer(folder: hearing.network.folder)
        else { return ([:], nil) }
        var found: [String: [Pronunciation]] = [:]
        for word in english {
            let ways = (try? pronouncer.pronunciations(of: word.name)) ?? []
            if ways.allSatisfy({ $0.sounds.count >= TypedWordCalibration.fewestSounds }) { found[word.name] = ways }
        }
        FreeMemory.giveBack()
        return found.isEmpty ? ([:], nil) : (found, hearing)
    }
}
