public import Inference

/// What is said of a hop: the model's posteriors, one a label, and the probability of each of the user's own words.
public struct HopScores: Sendable, Equatable {
    public var posteriors: [Float]
    public var personal: [Float]

    public init(posteriors: [Float], personal: [Float] = []) {
        self.posteriors = posteriors
        self.personal = personal
    }
}

/// Audio windows in, posteriors and sound activity out: the hearing half of the ``Detector``, before any decision.
public struct HopScorer: ~Copyable {
    private var vocabulary: Vocabulary
    private var session: Session
    private var personal: PersonalScorer
    private var personalAhead: [Float]
    private var tracker: ActivityTracker
    /// Time since the last sound in which the next hop is foreseen.
    var foreseenQuiet: ClosedRange<Double>?
    /// The window as it will be one hop later if it stays quiet.
    private var future: [Float]
    /// The session has not heard what comes before the next hop.
    private var isNew = false
    private var isForeseen = false

    /// - Parameter foreseenQuiet: time since the last sound in which `foreseen` is computed; nil never.
    public init(_ vocabulary: Vocabulary, foreseenQuiet: ClosedRange<Double>? = nil) {
        let model = vocabulary.model
        self.vocabulary = vocabulary
        session = Session(model, embeds: !vocabulary.personal.isEmpty)
        personal = PersonalScorer(vocabulary.personal, dimensions: model.embeddingCount)
        personalAhead = personal.probabilities
        self.foreseenQuiet = foreseenQuiet
        future = [Float](repeating: 0, count: model.windowSamples)
        tracker = ActivityTracker(of: model)
    }

    public init(model: Model, foreseenQuiet: ClosedRange<Double>? = nil) {
        self.init(Vocabulary(model), foreseenQuiet: foreseenQuiet)
    }

    /// Hears with other words, or another model, from the next hop on; a model hears it with the whole second before.
    /// Allocates.
    mutating func adopt(_ vocabulary: Vocabulary) {
        let old = self.vocabulary
        self.vocabulary = vocabulary
        let model = vocabulary.model
        if vocabulary.personal != old.personal || model !== old.model {
            personal = PersonalScorer(vocabulary.personal, dimensions: model.embeddingCount)
            personalAhead = personal.probabilities
        }
        guard model !== old.model || vocabulary.personal.isEmpty != old.personal.isEmpty else { return }
        session = Session(model, embeds: !vocabulary.personal.isEmpty)
        isNew = true
        if future.count != model.windowSamples { future = [Float](repeating: 0, count: model.windowSamples) }
        tracker.follow(model)
    }

    /// What is said of the newest hop.
    public var answer: HopScores { HopScores(posteriors: session.posteriors, personal: personal.probabilities) }

    /// What will be said one hop later, if it stays as quiet as since the last sound; nil where the settings do not ask for
    /// it, or it is not quiet.
    public var foreseen: HopScores? {
        isForeseen ? HopScores(posteriors: session.foreseen, personal: personalAhead) : nil
    }

    /// Where there was speech, or sound where the model cannot tell the two apart, after the newest hop.
    public var sound: SoundActivity { tracker.activity }

    /// Hears one hop more; `window` is the last second, its last hop new since the call before.
    public mutating func hear(window: Span<Float>) {
        if isNew { session.scoreWhole(window: window) } else { session.score(window: window) }
        isNew = false
        if !vocabulary.personal.isEmpty { personal.add(session.embedding) }
        tracker.add(hop: window.extracting(last: session.model.hopSamples), logits: session.activity)
        foresee(window)
    }

    /// Moves the window one hop on, into quiet made of the newest quiet forwards and backwards in turn, and scores it.
    private mutating func foresee(_ window: Span<Float>) {
        let quiet = sound.quietSeconds
        isForeseen = foreseenQuiet?.contains(quiet) ?? false
        guard isForeseen else { return }
        let model = session.model
        let hop = model.hopSamples
        let kept = window.count - hop
        for index in 0..<kept { future[index] = window[hop + index] }
        let length = max(1, min(hop, kept, Int(quiet * Double(model.sampleRate))))
        // The sample just before stands mirrored just behind: no step, and no click that a word could begin with.
        for index in 0..<hop {
            let place = index % (2 * length)
            future[kept + index] = place < length ? future[kept - 1 - place] : future[kept + place - 2 * length]
        }
        // Taken out of `self` while the session, another part of it, changes.
        var window: [Float] = []
        swap(&window, &future)
        session.foresee(window: window.span)
        swap(&window, &future)
        if !vocabulary.personal.isEmpty { personal.foresee(session.foreseenEmbedding, into: &personalAhead) }
    }

    /// Forgets the audio heard so far.
    public mutating func flush() {
        session.reset()
        personal.flush()
        isForeseen = false
        tracker.flush()
    }

    /// Seconds from one hop to the next.
    public static func hopSeconds(of model: Model) -> Double { Double(model.hopSamples) / Double(model.sampleRate) }
}
