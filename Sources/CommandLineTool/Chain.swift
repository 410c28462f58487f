import Audio
import Inference
import Spotting

/// The chain behind the decoder: blocks go into the ring, and the ring's window through the detector.
struct Chain: ~Copyable {
    private let ring: BlockRing
    private var detector: Detector

    init(model: Model, settings: GateSettings, thresholds: Thresholds, phrases: [Phrase]) throws(AudioError) {
        // Writer and reader take turns here, so there is never more than one block unread.
        ring = try BlockRing(minimumCapacity: 1)
        detector = Detector(model: model, settings: settings, thresholds: thresholds, phrases: phrases)
    }

    /// Hears one block of 1600 samples and reports what it decides, with the name of each.
    mutating func hear(_ block: [Float], report: (Detection, String) -> Void) {
        ring.write(block.span, time: 0)
        var found: [Detection] = []
        _ = ring.withWindow { window, _ in detector.hear(window: window) { found.append($0) } }
        for detection in found { report(detection, detector.name(of: detection)) }
    }
}
