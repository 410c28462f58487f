extension CaptureMachine {
    /// Where capture stands.
    public enum State: UInt8, Sendable, CaseIterable {
        /// No frame has come since the start, the end of muting or another choice: the device is missing, busy, or just open.
        case waiting
        /// Frames come.
        case running
        /// The device is open and is being made to run again.
        case recovering
        /// The device ran, and was given up; it is asked for again and again.
        case lost
        /// The device is closed because the user wants it so.
        case muted
        case stopped
    }

    /// What the user wants.
    public enum Target: UInt8, Sendable {
        case capture, mute, stop
    }

    /// How long things may take, and how often they are tried.
    public struct Limits: Equatable, Sendable {
        /// Without a frame for so long, a running device has stalled.
        public var progress = Duration.seconds(1)
        /// So long a device may take to its first frame; Bluetooth needs more than a second.
        public var firstFrame = Duration.seconds(3)
        /// Frames for so long make a device sound again: the next loss is answered as quickly as the first.
        public var settled = Duration.seconds(1)
        /// Recoveries without a frame in between before the device is given up.
        public var recoveries = 5
        /// Between two attempts to resume a suspended device.
        public var resume = Duration.milliseconds(50)
        /// So many attempts, then the device is prepared instead.
        public var resumes = 20
        /// Before the first opening after a loss, before the second, and so on; the last one stays.
        static let reopen: [Duration] = [50, 100, 200, 400, 500].map(Duration.milliseconds)
        /// After so long in vain it is said again, after the next time the next, and the last one for ever.
        static let reminders: [Duration] = [60, 600, 3600, 21_600].map(Duration.seconds)

        public init() {}
    }

    /// How often what happened, since the start.
    public struct Counts: Equatable, Sendable {
        /// Times without audio, or with audio missing, whatever the cause.
        public var gaps: UInt64 = 0
        /// Gaps that began because the reader came too late.
        public var overruns: UInt64 = 0
        /// Gaps that began with a suspend.
        public var suspensions: UInt64 = 0
        /// Gaps that began with a device that fell silent.
        public var stalls: UInt64 = 0
        /// Gaps that only the clock has shown.
        public var missing: UInt64 = 0
        /// Devices given up.
        public var losses: UInt64 = 0
        /// Devices that came back after that.
        public var reconnects: UInt64 = 0
    }
}
