import Actions
private import Audio
import Capture
import Configuration
import Core
import Glibc
import Inference
import IntegrationInterface
import Metrics
import Spotting
import System

/// What a service counts, as metrics: a pure function of these values. Integrations add their own.
struct ServiceMetrics {
    private let settings: ServiceSettings
    /// Nil where no detector listens.
    var detector: DetectorStatus?
    var events = EventDispatcher.Counts()
    /// Nil where there is no microphone.
    var capture: CaptureStatus?
    /// Nil where no device of its own has what a loudspeaker plays.
    var reference: CaptureStatus?
    var isReady = true
    /// Nil where there are none.
    var actions: ActionRunner.Counts?
    var clips: ClipSaver.Counts?
    var droppedLines: DroppedLines?
    var process = ProcessUse.now

    init(_ settings: ServiceSettings) { self.settings = settings }

    var families: [MetricFamily] {
        var families: [MetricFamily] = [
            .information(
                "beckon_build",
                "The program and the model that it runs.",
                [.init("version", version), .init("model", settings.vocabulary.model.name)]
            ),
            .gauge("beckon_ready", "Whether words are detected now, as /readyz says.", isReady ? 1 : 0),
            .gauges(
                "beckon_confirm_state",
                "1 for what is so: networks confirm words (on), are left out (off), or the model has none.",
                ConfirmationState.allCases.map {
                    ([.init("state", $0.rawValue)], $0 == settings.vocabulary.model.confirmationState ? 1 : 0)
                }
            ),
        ]
        if let detector { families += detection(detector) }
        if let capture {
            families += microphone(capture)
            if settings.configuration.echo.reference != nil { families += echo(capture) }
        }
        if let detector, let capture { families += audio(capture, detector) }
        families += (actions?.metrics ?? []) + (clips?.metrics ?? []) + (droppedLines?.metrics ?? [])
        return families + process.families
    }

    private func detection(_ detector: DetectorStatus) -> [MetricFamily] {
        let names = settings.wordThresholds.map(\.word) + settings.configuration.phrases.map(\.name)
        // Also those that are not known any more: counts do not disappear.
        let all = names + events.byName.keys.filter { !names.contains($0) }.sorted()
        let thresholds = settings.wordThresholds.compactMap { word, threshold in
            threshold.map { ([MetricFamily.Label("word", word)], Double($0)) }
        }
        return [
            .counters(
                "beckon_detections",
                "Words and phrases that were detected, those that fell into their cool-down included.",
                all.map { ([.init("word", $0)], Double(events.byName[$0] ?? 0)) }
            ),
            .counters(
                "beckon_suppressed",
                "Detections that caused no event.",
                all.map {
                    ([.init("word", $0), .init("reason", "cooldown")], Double(events.suppressedByName[$0] ?? 0))
                }
            ),
        ] + events.metrics + [
            .gauges(
                "beckon_threshold_ratio",
                "Confidence that a word needs; words of sessions have those of their sessions.",
                unit: "ratio",
                thresholds
            ),
            .histogram(
                "beckon_inference_duration_seconds",
                "Time that one hop (100 ms of audio) takes the detector.",
                unit: "seconds",
                bounds: DetectorStatus.hopBounds.map(\.seconds),
                counts: detector.hopCounts,
                sum: detector.busy.seconds
            ),
            .gauge(
                "beckon_longest_look_seconds",
                "Time of the slowest hop with a look of confirming networks.",
                unit: "seconds",
                detector.longestLook.seconds
            ),
        ] + detector.metrics
    }

    private func microphone(_ capture: CaptureStatus) -> [MetricFamily] {
        let isHeard = capture.state == .running || capture.state == .recovering
        let states: [CaptureMachine.State] = [.waiting, .running, .recovering, .lost, .muted, .stopped]
        return [
            .gauges(
                "beckon_capture_state",
                "1 for the state that the microphone is in.",
                states.map { ([.init("state", $0.name)], $0 == capture.state ? 1 : 0) }
            ),
            .gauge(
                "beckon_audio_level_ratio",
                "Root mean square of the newest 100 ms; full scale is 1.",
                unit: "ratio",
                isHeard ? Double(capture.level) : 0
            ),
            .gauge(
                "beckon_audio_peak_ratio",
                "Largest sample of the newest 100 ms; full scale is 1.",
                unit: "ratio",
                isHeard ? Double(capture.peak) : 0
            ),
            .gauge(
                "beckon_audio_digital_silence",
                "Whether every sample of the newest 100 ms is zero, as no microphone gives it.",
                isHeard && capture.zeroSince != nil ? 1 : 0
            ),
            .gauge(
                "beckon_audio_channels_cancel",
                "Whether a channel is the opposite of the others, and is turned in the mix.",
                isHeard && capture.faults.hasTurned ? 1 : 0
            ),
        ] + capture.metrics
    }

    private func echo(_ capture: CaptureStatus) -> [MetricFamily] {
        let isReferenceHeard = reference.map { $0.state == .running || $0.state == .recovering }
        return [
            .gauge(
                "beckon_echo_cancelled_decibels",
                "Decibels of a loudspeaker's echo that are removed; 0 while nothing is played.",
                unit: "decibels",
                Double(capture.echoReduction ?? 0)
            )
        ]
            + (isReferenceHeard.map {
                [.gauge("beckon_echo_reference", "Whether the device with what is played gives audio.", $0 ? 1 : 0)]
            } ?? [])
    }

    private func audio(_ capture: CaptureStatus, _ detector: DetectorStatus) -> [MetricFamily] {
        let account = AudioAccount(capture, detector)
        return [
            .counter(
                "beckon_audio_scored_seconds",
                "Audio that the detector scored.",
                unit: "seconds",
                account.heard.seconds
            ),
            .counters(
                "beckon_audio_lost_seconds",
                "Audio that was lost since the first frame.",
                unit: "seconds",
                account.lost.map { ([.init("cause", $0.cause)], $0.duration.seconds) }
            ),
        ]
    }
}

/// What this process uses, by the names that all of Prometheus' clients give.
struct ProcessUse: Equatable {
    var processorTime = Duration.zero
    /// Nil where the system does not tell.
    var residentBytes: Int?
    var openDescriptors: Int?

    static var now: ProcessUse {
        var use = ProcessUse()
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        use.processorTime = .nanoseconds(Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
        use.residentBytes = residentMemory
        // Without the folder's own descriptor.
        let open = namesInFolder("/proc/self/fd").count
        if open > 0 { use.openDescriptors = open - 1 }
        return use
    }

    var families: [MetricFamily] {
        let time = MetricFamily.counter(
            "process_cpu_seconds",
            "Total user and system CPU time spent in seconds.",
            unit: "seconds",
            processorTime.seconds
        )
        let gauges: [(name: String, help: String, unit: String?, value: Int?)] = [
            ("process_resident_memory_bytes", "Resident memory size in bytes.", "bytes", residentBytes),
            ("process_open_fds", "Number of open file descriptors.", nil, openDescriptors),
        ]
        return [time]
            + gauges.compactMap { gauge in
                gauge.value.map { .gauge(gauge.name, gauge.help, unit: gauge.unit, Double($0)) }
            }
    }
}
