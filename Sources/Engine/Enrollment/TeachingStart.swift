private import Core
public import Inference

extension Teaching {
    /// Begins to teach a new word, or to add takes to one that is taught.
    ///
    /// - Parameters:
    ///   - more: whether the word is taught already.
    ///   - store: the words that are taught; nil for none. The word is learnt anew there if it is of another model.
    ///   - acceptsAlike: whether its takes may sound like another word.
    /// - Throws: ``EnrollmentError``.
    public static func begin(
        _ name: String,
        more: Bool,
        in store: inout WordStore?,
        model: Model,
        _ negatives: NegativeSet?,
        acceptsAlike: Bool = false
    ) throws(EnrollmentError) -> Teaching {
        let readable = printable(name)
        guard model.embeddingCount > 0 else {
            throw .model.saying("\(model.name): this model has no embedding to learn words by; use the commands model")
        }
        // A typed word has no takes yet.
        if store?[name]?.isTyped == false, !more {
            throw .name.saying("'\(readable)' is taught already; add takes to it, or forget it first")
        }
        if store?[name] == nil, more { throw .unknown.saying("'\(readable)' is not taught yet") }
        if let twin = WordTwin(of: name, store, model) {
            throw .name.saying(
                "'\(readable)' is spelled almost like '\(printable(twin.name))', which is known already"
            )
        }
        if more { store?.renew([name], for: model, negatives, .partial) }
        let existing = store?[name]
        if existing?.isTyped == false, store?.unusable(by: model).contains(name) != false { throw .otherModel(name) }
        return try Teaching(
            name,
            existing: existing,
            model: model,
            keepsAudio: true,
            negatives: acceptsAlike ? nil : negatives
        )
    }
}

extension WordCalibration {
    /// All that there is to say of a word in plain words: the estimates, its neighbours, its spelling, and what may be taken for it.
    public func remarks(on word: WordStore.Word, _ near: NearWords?, _ negatives: NegativeSet) -> [String] {
        meaning + neighbours + spellingRemark(word.name)
            + WordStore.Word.similarRemark(word.similarTexts(near, negatives))
    }
}
