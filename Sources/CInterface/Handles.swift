import Beckon
import CBeckon
import Glibc

/// What a `beckon_spotter` is: a spotter, and its words as C texts. Immutable, so any thread may use it.
final class SpotterHandle {
    let spotter: Spotter
    private let texts: [UnsafeMutablePointer<CChar>?]
    private let numbers: [String: Int]

    init(_ spotter: Spotter) {
        self.spotter = spotter
        let names = spotter.words + spotter.phrases + spotter.labels
        texts = names.map { strdup($0) }
        numbers = Dictionary(zip(names, 0...), uniquingKeysWith: { first, _ in first })
    }

    deinit {
        for text in texts { free(text) }
    }

    /// A text of a list of the spotter's, which lives as long as this handle; nil for a number without one.
    func text(_ list: KeyPath<Spotter, [String]>, _ number: UInt) -> UnsafePointer<CChar>? {
        let list = spotter[keyPath: list]
        guard let number = Int(exactly: number), list.indices.contains(number) else { return nil }
        return numbers[list[number]].flatMap(text)
    }

    private func text(_ number: Int) -> UnsafePointer<CChar>? { texts[number].map { UnsafePointer($0) } }

    /// A detection in C's form, whose word lives as long as this handle.
    func detection(_ detection: Detection) -> beckon_detection {
        beckon_detection(
            word: numbers[detection.word].flatMap(text),
            confidence: detection.confidence,
            proposed: detection.proposed ?? .nan,
            confirmed: detection.confirmed ?? .nan,
            start: detection.start,
            end: detection.end
        )
    }
}

/// What a `beckon_stream` is: a stream, and its words that were not taken yet. For one thread at a time.
final class StreamHandle {
    private let spotter: SpotterHandle
    private let rate: Int
    /// Nil after its end.
    private var stream: Spotter.Stream?
    private(set) var scores: ScoreHistory
    private var found: [beckon_detection] = []
    /// Those of `found` that were taken.
    private var taken = 0
    private var hasBegun = false

    init(_ spotter: SpotterHandle, rate: Int) throws(SpotterError) {
        (self.spotter, self.rate) = (spotter, rate)
        let stream = try spotter.spotter.stream(sampleRate: rate)
        scores = stream.scores
        self.stream = consume stream
    }

    /// Begins anew, with another history of scores.
    func keep(seconds: Double) throws(CallError) {
        guard !hasBegun else { throw CallError("scores are kept from the begin: ask for it before the first samples") }
        do throws(SpotterError) {
            let stream = try spotter.spotter.stream(sampleRate: rate, history: seconds)
            scores = stream.scores
            self.stream = consume stream
        } catch {
            throw CallError(error)
        }
    }

    func push(_ process: (inout Spotter.Stream) throws(SpotterError) -> [Detection]) throws(CallError) {
        guard var stream = stream.take() else { throw Self.ended }
        hasBegun = true
        var failure: CallError?
        do throws(SpotterError) {
            found += try process(&stream).map(spotter.detection)
        } catch {
            failure = CallError(error)
        }
        self.stream = consume stream
        if let failure { throw failure }
    }

    func finish() throws(CallError) {
        guard let stream = stream.take() else { throw Self.ended }
        hasBegun = true
        do throws(SpotterError) {
            found += try stream.finish().map(spotter.detection)
        } catch {
            throw CallError(error)
        }
    }

    /// The next detection; nil if none waits.
    func next() -> beckon_detection? {
        guard taken < found.count else {
            found.removeAll(keepingCapacity: true)
            taken = 0
            return nil
        }
        defer { taken += 1 }
        return found[taken]
    }

    private static var ended: CallError { CallError("the stream has ended; open another one") }
}

/// What `beckon_results` are: the words of a file. Immutable.
final class ResultsHandle {
    private let spotter: SpotterHandle
    let items: UnsafeMutableBufferPointer<beckon_detection>

    init(_ spotter: SpotterHandle, _ found: [Detection]) {
        self.spotter = spotter
        items = .allocate(capacity: found.count)
        _ = items.initialize(from: found.map(spotter.detection))
    }

    deinit { items.deallocate() }
}

/// Hands an object to C, which owns it until ``release(_:_:)``.
func handle(_ object: AnyObject) -> OpaquePointer { OpaquePointer(Unmanaged.passRetained(object).toOpaque()) }

/// The object of a handle.
///
/// - Throws: if the handle is `NULL`.
func object<Object: AnyObject>(_ handle: OpaquePointer?, _: Object.Type) throws(CallError) -> Object {
    guard let handle else {
        throw CallError("a handle is NULL; look at the error of the call that should have made it")
    }
    return Unmanaged<Object>.fromOpaque(UnsafeRawPointer(handle)).takeUnretainedValue()
}

/// Takes a handle back from C.
func release<Object: AnyObject>(_ handle: OpaquePointer?, _: Object.Type) {
    handle.map { Unmanaged<Object>.fromOpaque(UnsafeRawPointer($0)).release() }
}
