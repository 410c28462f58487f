public import Core
import System

/// What a loudspeaker plays, from the thread that captures it, or plays it, to that of the microphone: pieces of 10 ms at 16 kHz, with their times.
///
/// Neither side allocates, locks or waits. What finds no room is left out, which the other side sees by the numbers.
public final class ReferenceQueue: Sendable {
    /// Samples of a piece.
    public static let pieceSamples = 160

    struct Piece: BitwiseCopyable, Sendable {
        /// Whether its samples follow those of the piece before.
        var continues: Bool
        /// When its last sample was captured, or is heard.
        var time: Instant
        var samples: InlineArray<160, Float>
    }

    private struct Numbered: BitwiseCopyable, Sendable {
        var number: UInt64
        var piece: Piece
    }

    /// A second and a quarter: the microphone's thread takes pieces ten times a second.
    private let queue = SPSCQueue<Numbered>(capacity: 128)
    /// The next number; only the producer's.
    private nonisolated(unsafe) var next: UInt64 = 1
    /// The number after the newest piece that was taken; only the consumer's.
    private nonisolated(unsafe) var expected: UInt64 = 0

    /// Appends a piece. Producer only.
    ///
    /// - Parameters:
    ///   - samples: ``pieceSamples`` at 16 kHz.
    ///   - time: when the last of them was captured, or is heard.
    public func push(_ samples: Span<Float>, time: Instant) {
        var piece = Piece(continues: true, time: time, samples: .init(repeating: 0))
        for index in 0..<min(samples.count, Self.pieceSamples) { piece.samples[index] = samples[index] }
        queue.push(Numbered(number: next, piece: piece))
        next += 1
    }

    /// The next piece does not follow the last one. Producer only.
    public func interrupt() { next += 1 }

    /// Removes the oldest piece; nil if there is none. Consumer only.
    func pop() -> Piece? {
        guard var numbered = queue.pop() else { return nil }
        numbered.piece.continues = numbered.number == expected
        expected = numbered.number + 1
        return numbered.piece
    }
}
