import Configuration
import Spotting
import WakeWords

/// The words that can start a command, and those that do. A pure value.
struct AssistantWords: Equatable, Sendable {
    /// The most that Home Assistant's picker chooses.
    static let most = 2
    private static let mostListed = 64

    /// In the order of the announcement.
    private(set) var available: [AssistantWord]
    /// Their ids; those of a choice that are gone are left out.
    private(set) var active: [String]

    /// - Parameters:
    ///   - chosen: what Home Assistant has chosen; nil if it has not.
    ///   - usual: what is active then.
    init(_ available: [AssistantWord], chosen: [String]?, usual: [String]) {
        self.available = Array(available.prefix(Self.mostListed))
        let known = Set(self.available.map(\.id))
        active = (chosen ?? usual).filter(known.contains)
    }

    /// The words of a service that may fire, as far as its configuration chooses them.
    ///
    /// Where neither the configuration nor Home Assistant has chosen, words that are made for it start a command: wake words with models
    /// of their own, then phrases, then taught words; the model's ten words do not.
    ///
    /// - Parameters:
    ///   - chosen: what Home Assistant has chosen; nil if it has not.
    ///   - offered: the words that it has models of.
    ///   - kept: the folder of those of them that are kept; nil for none.
    init(_ settings: ServiceSettings, chosen: [String]?, offered: [OfferedWord] = [], kept: String? = nil) {
        let named = settings.configuration.esphome.words
        let vocabulary = settings.vocabulary
        let manifests = Dictionary(vocabulary.wakeWords.map { ($0.name, $0.manifest) }) { first, _ in first }
        let names = settings.wordThresholds.map(\.word) + settings.phrases.map(\.name)
        let own = vocabulary.wakeWords.filter { word in kept.map { word.manifestPath.hasPrefix($0 + "/") } ?? false }
            .map(\.name)
        var available = names.filter { named?.contains($0) ?? true || own.contains($0) }.map { name in
            let manifest = manifests[name]
            return AssistantWord(id: name, phrase: manifest?.phrase ?? name, languages: manifest?.languages ?? [])
        }
        for word in offered where !available.contains(where: { $0.id == word.wordName }) {
            available.append(AssistantWord(id: word.wordName, phrase: word.phrase, languages: word.languages))
        }
        let made = vocabulary.wakeWords.map(\.name) + settings.phrases.map(\.name) + vocabulary.taught.map(\.name)
        let usual = named ?? Array(made.filter(names.contains).prefix(Self.most))
        self.init(available, chosen: chosen, usual: usual)
    }

    /// The word of an event, if it starts a command.
    func starting(_ name: String) -> AssistantWord? {
        active.contains(name) ? available.first { $0.id == name } : nil
    }
}
