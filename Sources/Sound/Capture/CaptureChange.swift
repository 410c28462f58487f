public import Core

extension CaptureMachine {
    /// A change to report to the user. Plain numbers only, so that the capture thread passes it on without allocating.
    public struct Change: Equatable, Sendable, BitwiseCopyable {
        public enum Kind: UInt8, Sendable, BitwiseCopyable {
            /// Frames arrive, again or for the first time.
            case running
            case overrun, suspended, framesMissing
            /// The device was given up because of an error (lost), or because it delivered no frames (stalled).
            case lost, stalled
            /// The device was given up because its frames come faster than the clock: it has none.
            case tooFast
            /// The device cannot be opened.
            case unavailable, stillUnavailable
            case muted, unmuted
            /// Another device or other channels were selected.
            case selectionChanged
            /// The thread runs without real-time priority.
            case notRealTime
        }

        public var kind: Kind
        /// On the monotonic clock.
        public var time: Instant
        public var call = Call.none
        /// An errno, or 0.
        public var number: Int32 = 0
        /// The length of the gap so far, since the newest frames, or how long the device has been missing; 0 if unknown.
        public var duration = Duration.zero
    }
}
