import Core
import Network
import System
import WakeWords

/// Fetches models that Home Assistant offers, from its own machine alone, and keeps those that are what it said: size, SHA-256, and a model
/// that the reader can use. One after the other, on a thread of its own.
final class OfferedFetcher: Sendable {
    /// What became of a word.
    struct Result: Equatable, Sendable {
        var id: String
        /// Why its model is not used; nil: it is kept.
        var problem: String?
    }

    private struct Job {
        var word: OfferedWord
        var machine: IPAddress
    }

    /// Words that may wait.
    private static let capacity = 4
    /// Seconds that each of the two files may take.
    private static let longestFetch = 30.0
    private static let mostManifestBytes = 64 << 10

    private let state: String
    private let sodium: Sodium
    private let report: @Sendable (Result) -> Void
    private let thread: InboxThread<[Job]>

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - state: the state folder.
    ///   - report: gets the end of each word; called on the thread.
    init(state: String, _ sodium: Sodium, report: @escaping @Sendable (Result) -> Void) throws(SocketError) {
        (self.state, self.sodium, self.report) = (state, sodium, report)
        thread = try InboxThread([], or: SocketError.noEventFD)
        try thread.start(name: "beckon-offers", stackSize: 1 << 20, or: SocketError.noThread) { [self] in run() }
    }

    /// Fetches the model of a word. Any thread.
    func fetch(_ word: OfferedWord, from machine: IPAddress) {
        thread.post { jobs in
            jobs.removeAll { $0.word.wordName == word.wordName }
            if jobs.count < Self.capacity { jobs.append(Job(word: word, machine: machine)) }
        }
    }

    @discardableResult
    func end(until time: Instant?) -> Bool { thread.stop(until: time) }

    // MARK: - On the thread

    private func run() {
        while !thread.isStopped {
            let job = thread.withLock { jobs in jobs.isEmpty ? nil : jobs.removeFirst() }
            guard let job else {
                thread.wait(until: .distantFuture)
                continue
            }
            var result = Result(id: job.word.wordName)
            do throws(OfferProblem) {
                try obtain(job.word, from: job.machine)
            } catch {
                if thread.isStopped { return }
                result.problem = error.description
            }
            report(result)
        }
    }

    private func obtain(_ word: OfferedWord, from machine: IPAddress) throws(OfferProblem) {
        let json = try fetch(word.address, limit: Self.mostManifestBytes, from: machine)
        let name: String
        do throws(WakeWordError) { name = try WakeWordManifest(json: json).model } catch {
            throw OfferProblem(error.message)
        }
        let model = try fetch(Self.address(of: name, beside: word.address), limit: word.size, from: machine)
        guard model.count == word.size else {
            throw OfferProblem("it has \(model.count) bytes, not \(word.size) as was said")
        }
        let hash = sodium.hash(model).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        guard hash == word.hash.lowercased() else { throw OfferProblem("its SHA-256 is another than was said") }
        try OfferedModels.keep(hash, word.wordName, json: json, model: model, in: state)
    }

    /// The address of a file beside another one.
    static func address(of name: String, beside address: String) -> String {
        let path = address.prefix { $0 != "?" && $0 != "#" }
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? path[...]
        let escaped = name.utf8.map { byte in
            let scalar = Unicode.Scalar(byte)
            let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || (48...57).contains(byte))
            return isPlain || "-._~".unicodeScalars.contains(scalar)
                ? String(scalar) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
        return folder + escaped.joined()
    }

    private func fetch(_ address: String, limit: Int, from machine: IPAddress) throws(OfferProblem) -> [UInt8] {
        final class Content {
            var bytes: [UInt8] = []
        }
        let content = Content()
        func isCancelled() -> Bool {
            thread.drain()
            return thread.isStopped
        }
        do throws(HTTPError) {
            try HTTPDownload(address, limit: limit, from: machine).fetch(
                timeout: Self.longestFetch,
                wakeUp: thread.descriptor,
                isCancelled: isCancelled
            ) { piece in
                content.bytes += piece
                return true
            }
        } catch {
            throw OfferProblem(error.description)
        }
        return content.bytes
    }
}
