public import Actions
private import Audio
public import Capture
import Control
import Core
import Events
import JSON
public import Metrics
public import Network
public import Playback
import Spotting
import System

extension DetectorStatus: Counted {
    public static let counters: [Counter<DetectorStatus>] = [
        Counter("hops", \.hops),
        Counter("hopMilliseconds") { status in
            let mean = status.hops > 0 ? status.busy.milliseconds / Double(status.hops) : 0
            return [
                "longest": .number(status.longestHop.milliseconds, places: 2), "mean": .number(mean, places: 2),
                "budget": .number(AudioFormat.hopDuration.milliseconds, places: 2),
            ]
        },
        Counter("lateHops", \.lateHops),
        Counter("looks", \.looks)
            .counter("beckon_looks", "Proposed words that confirming networks looked at."),
        Counter("refusedLooks", \.refusedLooks)
            .counter("beckon_refused_looks", "Looks of confirming networks after which no word was found."),
        Counter("lookMilliseconds") { ["longest": .number($0.longestLook.milliseconds, places: 2)] },
        Counter("droppedBlocks", \.droppedBlocks)
            .counter(
                "beckon_audio_dropped_blocks",
                "Blocks of 100 ms that were not scored, because the detector was late."
            ),
        Counter("changes", \.changes)
            .counter("beckon_settings_changes", "Changes of settings that reached the detector."),
        Counter("hopsMissedByChanges", \.hopsMissedByChanges),
    ]
}

extension ThresholdChoices {
    /// What applies to all words, as a line for the log.
    var text: String {
        switch all {
        case .sensitivity(let sensitivity): "sensitivity: \(sensitivity.rawValue)"
        case .confidence(let threshold): "threshold of all words: \(threshold)"
        }
    }
}

extension ServiceStatus.Input {
    init(_ capture: CaptureStatus) {
        self.init(state: capture.state.name)
        func date(_ time: Instant) -> Timestamp { .now.adding(seconds: -(Clock.now - time).seconds) }
        (since, device) = (date(capture.since), capture.device)
        if !capture.problem.isEmpty, capture.state == .waiting || capture.state == .lost { problem = capture.problem }
        (rate, channels) = (capture.format?.rate, capture.format?.channels)
        counts = capture.members
        let faults = capture.faults
        (channelsCancel, turnedChannels, deadChannels) = (faults.hasTurned, faults.turned, faults.dead)
        if capture.state == .running { digitalSilenceSince = capture.zeroSince.map(date) }
    }
}

extension ServiceStatus.Echo {
    /// - Parameters:
    ///   - microphone: which removes the echo.
    ///   - reference: the device with what is played; nil if a channel of the microphone has it.
    init(_ microphone: CaptureStatus, reference: CaptureStatus?) {
        self.init()
        cancelledDecibels = microphone.echoReduction.map { Double($0) }
        guard let reference else { return }
        (state, device) = (reference.state.name, reference.device)
        let isMissing = reference.state == .waiting || reference.state == .lost
        if isMissing, !reference.problem.isEmpty { problem = reference.problem }
    }
}

extension CaptureStatus: Counted {
    public static let counters: [Counter<CaptureStatus>] = [
        Counter("realTime", \.isRealTime),
        Counter("levelDecibels") { .number(decibels(amplitude: $0.level), places: 1) },
        Counter("peakDecibels") { .number(decibels(amplitude: $0.peak), places: 1) },
        Counter("gaps", \.counts.gaps).counter("beckon_audio_gaps", "Discontinuities of the audio."),
        Counter("overruns", \.counts.overruns).counter("beckon_audio_overruns", "Overruns of the device's buffer."),
        Counter("reconnects", \.counts.reconnects)
            .counter("beckon_capture_reconnects", "Times that a lost device came back."),
        Counter("frames", \.frames),
    ]
}

extension Speaker.Counts: Counted {
    public static let counters: [Counter<Self>] = [
        Counter("isPlaying", \.isPlaying), Counter("waiting", \.waiting),
        Counter("played", \.played).counter("beckon_speaker_played", "Sounds and answers that were played."),
        Counter("failed", \.failed)
            .counter("beckon_speaker_failed", "Sounds and answers of which some or all was not played."),
        Counter("dropped", \.dropped)
            .counter("beckon_speaker_dropped", "Sounds and answers that were left out because too many waited."),
        Counter("underruns", \.underruns)
            .counter("beckon_speaker_underruns", "Times that the speaker ran out of audio."),
    ]
}

extension EventDispatcher.Counts: Counted {
    public static let counters: [Counter<Self>] = [
        Counter("events", \.events), Counter("suppressed", \.suppressed), Counter("unnamed", \.unnamed),
        Counter("ownSpeech", \.ownSpeech)
            .counter("beckon_own_speech", "Words and phrases that a loudspeaker said, on which nothing acts."),
        Counter("lostDetections", \.lost)
            .counter("beckon_lost_detections", "Detections that found no room in their queue."),
    ]
}

extension ActionRunner.Counts: Counted {
    public static let counters: [Counter<Self>] = [
        Counter("actionsStarted", \.started).metric(family, .init("event", "started")),
        Counter("actionsFailed", \.failed).metric(family, .init("event", "failed")),
        Counter("actionsTimedOut", \.timedOut).metric(family, .init("event", "timed_out")),
        Counter("actionsDropped", \.dropped).metric(family, .init("event", "dropped")),
    ]

    private static let family = MetricFamily.counters(
        "beckon_actions",
        "Actions that were started or queued, and what became of some: failed, timed_out (failed, too), dropped."
    )
}

extension ClipSaver.Counts: Counted {
    public static let counters: [Counter<Self>] = [
        Counter("saved", \.saved).metric(family, .init("result", "saved")),
        Counter("failed", \.failed).metric(family, .init("result", "failed")),
        Counter("dropped", \.dropped).metric(family, .init("result", "dropped")),
    ]

    private static let family = MetricFamily.counters("beckon_clips", "Recordings of words.")
}

extension LineServer.Counts: Counted {
    /// The counts that tell what a client missed.
    public static let counters: [Counter<Self>] = [
        Counter("accepted", \.accepted), Counter("closed", \.closed), Counter("slow", \.slow),
        Counter("protocolViolations", \.protocolViolations), Counter("refused", \.refused),
        Counter("eventsDropped", \.overflowed),
    ]
}

/// Lines that found no room, by where they went.
struct DroppedLines: Counted {
    var output = 0
    var log = 0

    static let counters: [Counter<DroppedLines>] = [
        Counter("output", \.output).metric(family, .init("stream", "output")),
        Counter("log", \.log).metric(family, .init("stream", "log")),
    ]

    private static let family = MetricFamily.counters(
        "beckon_dropped_lines",
        "Lines of output and log whose reader did not read them."
    )
}
