/// Decides the words of one stream from the scores of its hops, wherever these were computed: second looks, gate, phrases, sessions, words
/// that a loudspeaker says.
///
/// The only one that does so: for a ``Detector``, each stream of a ``BatchDetector``, a ``FileDetector``, and a recording that is measured
/// under many settings. Scores come from a ``HopScorer``, or from a network that computes many hops or streams at once. Only `init` and
/// ``adapt(to:)`` allocate.
public struct WordStream: ~Copyable {
    /// The settings in force.
    public private(set) var settings: DetectorSettings
    /// The state of smoother and gate.
    public private(set) var handler: PosteriorHandler
    private var looks: any ProposalLook
    private var activity = ActivityHistory()

    /// - Parameter looks: what looks at proposals; nil for the looks of the vocabulary's words, at the newest audio.
    public init(_ settings: DetectorSettings, looks: (any ProposalLook)? = nil) {
        self.settings = settings
        handler = PosteriorHandler(settings)
        self.looks = looks ?? StreamLooks(settings.vocabulary)
    }

    /// Decides a hop.
    ///
    /// - Parameters:
    ///   - hop: its samples, for looks.
    ///   - report: as in ``PosteriorHandler/process(_:lookahead:activity:looks:report:)``, which has the other parameters too.
    public mutating func add(
        _ scores: HopScores,
        lookahead: HopScores? = nil,
        activity: ActivityHistory,
        hop: Span<Float>,
        report: (Detection) -> Void
    ) {
        self.activity = activity
        looks.add(hop: hop)
        handler.process(scores, lookahead: lookahead, activity: activity, looks: looks, report: report)
    }

    /// Decides what is pending where the audio ends, such as a word that has not been over yet.
    public mutating func finish(report: (Detection) -> Void) {
        handler.finish(activity: activity, looks: looks, report: report)
    }

    /// Applies other settings from the next hop on and keeps the state: a word that is being said is still detected, and one that has fired
    /// does not fire again.
    ///
    /// - Returns: the end of the session that was on, if the new sessions have none of its name; its index is the one among the
    ///   old sessions.
    public mutating func adapt(to new: DetectorSettings) -> Detection? {
        let old = settings.vocabulary
        if old !== new.vocabulary { looks = looks.adapted(to: new.vocabulary, after: handler.gate.streamHops) }
        settings = new
        return handler.update(new, replacing: old)
    }

    /// Forgets what was heard, after a gap: a word from before can no longer fire.
    public mutating func flush() {
        handler.flush()
        looks.flush()
    }
}
