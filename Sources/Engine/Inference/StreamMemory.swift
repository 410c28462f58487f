import KernelInterface
import Synchronization
private import System

/// What all streams of a model have in common: the plans, the state after digital silence, and scratch memory for the time of a call.
final class StreamMemory: Sendable {
    let plans: ExecutionPlans
    private let layout: StreamScratch.Layout
    private let pool = Pool<StreamScratch>()
    private let silence = Mutex<SilentState?>(nil)

    init(_ plans: ExecutionPlans, _ frontEnd: FrontEnd, windowSamples: Int, logits: Int) {
        self.plans = plans
        layout = StreamScratch.Layout(plans, frontEnd, windowSamples: windowSamples, logits: logits)
    }

    /// Provides for calls of ``withScratch(_:)`` by one more thread.
    func reserve() { pool.reserve { StreamScratch(layout) } }

    func withScratch<Result>(_ body: (StreamScratch) -> Result) -> Result {
        pool.with(make: { StreamScratch(layout) }, body)
    }

    /// The state after endless digital silence; it is computed once.
    func silence(of model: Model) -> SilentState {
        silence.withLock { known in
            let state = known ?? withScratch { SilentState(model, plans, $0) }
            known = state
            return state
        }
    }
}

/// Memory that a stream needs during a call only.
final class StreamScratch: Sendable {
    struct Layout {
        fileprivate var arena = Arena.Layout()
        fileprivate let window: Arena.Region
        fileprivate let lookahead: Arena.Region
        fileprivate let samples: Arena.Region
        fileprivate let frontEnd: Arena.Region
        fileprivate let probabilities: Arena.Region
        fileprivate let columns: Arena.Region
        fileprivate let powers: Arena.Region

        init(_ plans: ExecutionPlans, _ front: FrontEnd, windowSamples: Int, logits: Int) {
            window = arena.reserve(plans.window.count)
            lookahead = arena.reserve(plans.hop?.count ?? 0)
            samples = arena.reserve(windowSamples)
            frontEnd = arena.reserve(front.scratchCount)
            probabilities = arena.reserve(logits)
            columns = arena.reserve(front.columns * front.channels)
            powers = arena.reserve(front.columns)
        }
    }

    private let layout: Layout
    private let arena: Arena

    fileprivate init(_ layout: Layout) {
        self.layout = layout
        arena = Arena(layout.arena)
    }

    /// The layers of a whole window.
    var window: UnsafeMutablePointer<Float> { arena[layout.window] }
    /// A copy of a stream's state.
    var lookahead: UnsafeMutablePointer<Float> { arena[layout.lookahead] }
    /// The samples of a window.
    var samples: UnsafeMutableBufferPointer<Float> {
        UnsafeMutableBufferPointer(start: arena[layout.samples], count: layout.samples.count)
    }
    /// The scratch memory of the front end.
    var frontEnd: UnsafeMutablePointer<Float> { arena[layout.frontEnd] }
    /// `[logits]`.
    var probabilities: UnsafeMutablePointer<Float> { arena[layout.probabilities] }
    /// The features of a window, and a float for each of its columns, for ``ClipContrast``.
    var columns: UnsafeMutablePointer<Float> { arena[layout.columns] }
    var powers: UnsafeMutablePointer<Float> { arena[layout.powers] }
}

/// The state of a stream after endless digital silence; where the model does not stream, the layers of a window.
final class SilentState: Sendable {
    private let arena: Arena

    fileprivate init(_ model: Model, _ plans: ExecutionPlans, _ scratch: StreamScratch) {
        var layout = Arena.Layout()
        _ = layout.reserve(plans.hop?.count ?? plans.window.count)
        arena = Arena(layout)
        let zeros = [Float](repeating: 0, count: model.windowSamples)
        model.run(
            plans.window,
            zeros.span.extracting(model.frontEnd.samples(ofNewest: plans.window.inputColumns)),
            state: scratch.window,
            scratch: scratch.frontEnd
        )
        if let hop = plans.hop {
            hop.layout.copy(plans.window.layout, scratch.window, to: arena.base)
        } else {
            arena.base.update(from: scratch.window, count: plans.window.count)
        }
    }

    var base: UnsafeMutablePointer<Float> { arena.base }
}
