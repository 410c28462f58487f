import Audio
import Capture
import Core
import JSON

/// What became of all audio since the microphone's first frame.
///
/// While nothing is in progress, `elapsed` is the sum of all others, up to the precision of the sound card's clock.
struct AudioAccount {
    private(set) var elapsed: Duration
    /// Processed by the detector.
    private(set) var heard: Duration
    /// On its way: in blocks that are not processed yet, and in the block that is being filled.
    private(set) var waiting: Duration
    /// By the cause.
    private(set) var lost: [(cause: String, duration: Duration)]

    init(_ capture: CaptureStatus, _ detector: DetectorStatus) {
        func blocks(_ count: UInt64) -> Duration { AudioFormat.hopDuration * Int(clamping: count) }
        elapsed = capture.elapsed
        heard = blocks(detector.hops)
        let inBlock = capture.read - blocks(capture.blocks) - (capture.lost[.incomplete] ?? .zero)
        waiting = blocks(capture.unreadBlocks) + max(.zero, inBlock)
        lost = LostAudio.Cause.beforeDetector.map { ($0.name, capture.lost[$0] ?? .zero) }
    }

    /// In seconds.
    var json: JSON {
        [
            "seconds": .number(elapsed.seconds, places: 3), "heard": .number(heard.seconds, places: 1),
            "waiting": .number(waiting.seconds, places: 3),
            "lost": .object(lost.map { JSON.Member($0.cause, .number($0.duration.seconds, places: 3)) }),
        ]
    }
}
