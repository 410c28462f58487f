import Core
import Network
import System
import WakeWords

/// The words that Home Assistant offers models of, and those of them that are chosen.
struct OfferDesk {
    /// Most words that are listed; a house has few.
    private static let most = 32

    /// What can be chosen: with names, sizes and addresses that may be used.
    private(set) var words: [OfferedWord] = []
    /// The machine that offers them.
    private var machine: IPAddress?
    private let state: String?
    private var fetcher: OfferedFetcher?
    private let report: @Sendable (OfferedFetcher.Result) -> Void

    /// - Parameters:
    ///   - state: the state folder; nil: nothing can be kept, so that no model is used.
    ///   - report: gets what became of a word, on another thread.
    init(state: String?, report: @escaping @Sendable (OfferedFetcher.Result) -> Void) {
        (self.state, self.report) = (state, report)
    }

    /// Takes what Home Assistant offers.
    ///
    /// - Parameter machine: its own; nil on a unix socket, from which nothing is fetched.
    mutating func note(_ offered: [OfferedWord], from machine: IPAddress?) {
        guard state != nil, machine != nil, Sodium.loaded != nil else { return }
        self.machine = machine
        words = Array(offered.filter(\.isUsable).prefix(Self.most))
    }

    /// Fetches the models of those words that are chosen and not known yet, or that are others by now, and forgets those that are not chosen.
    ///
    /// - Parameter known: whether a word can be found already.
    /// - Returns: whether words are gone, so that the settings have to be read again.
    mutating func choose(_ ids: [String], known: (String) -> Bool) throws(SocketError) -> Bool {
        guard let state else { return false }
        for word in words where ids.contains(word.wordName) {
            let kept = OfferedModels.name(of: word.wordName, in: state)
            guard kept.map({ $0 != word.hash.lowercased() }) ?? !known(word.wordName) else { continue }
            guard let machine, let sodium = Sodium.loaded else { break }
            if fetcher == nil { fetcher = try OfferedFetcher(state: state, sodium, report: report) }
            fetcher?.fetch(word, from: machine)
        }
        return OfferedModels.keepOnly(ids, in: state)
    }

    func close() { fetcher?.end(until: Clock.now) }
}

extension OfferedWord {
    /// What it is called here, as a model's word is.
    var wordName: String { WordName.folded(phrase) }

    /// Whether its model could be used, as far as the offer says.
    var isUsable: Bool {
        !wordName.isEmpty && isReadableName(phrase) && phrase.utf8.count <= 200
            && kind == WakeWordManifest.Kind.microWakeWord.rawValue
            && (1...WakeWord.mostBytes).contains(size) && hash.utf8.count == 64 && address.utf8.count <= 2048
            && (address.lowercased().hasPrefix("http://") || address.lowercased().hasPrefix("https://"))
    }
}
