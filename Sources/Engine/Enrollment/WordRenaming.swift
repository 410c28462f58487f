import Core
public import Inference

extension WordStoreFile {
    /// Gives a stored word another name. Its takes, sounds and negative examples stay; where the words of the two names differ in number or length,
    /// what depends on them is learnt anew from the recordings. The thresholds are those of the new name, as it is spelled otherwise.
    ///
    /// - Parameter negatives: for the calibration; nil for none.
    /// - Throws: ``EnrollmentError/name`` for a name that no word can have, or that is in use; ``EnrollmentError/unknown``;
    ///   ``EnrollmentError/store``, also if the recordings are needed and were not kept. Nothing has changed then.
    public func rename(
        _ name: String,
        to new: String,
        for model: Model,
        _ negatives: NegativeSet?,
        _ wait: Wait
    ) throws(EnrollmentError) {
        try update(wait) { store throws(EnrollmentError) in
            var changed = store ?? WordStore()
            guard changed[name] != nil || !Labels(model.labels).words.contains(name) else {
                throw .name.saying("'\(name)' is one of the model's words, which keep their names")
            }
            changed.renew([name], for: model, negatives, .partial)
            var word = try changed.word(name).named(new, among: changed, model)
            if let negatives, !word.isTyped {
                _ = word.calibrate(among: changed.words.filter { $0.name != name }, negatives)
            }
            changed.replace(name, with: word)
            store = changed
        }
    }
}

extension WordStore.Word {
    /// The word with another name, not calibrated.
    fileprivate func named(_ new: String, among store: WordStore, _ model: Model) throws(EnrollmentError)
        -> WordStore.Word
    {
        try WordStore.check(name: new)
        guard new != name else { throw .name.saying("'\(name)' has this name already; nothing was changed") }
        guard isTyped || embedding == model.embeddingIdentity else { throw .otherModel(name) }
        if store[new] != nil { throw .nameInUse(new, new, isTaught: true) }
        if Labels(model.labels).words.contains(new) { throw .nameInUse(new, new, isTaught: false) }
        let others = WordStore(words: store.words.filter { $0.name != name })
        if let twin = WordTwin(of: new, others, model) { throw .nameInUse(new, twin.name, isTaught: twin.isTaught) }
        var word = WordStore.Word(name: new, embedding: embedding, takes: takes)
        (word.threshold, word.boundary, word.negatives) = (threshold, boundary, negatives)
        word.sounds = sounds
        if isTyped { word.sensitivities = sensitivities }
        guard !isTyped, PhraseParts.gaps(in: new) != PhraseParts.gaps(in: name) else { return word }
        guard var learnt = word.renewed(for: model, .complete) else {
            throw .store.saying(
                "'\(name)' was taught without recordings, which '\(new)' needs, as its words are others; teach '\(new)' anew; nothing was "
                    + "changed"
            )
        }
        learnt.sounds = sounds
        return learnt
    }
}
