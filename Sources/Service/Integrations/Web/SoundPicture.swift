import Audio
import Core
import Inference

/// The last ten seconds of sound as the page draws them: in each column the lowest and the highest sample, and the log-mel bands.
///
/// A hop of the detector has a fixed number of columns. Each column is little-endian Int16: lowest and highest sample (full scale is
/// 32767), then the bands, in 256ths.
final class SoundPicture {
    /// Hops that are kept.
    static let hops = 100
    /// Columns of a hop where the model has no bands.
    private static let plainColumns = 8

    let columns: Int
    let bands: Int
    /// Number of the oldest hop that is kept, and of the next one.
    private(set) var first: Int
    private(set) var end: Int
    /// The hops, by their number modulo ``hops``.
    private var parts: [[UInt8]]
    private var extractor: FeatureExtractor?
    /// The newest window of samples.
    private var window = [Float](repeating: 0, count: AudioFormat.windowSamples)

    /// - Parameter hop: number of the first hop to draw.
    init(_ model: Model, from hop: Int) {
        let features = model.frontEnd
        let count = AudioFormat.hopSamples / max(1, features.hopSamples)
        let isDrawn = !features.bandHertz.isEmpty && count >= 1 && AudioFormat.hopSamples % features.hopSamples == 0
        columns = isDrawn ? count : Self.plainColumns
        bands = isDrawn ? features.bandHertz.count : 0
        extractor = isDrawn ? FeatureExtractor(model, newest: count) : nil
        (first, end) = (hop, hop)
        parts = [[UInt8]](repeating: [], count: Self.hops)
    }

    /// Draws the hops that have come since.
    func advance(_ history: AudioHistory) {
        let newest = history.count / AudioFormat.hopSamples
        // A reader that was away for long goes on with what is kept.
        let oldest = max(0, newest - AudioHistory.seconds * 10)
        if end < oldest { (first, end) = (oldest, oldest) }
        guard end < newest else { return }
        let samples = history.samples(end * AudioFormat.hopSamples..<newest * AudioFormat.hopSamples)
        // Fewer if the oldest ones were replaced just now.
        guard samples.count == (newest - end) * AudioFormat.hopSamples else {
            (first, end) = (newest, newest)
            return
        }
        for hop in 0..<newest - end {
            add(samples[hop * AudioFormat.hopSamples..<(hop + 1) * AudioFormat.hopSamples])
        }
    }

    private func add(_ hop: ArraySlice<Float>) {
        window.removeFirst(min(window.count, hop.count))
        window += hop
        extractor?.run(window: window.span)
        let features = extractor?.columns ?? []
        let length = hop.count / columns
        var bytes: [UInt8] = []
        bytes.reserveCapacity(columns * (2 + bands) * 2)
        func append(_ value: Float, _ scale: Float) {
            let number = Int16(min(max((value.isFinite ? value * scale : 0).rounded(), -32768), 32767))
            bytes.append(UInt8(truncatingIfNeeded: number))
            bytes.append(UInt8(truncatingIfNeeded: number >> 8))
        }
        for column in 0..<columns {
            let part = hop.dropFirst(column * length).prefix(length)
            append(part.min() ?? 0, 32767)
            append(part.max() ?? 0, 32767)
            for band in 0..<bands { append(features[column * bands + band], 256) }
        }
        parts[end % Self.hops] = bytes
        end += 1
        first = max(first, end - Self.hops)
    }

    /// The columns from a hop on, and the number of the first one there is.
    func columns(from hop: Int) -> (first: Int, bytes: [UInt8]) {
        let start = max(hop, first)
        guard start < end else { return (end, []) }
        return (start, (start..<end).flatMap { parts[$0 % Self.hops] })
    }
}
