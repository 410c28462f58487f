public import Inference

extension WordStoreFile {
    /// Adds new takes to the word as it is stored now, calibrates it and stores it.
    ///
    /// - Parameters:
    ///   - acceptsAlike: whether it may sound like another word.
    ///   - negatives: for the calibration; nil for none.
    /// - Returns: the word as it is stored, and its calibration.
    /// - Throws: ``EnrollmentError/alike``; ``EnrollmentError/store``, also if another program has changed the word meanwhile.
    public func store(
        _ teaching: borrowing Teaching,
        acceptsAlike: Bool,
        _ negatives: NegativeSet?,
        _ wait: Wait
    ) throws(EnrollmentError) -> (word: WordStore.Word, calibration: WordCalibration?) {
        var stored: (word: WordStore.Word, calibration: WordCalibration?) = (teaching.word, nil)
        try update(wait) { store throws(EnrollmentError) in
            var new = store ?? WordStore()
            stored = try new.add(teaching, acceptsAlike: acceptsAlike, negatives)
            store = new
        }
        return stored
    }

    /// Makes a recording a negative example of a stored word.
    ///
    /// - Parameters:
    ///   - samples: `[samples]` at 16 kHz, full scale 1.
    ///   - negatives: to calibrate a word of another model, which is learnt anew; nil for none.
    /// - Throws: ``EnrollmentError/negative``, ``EnrollmentError/unknown``, ``EnrollmentError/store``; nothing has changed then.
    public func addNegative(
        _ samples: [Float],
        to name: String,
        keepsAudio: Bool,
        for model: Model,
        _ negatives: NegativeSet?,
        _ wait: Wait
    ) throws(EnrollmentError) -> NegativeEffect {
        var effect: NegativeEffect?
        try update(wait) { store throws(EnrollmentError) in
            var new = store ?? WordStore()
            new.renew([name], for: model, negatives, .partial)
            var word = try new.word(name)
            guard !word.isTyped else { throw .typed(word.name) }
            guard word.embedding == model.embeddingIdentity else { throw .otherModel(word.name) }
            effect = try word.addNegative(samples, keepsAudio: keepsAudio, model: model)
            try new.put(word)
            store = new
        }
        guard let effect else { throw .store.saying("\(path): nothing was stored; try again") }
        return effect
    }
}

extension WordStore {
    /// Adds new takes to the word as it is here now, and calibrates it. The parameters are those of ``WordStoreFile/store``.
    public mutating func add(
        _ teaching: borrowing Teaching,
        acceptsAlike: Bool,
        _ negatives: NegativeSet?
    ) throws(EnrollmentError) -> (word: Word, calibration: WordCalibration?) {
        let model = teaching.model
        var word = teaching.word
        var calibration: WordCalibration?
        renew(for: model, negatives, .complete)
        renew([word.name], for: model, negatives, .partial)
        let stored = self[word.name]
        // Another program may have changed the words while takes were recorded.
        if let stored {
            guard !teaching.isNew else { throw .changedMeanwhile(word.name, "taught") }
            // One that was typed has no takes yet.
            guard
                stored.isTyped
                    || stored.embedding == word.embedding
                        && stored.takes.first?.templateSpacing == word.takes.first?.templateSpacing
            else { throw .changedMeanwhile(word.name, "taught anew") }
        } else if !teaching.isNew {
            throw .changedMeanwhile(word.name, "forgotten")
        }
        word.takes = teaching.changes.applied(to: stored?.takes ?? [])
        word.negatives = stored?.negatives ?? []
        word.sounds = teaching.sounds ?? stored?.sounds
        if let negatives { calibration = word.calibrate(among: words, negatives) }
        if !acceptsAlike,
            let other = words.first(where: { $0.name != word.name && word.soundsLike($0, by: model) })
        {
            throw .soundAlike(word.name, other.name)
        }
        if !acceptsAlike, let other = calibration?.nearestBuiltIn, other.taken >= WordCalibration.mostTaken {
            throw .takenForCommand(word.name, other.name, share: other.taken)
        }
        try put(word)
        return (word, calibration)
    }
}
