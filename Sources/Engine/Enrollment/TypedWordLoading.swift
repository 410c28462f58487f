private import Core
private import Inference
private import Phonemes
import Spotting
private import System

extension VocabularyLoader {
    /// The typed words: those of the configuration, then those that the user stored and the configuration does not make anew. A word of
    /// which there are takes too gets their scale. Those that an earlier version stored with thresholds of another score get them anew.
    ///
    /// - Parameters:
    ///   - stored: those of the store.
    ///   - labels: the model's words; a typed word of the same name is left out where it is stored.
    ///   - taught: the words with takes.
    ///   - stores: whether to store new thresholds, if that is possible at once.
    /// - Throws: ``EnrollmentError`` for a word that cannot work, `ModelError` for damaged networks.
    func loadTyped(
        _ stored: [WordStore.Word],
        beside labels: [String],
        taught: [TaughtWord],
        stores: Bool = false
    ) throws -> (words: [TypedWord], hearing: SoundHearing?) {
        let named = Set(typed.map(\.name))
        let kept = stored.filter { !named.contains($0.name) && !labels.contains($0.name) }
        guard !typed.isEmpty || !kept.isEmpty else { return ([], nil) }
        let folder = ModelFolder.find(modelFolder)
        let hearing = try PhonemeFolder.hearing(beside: folder)
        var words: [TypedWord] = []
        let outdated = kept.filter { $0.sounds?.rule != WordStore.Sounds.rule }
        var renewed: [String: TypedWord] = [:]
        if !typed.isEmpty || !outdated.isEmpty {
            let teacher = try TypedWordTeacher(hearing, beside: folder)
            for one in typed {
                guard !labels.contains(one.name) else {
                    throw EnrollmentError.name.saying(
                        "'\(printable(one.name))' is a word of the model already; leave out its key “typed”, or choose another name"
                    )
                }
                let (word, calibration) = try teacher.word(one.name, sounds: one.sounds)
                if let refusal = teacher.refusal(word, calibration) { throw refusal }
                words.append(word)
            }
            for word in outdated {
                renewed[word.name] = (try? teacher.word(word.name, sounds: word.sounds?.ways ?? []))?.word
            }
            if stores { store(renewed, teacher.pronouncer) }
        }
        words += kept.compactMap { renewed[$0.name] ?? $0.typed(hearing.network.symbols) }
        // What reading took, in megabytes.
        FreeMemory.giveBack()
        return (words.map { word in taught.first { $0.name == word.name }.map(word.beside) ?? word }, hearing)
    }

    /// Stores the thresholds of words that still have outdated ones. Where that fails, they are calibrated anew at each start.
    private func store(_ renewed: [String: TypedWord], _ pronouncer: Pronouncer) {
        guard !renewed.isEmpty, let path = words.path else { return }
        try? WordStoreFile(path: path).update(.none) { store throws(EnrollmentError) in
            guard var changed = store else { return }
            for word in changed.typed {
                guard let sounds = word.sounds, sounds.rule != WordStore.Sounds.rule, let new = renewed[word.name],
                    let heard = WordStore.Word(new, pronouncer).sounds, heard.ways == sounds.ways
                else { continue }
                var word = word
                if word.isTyped { word.hear(heard) } else { word.sounds = heard }
                try changed.put(word)
            }
            store = changed
        }
    }
}
