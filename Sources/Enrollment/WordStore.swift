/// The user's own words: the takes of each, and what is kept of them.
public struct WordStore: Sendable, Equatable {
    /// One recording of a word.
    public struct Take: Sendable, Equatable {
        /// Unit vectors, the embeddings at the word's end and, of a long phrase, before it.
        public var anchors: [[Float]]
        /// Hops from each anchor to the one before it; 0 where there is one.
        public var lag: Int
        /// The recording, mono at 16 kHz, where the user wanted it kept; else empty.
        public var audio: [Int16]

        public init(anchors: [[Float]], lag: Int, audio: [Int16] = []) {
            self.anchors = anchors
            self.lag = lag
            self.audio = audio
        }
    }

    public struct Word: Sendable, Equatable {
        public let name: String
        /// Above what probability it fires, 0…1.
        public var threshold: Float
        /// Similarity, −1…1, at which it is as likely as not that the word was said.
        public var boundary: Float
        public var takes: [Take]

        public init(
            name: String,
            threshold: Float = WordStore.suggestedThreshold,
            boundary: Float = WordStore.usualBoundary,
            takes: [Take]
        ) {
            self.name = name
            self.threshold = threshold
            self.boundary = boundary
            self.takes = takes
        }
    }

    /// Boundaries are settled so that this threshold is the one to use.
    public static let suggestedThreshold: Float = 0.8
    /// Where nothing is known of what a word has to stand apart from.
    public static let usualBoundary: Float = 0.5

    /// What made the embeddings: vectors of other models mean nothing beside them.
    public var embedding: String
    public var words: [Word]

    /// A store without words.
    public init(embedding: String, words: [Word] = []) {
        self.embedding = embedding
        self.words = words
    }

    public subscript(name: String) -> Word? { words.first { $0.name == name } }

    /// Puts a word in, in the place of the one that has its name.
    ///
    /// - Throws: ``EnrollmentError/store`` where there would be more words, or takes, than are kept.
    public mutating func put(_ word: Word) throws(EnrollmentError) {
        guard word.takes.count <= Limit.takes else {
            throw .store.saying(
                "'\(word.name)' has \(word.takes.count) takes, more than the \(Limit.takes) that are kept"
            )
        }
        guard words.count < Limit.words || self[word.name] != nil else {
            throw .store.saying("there are \(words.count) words already, and no room for more; forget some")
        }
        if let index = words.firstIndex(where: { $0.name == word.name }) {
            words[index] = word
        } else {
            words.append(word)
        }
    }

    /// - Throws: ``EnrollmentError/unknown``.
    public mutating func forget(_ name: String) throws(EnrollmentError) {
        _ = try word(name)
        words.removeAll { $0.name == name }
    }

    /// - Throws: ``EnrollmentError/unknown``.
    public func word(_ name: String) throws(EnrollmentError) -> Word {
        if let word = self[name] { return word }
        let known = words.isEmpty ? "there are none" : "there are " + words.map(\.name).joined(separator: ", ")
        throw .unknown.saying("no word '\(name)' was taught; \(known)")
    }

    /// Limits that keep a store small and its reading quick.
    public enum Limit {
        public static let words = 1000
        public static let takes = 100
        public static let nameBytes = 200
        public static let anchors = 4
        public static let dimensions = 4096
        /// Samples of one take.
        public static let audio = 16000 * 10
        /// Bytes of a whole store.
        public static let bytes = 1 << 30
    }

    /// Throws where no word can be called that: any text of one line will do, but for what stands for no word.
    public static func check(name: String) throws(EnrollmentError) {
        let advice = "name the word as it is said, such as: computer"
        guard !name.isEmpty, name.contains(where: { !$0.isWhitespace }) else {
            throw .name.saying("a word needs a name; \(advice)")
        }
        guard name.utf8.count <= Limit.nameBytes else {
            throw .name.saying("'\(name.prefix(40))…': a name has at most \(Limit.nameBytes) bytes; \(advice)")
        }
        guard !name.hasPrefix("_") else {
            throw .name.saying("'\(name)': names do not begin with an underscore; \(advice)")
        }
        guard
            name.unicodeScalars.allSatisfy({
                $0.value >= 0x20 && $0.value != 0x7F && $0.value != 0x2028 && $0.value != 0x2029
            })
        else { throw .name.saying("'\(name)': a name is one line without control characters; \(advice)") }
        guard name.first?.isWhitespace == false, name.last?.isWhitespace == false else {
            throw .name.saying("'\(name)': a name neither begins nor ends with a blank; \(advice)")
        }
    }
}
