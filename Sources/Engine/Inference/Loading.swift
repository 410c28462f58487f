private import Core
import Synchronization
import System

/// Something that another thread loads, while the caller loads something else.
///
/// Networks are packed for the processor when they are loaded, which is most of the time to start.
struct Loading<Value: Sendable> {
    private final class Place: Sendable {
        let result = Mutex<Result<Value, ModelError>?>(nil)
    }

    private let place = Place()
    private let thread: JoinableThread?
    private let load: @Sendable () throws(ModelError) -> Value

    /// Begins.
    init(_ load: @escaping @Sendable () throws(ModelError) -> Value) {
        self.load = load
        thread = JoinableThread(name: "beckon-load") { [place] in
            let result = Result(catching: load)
            place.result.withLock { $0 = result }
        }
    }

    /// Waits for it; loads it itself where the system gave no thread.
    func value() throws(ModelError) -> Value {
        thread?.join()
        guard let result = place.result.withLock({ $0 }) else { return try load() }
        return try result.get()
    }
}
