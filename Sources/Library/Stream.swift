import Audio
private import Core
import Spotting

extension Spotter {
    /// Detects words in audio as it arrives. The detections equal those of a file with the same samples.
    ///
    /// Use a stream from one thread at a time. Its latency is the network's hop of 100 ms plus the gate's wait.
    public struct Stream: ~Copyable {
        private let spotter: Spotter
        private var detector: Detector
        private var resampler: Resampler
        /// The last second at 16 kHz.
        private let ring: BlockRing
        /// The block being filled; `filled` samples are valid.
        private var block = [Float](repeating: 0, count: AudioFormat.hopSamples)
        private var filled = 0
        /// Samples at 16 kHz that came out of the resampler.
        private var count = 0
        private var found: [Spotting.Detection] = []

        init(_ spotter: Spotter, ring: BlockRing, resampler: consuming Resampler) {
            self.spotter = spotter
            self.ring = ring
            self.resampler = resampler
            detector = Detector(spotter.detector)
        }

        /// Processes the next samples.
        ///
        /// - Parameter samples: one channel at the stream's rate, in −1…1, any number; NaN and infinity count as 0.
        /// - Returns: the words that were decided in these samples.
        /// - Throws: ``SpotterError/audio`` where the sample rate cannot be converted.
        public mutating func process(_ samples: [Float]) throws(SpotterError) -> [Beckon.Detection] {
            try resample(samples.map { $0.isFinite ? $0 : 0 }, endOfInput: false)
            return takeDetections()
        }

        /// Processes the next samples, 16-bit PCM in the machine's byte order.
        ///
        /// - Parameter samples: one channel at the stream's rate, any number of them.
        /// - Returns: the words that were decided in these samples.
        /// - Throws: ``SpotterError/audio`` where the sample rate cannot be converted.
        public mutating func process(_ samples: [Int16]) throws(SpotterError) -> [Beckon.Detection] {
            try resample(samples.map(Float.init(sample:)), endOfInput: false)
            return takeDetections()
        }

        /// Ends the stream. A second of silence is appended, in which the last word is decided.
        ///
        /// - Returns: the words that were decided since the last call.
        /// - Throws: ``SpotterError/audio`` where the sample rate cannot be converted.
        public consuming func finish() throws(SpotterError) -> [Beckon.Detection] {
            try resample([], endOfInput: true)
            if filled > 0 {
                for index in filled..<block.count { block[index] = 0 }
                hear()
            }
            var closing = ClosingSilence()
            while closing.next(&block) { hear() }
            detector.finish { found.append($0) }
            return takeDetections()
        }

        private mutating func resample(_ samples: [Float], endOfInput: Bool) throws(SpotterError) {
            var consumed = 0
            while true {
                let progress = try fillBlock(samples.span.extracting(consumed...), endOfInput: endOfInput)
                consumed += progress.consumed
                filled += progress.produced
                count += progress.produced
                if filled == block.count {
                    hear()
                    filled = 0
                }
                if progress.produced == 0, progress.consumed == 0 { return }
            }
        }

        /// Resamples into the rest of the block.
        private mutating func fillBlock(
            _ samples: Span<Float>,
            endOfInput: Bool
        ) throws(SpotterError) -> Resampler.Progress {
            // A span of a property would keep exclusive access to all of `self`.
            var block: [Float] = []
            swap(&block, &self.block)
            defer { swap(&block, &self.block) }
            do throws(AudioError) {
                var span = block.mutableSpan
                var room = span.extracting(filled...)
                return try resampler.process(samples, into: &room, endOfInput: endOfInput)
            } catch {
                throw .audio.saying(error.description)
            }
        }

        /// Runs the detector over the window that ends with the block.
        private mutating func hear() {
            ring.write(block.span, time: Instant(nanoseconds: 0))
            _ = ring.withWindow { window, _ in
                detector.process(window: window) { found.append($0) }
            }
        }

        private mutating func takeDetections() -> [Beckon.Detection] {
            defer { found.removeAll(keepingCapacity: true) }
            let length = Double(count) / Double(AudioFormat.sampleRate)
            return found.compactMap { Beckon.Detection($0, spotter.detector.vocabulary.labels, endingBy: length) }
        }
    }
}
