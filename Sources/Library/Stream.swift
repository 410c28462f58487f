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
        private var blocks: BlockMaker?
        /// Reads floats by the rule of files and pipes: pops are clipped.
        private var reader: SampleReader
        /// The last second at 16 kHz. In memory of its own, unlike that of a ring: after a fork both processes may go on.
        private var window = [Float](repeating: 0, count: AudioFormat.windowSamples)
        /// Samples at 16 kHz that came out of the resampler.
        private var count = 0
        private var hops = 0
        /// What was decided since the last call, and the end of the hop in which it was, in seconds.
        private var found: [(detection: Spotting.Detection, hopEnd: Double)] = []
        /// The scores of the newest hops.
        public let scores: ScoreHistory

        init(_ spotter: Spotter, blocks: consuming BlockMaker, sampleRate: Int, _ scores: ScoreHistory) {
            self.scores = scores
            self.spotter = spotter
            self.blocks = consume blocks
            reader = SampleReader(.floats, rate: sampleRate, channels: 1, isLive: true)
            detector = Detector(spotter.detector)
        }

        /// Processes the next samples.
        ///
        /// - Parameter samples: one channel at the stream's rate, in −1…1, any number; NaN and infinity count as 0.
        /// - Returns: the words that were decided in these samples.
        /// - Throws: ``SpotterError/audio`` where the sample rate cannot be converted, and for samples whose full scale is not 1, such as
        ///   those of 16 bits as floats; the stream is as it was then.
        public mutating func process(_ samples: [Float]) throws(SpotterError) -> [Beckon.Detection] {
            ForkGate.enter()
            defer { ForkGate.leave() }
            try hear(try samples.read(by: &reader))
            return takeDetections()
        }

        /// Processes the next samples, 16-bit PCM in the machine's byte order.
        ///
        /// - Parameter samples: one channel at the stream's rate, any number of them.
        /// - Returns: the words that were decided in these samples.
        /// - Throws: ``SpotterError/audio`` where the sample rate cannot be converted.
        public mutating func process(_ samples: [Int16]) throws(SpotterError) -> [Beckon.Detection] {
            ForkGate.enter()
            defer { ForkGate.leave() }
            try hear(samples.map(Float.init(sample:)))
            return takeDetections()
        }

        /// Ends the stream. A second of silence is appended, in which the last word is decided.
        ///
        /// - Returns: the words that were decided since the last call.
        /// - Throws: ``SpotterError/audio`` where the sample rate cannot be converted.
        public consuming func finish() throws(SpotterError) -> [Beckon.Detection] {
            ForkGate.enter()
            defer { ForkGate.leave() }
            try hear([], isEnd: true)
            var closing = ClosingSilence()
            var block = [Float](repeating: 0, count: AudioFormat.hopSamples)
            while closing.next(&block) { hear(block.span) }
            endDetector()
            return takeDetections()
        }

        /// Apart, because in a consuming function Swift 6.2 takes what the closure changes for all of `self`.
        private mutating func endDetector() {
            let hopEnd = hopEnd
            detector.finish { found.append(($0, hopEnd)) }
        }

        /// Runs the detector over the blocks that these samples complete.
        private mutating func hear(_ samples: [Float], isEnd: Bool = false) throws(SpotterError) {
            // Moved out of `self` for the call, because the call changes other parts of `self`.
            guard var blocks = blocks.take() else { return }
            do throws(AudioError) {
                if isEnd {
                    try blocks.finish { block, _, _ in hear(block) }
                } else {
                    try blocks.add(samples.span) { block, _, _ in hear(block) }
                }
            } catch {
                throw .audio.saying(error.description)
            }
            count = blocks.samples
            self.blocks = consume blocks
        }

        /// Runs the detector over the window that ends with the block.
        private mutating func hear(_ block: Span<Float>) {
            window.removeFirst(block.count)
            for index in block.indices { window.append(block[index]) }
            hops += 1
            let (window, hopEnd) = (window, hopEnd)
            var decided: [Spotting.Detection] = []
            detector.process(window: window.span) { decided.append($0) }
            found += decided.map { ($0, hopEnd) }
            var newest = detector.scores
            detector.setRisingScores(in: &newest)
            scores.add(newest)
        }

        /// The end of the newest hop in seconds, as a file has it: the detector adds hops up, which rounds.
        private var hopEnd: Double { Double(hops * AudioFormat.hopSamples) / Double(AudioFormat.sampleRate) }

        private mutating func takeDetections() -> [Beckon.Detection] {
            defer { found.removeAll(keepingCapacity: true) }
            let length = Double(count) / Double(AudioFormat.sampleRate)
            return found.compactMap {
                Beckon.Detection($0.detection, spotter.detector, endingBy: min($0.hopEnd, length))
            }
        }
    }
}
