public import Core

extension CaptureMachine {
    /// Which call of the device went wrong.
    public enum Call: UInt8, Sendable, BitwiseCopyable {
        case none, open, prepare, resume, wait, read, convert

        /// The function's name, for messages.
        public var function: String {
            switch self {
            case .none: "–"
            case .open: "snd_pcm_open"
            case .prepare: "snd_pcm_prepare"
            case .resume: "snd_pcm_resume"
            case .wait: "poll"
            case .read: "snd_pcm_readi"
            case .convert: "src_process"
            }
        }
    }

    /// What happened.
    public enum Event: Equatable, Sendable {
        /// The user wants something else than before; wanting capture begins it all.
        case wish(Target)
        /// Another device or other channels are to be listened to.
        case chosen
        case opened
        case openFailed(Int32)
        /// The device says that there is something to read.
        case ready
        /// Frames were read.
        case frames
        /// Frames were read, and by the clock there should have been more, by so much audio.
        case missing(Duration)
        /// A wait ended, or a read gave nothing, without an error.
        case nothing
        /// A call gave this errno.
        case failed(Call, Int32)
        /// The device was prepared or resumed, and runs.
        case restarted
        case closed
        case slept
    }

    /// What to do next.
    public enum Action: Equatable, Sendable {
        case open
        case close
        /// Wait for frames, at most until this time.
        case wait(until: Instant)
        case read
        /// Prepare and start the device.
        case prepare
        case resume
        /// Leave the device alone until this time, or until the wish changes.
        case sleep(until: Instant)
        case end
    }

    /// The next step, and what to do besides.
    public struct Decision: Equatable, Sendable {
        public var step: Action
        /// Audio before this moment is stale.
        public var flush = false
        /// To be told to the user.
        public var change: Change?

        init(_ step: Action) { self.step = step }
    }

    /// What the user should know; plain numbers only, so that the capture thread can pass it on without allocating.
    public struct Change: Equatable, Sendable, BitwiseCopyable {
        public enum Kind: UInt8, Sendable, BitwiseCopyable {
            /// Frames come, again or for the first time.
            case running
            case overrun, suspended, framesMissing
            /// The device was given up because of an error, or of silence.
            case lost, stalled
            /// The device cannot be opened.
            case unavailable, stillUnavailable
            case muted, unmuted
            /// Another device or other channels will be listened to.
            case chosen
            /// The thread runs without real-time priority.
            case notRealTime
        }

        public var kind: Kind
        /// On the monotonic clock.
        public var time: Instant
        public var call = Call.none
        /// An errno, or 0.
        public var number: Int32 = 0
        /// How long there was no audio, or no device so far.
        public var duration = Duration.zero

        public init(
            _ kind: Kind,
            at time: Instant,
            call: Call = .none,
            number: Int32 = 0,
            duration: Duration = .zero
        ) {
            self.kind = kind
            self.time = time
            self.call = call
            self.number = number
            self.duration = duration
        }
    }
}
