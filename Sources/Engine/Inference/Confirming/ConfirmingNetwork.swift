private import Core
package import KernelInterface
import Kernels

/// The weight of log-posteriors in the sum of all networks: in a stream, and for single clips.
struct Shares: Sendable {
    /// In a stream.
    let stream: Float
    private let clip: Float
    private let noisyClip: Float

    /// - Parameters:
    ///   - clip: nil for the same as in a stream.
    ///   - noisyClip: that of a clip in which nothing stands out; nil for the same as in others.
    ///   - wrong: the error for a value that a key must not have.
    init(
        _ share: Double,
        clip: Double?,
        noisyClip: Double?,
        wrong: (_ key: String, _ what: String) -> ModelError
    ) throws(ModelError) {
        let clip = clip ?? share
        for (key, share) in [("share", share), ("clipShare", clip), ("noisyClipShare", noisyClip ?? clip)] {
            guard share >= 0, share <= 10 else { throw wrong(key, "\(share) is not from 0 to 10") }
        }
        (stream, self.clip, self.noisyClip) = (Float(share), Float(clip), Float(noisyClip ?? clip))
    }

    /// For a clip, by how far something stands out of its background, 0…1.
    func clip(foreground: Float) -> Float { noisyClip + foreground * (clip - noisyClip) }
}

/// A network that looks once more at what the streaming network proposes: a whole window in, a logit for each of its labels out.
///
/// Loaded and validated with its model; immutable.
public final class ConfirmingNetwork: Sendable {
    public let name: String
    /// Samples of the window, around the middle of the word.
    public let windowSamples: Int
    /// What each logit stands for.
    public let labels: [String]
    /// Shifts of the window in samples; the log-posteriors of all are averaged.
    let shifts: [Int]
    let shares: Shares
    /// Multiply-adds of one look, all shifts together.
    public var multiplyAdds: Int { plan.multiplyAdds * shifts.count }
    /// Bytes of the packed weights.
    public var weightBytes: Int { weights.count * MemoryLayout<Float>.stride }

    private let frontEnd: CentredFrontEnd
    private let weights: PackedWeights
    private let plan: ExecutionPlan

    /// Floats of memory that `run` needs.
    var memoryCount: Int { Arena.aligned(plan.count) + frontEnd.scratchCount }

    /// - Parameters:
    ///   - isQuantised: whether layers with a range run in int8.
    ///   - file: name of the description in error messages.
    init(
        _ description: ConfirmingNetworkDescription,
        sampleRate: Int,
        isQuantised: Bool,
        kernels: borrowing KernelSet,
        from tensors: SafeTensors,
        file: String
    ) throws(ModelError) {
        let place = "\(file): confirming network \(quoted(description.name))"
        func wrong(_ key: String, _ what: String) -> ModelError {
            .description.saying("\(place): key “\(key)”: \(what); see Models/FORMAT.md")
        }
        guard (1...Limits.windowSamples).contains(description.windowSamples) else {
            throw wrong("windowSamples", "\(description.windowSamples) is not from 1 to \(Limits.windowSamples)")
        }
        guard Set(description.labels).count == description.labels.count else {
            throw wrong("labels", "one of them is listed twice")
        }
        shares = try Shares(
            description.share,
            clip: description.clipShare,
            noisyClip: description.noisyClipShare,
            wrong: wrong
        )
        let shifts = description.shifts ?? [0]
        guard (1...Limits.confirmingShifts).contains(shifts.count), shifts.allSatisfy({ abs($0) <= 1 }) else {
            throw wrong("shifts", "not 1 to \(Limits.confirmingShifts) numbers of seconds from -1 to 1")
        }
        for (name, range) in (description.ranges ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard range >= 1e-6, range <= 1e6 else {
                throw wrong("ranges", "\(range) of \(quoted(name)) is not from 1e-6 to 1e6")
            }
        }
        name = description.name
        windowSamples = description.windowSamples
        labels = description.labels
        self.shifts = shifts.map { Int(($0 * Double(sampleRate)).rounded()) }
        frontEnd = try CentredFrontEnd(
            description.frontEnd,
            sampleRate: sampleRate,
            windowSamples: description.windowSamples,
            place: place
        )
        let network = try Network(description, features: frontEnd.plane, place: place)
        let names = Set(network.tensors.map(\.name))
        for name in (description.ranges ?? [:]).keys.sorted() where !names.contains(name) {
            throw wrong("ranges", "no layer is called \(quoted(name))")
        }
        weights = try PackedWeights(
            network,
            prefix: description.name + ".",
            ranges: isQuantised ? description.ranges ?? [:] : [:],
            kernels: kernels,
            from: tensors
        )
        plan = ExecutionPlan(network, weights: weights, embeds: false, hops: nil)
    }

    /// Computes the logits of a window.
    ///
    /// - Parameters:
    ///   - window: `[windowSamples]`, all finite.
    ///   - memory: `memoryCount` floats, 64-byte aligned.
    /// - Returns: the logits, `[labels]`, in that memory.
    func run(
        _ window: UnsafePointer<Float>,
        memory: UnsafeMutablePointer<Float>,
        kernels: borrowing KernelSet
    ) -> UnsafePointer<Float> {
        let scratch = memory + Arena.aligned(plan.count)
        frontEnd.run(window, to: memory + plan.inputOffset, scratch: scratch, kernels: kernels)
        plan.run(memory, weights: weights.base, kernels: kernels)
        return UnsafePointer(memory + plan.output)
    }

    /// The logits of a window, `[labels]`, and its features, `[bands × frames × channels]`. Allocates.
    package func answer(to window: [Float], kernels: borrowing KernelSet) -> (logits: [Float], features: [Float]) {
        precondition(window.count == windowSamples, "a window has \(windowSamples) samples")
        var layout = Arena.Layout()
        let memory = layout.reserve(memoryCount)
        let features = layout.reserve(frontEnd.plane.count)
        let arena = Arena(layout)
        return window.withUnsafeBufferPointer { window in
            guard let base = window.baseAddress else { return ([], []) }
            frontEnd.run(
                base,
                to: arena[features],
                scratch: arena[memory] + Arena.aligned(plan.count),
                kernels: kernels
            )
            let logits = run(base, memory: arena[memory], kernels: kernels)
            return (
                Array(UnsafeBufferPointer(start: logits, count: labels.count)),
                Array(UnsafeBufferPointer(start: arena[features], count: features.count))
            )
        }
    }
}
