private import Core
public import Spotting
public import WakeWords

extension VocabularyLoader {
    /// The wake words, and those that are left out because they cannot be loaded.
    public struct WakeWords: Sendable {
        public var loaded: [WakeWord] = []
        public var missing: [MissingWakeWord] = []

        public init(_ loaded: [WakeWord] = [], missing: [MissingWakeWord] = []) {
            (self.loaded, self.missing) = (loaded, missing)
        }
    }

    /// The files of a wake word, of each its manifest or its model, as its name is in ``wakeWords``; the error for a name that none has.
    public func wakeWordFiles(of name: String) -> Result<[String], WakeWordError> {
        let isFile = [".json", ".tflite", ".onnx"].contains { name.hasSuffix($0) }
        do throws(WakeWordError) {
            if name.contains("/") || isFile { return .success(try WakeWordFolder.models(in: name) ?? [name]) }
        } catch {
            return .failure(error)
        }
        let (folded, shipped) = (WordName.folded(name), WakeWordFolder.shipped(beside: modelFolder))
        let added = WakeWordFolder(beside: words)
        let known = shipped.first { WordName.folded($0.name) == folded }?.manifest
        if let path = added?.manifest(of: name) ?? known { return .success([path]) }
        return .failure(.unknown(name, among: (shipped + (added?.added ?? [])).map(\.name)))
    }

    /// Loads the wake words.
    ///
    /// - Parameter labels: the words that are there besides.
    /// - Throws: `WakeWordError`, also for a word that is there twice, unless the word is one of ``optionalWakeWords``.
    public func loadWakeWords(beside labels: [String]) throws(WakeWordError) -> WakeWords {
        var (found, shared): (WakeWords, SpeechEmbedding?) = (WakeWords(), nil)
        for name in wakeWords {
            /// Leaves a word out, or throws what is wrong with it.
            func leaveOut(_ error: WakeWordError, _ path: String?) throws(WakeWordError) {
                guard optionalWakeWords.contains(name) else { throw error }
                let phrase = path.flatMap { try? WakeWord.phrase(of: $0) }
                found.missing.append(
                    MissingWakeWord(
                        name: name,
                        word: WordName.folded(phrase ?? PathName(path ?? name).stem),
                        reason: error.message
                    )
                )
            }
            let files: [String]
            switch wakeWordFiles(of: name) {
            case .success(let paths): files = paths
            case .failure(let error):
                try leaveOut(error, nil)
                continue
            }
            for path in files {
                do throws(WakeWordError) {
                    let word = try WakeWord(path: path, triggerLevel: triggerLevel) { () throws(WakeWordError) in
                        if let shared = shared ?? SpeechEmbedding.ofTakes { return shared }
                        let embedding = try SpeechEmbedding.shipped()
                        shared = embedding
                        return embedding
                    }
                    guard !(labels + found.loaded.map(\.name)).contains(word.name) else { throw .duplicate(word) }
                    found.loaded.append(word)
                } catch {
                    try leaveOut(error, path)
                }
            }
        }
        return found
    }
}
