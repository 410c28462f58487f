public import Audio
public import Capture
public import Core
private import Synchronization
private import System

/// A microphone as a source of audio, with its messages for the log.
public final class MicrophoneSource: AudioSource {
    public let microphone: Microphone
    private let reports = Mutex(Reports())

    private struct Reports {
        var gaps = GapReport()
        var input = InputReport()
        /// Of the device with what a loudspeaker plays.
        var referenceGaps = GapReport()
        /// Whether the newest message says that the device is refused.
        var isRefused = false
    }

    /// - Throws: `CaptureError` if the system gives no memory or descriptor.
    public init(_ selection: InputSelection) throws(CaptureError) {
        var settings = Microphone.Settings()
        settings.selection = selection
        microphone = try Microphone(settings)
    }

    public func start() throws { try microphone.start() }

    public func next(until time: Instant, _ body: (Span<Float>, AudioBlock) -> Void) -> Bool {
        microphone.nextBlock(until: time, body)
    }

    public func copyPlayed(to samples: inout [Float]) -> Bool { microphone.copyPlayed(to: &samples) }

    public var lost: LostAudio { microphone.lost }

    public var hasEnded: Bool { microphone.isStopped }

    /// Known by its message, so that who ends because of it has given the reason.
    public var isRefused: Bool { reports.withLock { $0.isRefused } }

    public var trouble: String? {
        switch microphone.status.state {
        case .running, .recovering, .stopped: nil
        case .waiting: "waiting for it"
        case .lost: "lost; waiting for it"
        case .muted: "muted"
        }
    }

    public func messages(at now: Instant) -> [(level: LogLevel, text: String)] {
        reports.withLock { reports in
            var items: [GapReport.Item] = []
            while let change = microphone.nextChange() {
                items += reports.gaps.take(change)
                reports.isRefused = change.kind == .tooFast || reports.isRefused && change.kind != .running
            }
            items += reports.gaps.look(at: now)
            let status = microphone.status
            return items.map { $0.message(status) } + reports.input.messages(of: status, at: now)
                + referenceMessages(&reports.referenceGaps, at: now)
        }
    }

    private func referenceMessages(_ gaps: inout GapReport, at now: Instant) -> [(level: LogLevel, text: String)] {
        guard let status = microphone.referenceStatus else { return [] }
        var items: [GapReport.Item] = []
        while let change = microphone.nextReferenceChange() { items += gaps.take(change) }
        items += gaps.look(at: now)
        return items.compactMap { $0.referenceMessage(status) }
    }

    public func dropUnread() { while microphone.nextBlock(until: Clock.now, { _, _ in }) {} }

    /// Stops on a thread of its own, because a driver may hang.
    public func stop(until time: Instant) -> Bool {
        let finished = Latch()
        do throws(CaptureError) {
            _ = try SystemThread(name: "beckon-stop", stackSize: 512 << 10, or: CaptureError.noThread) { [microphone] in
                microphone.stop()
                finished.open()
            }
        } catch {
            microphone.stop()
            return true
        }
        return finished.wait(until: time)
    }
}
