private import Audio
public import Capture
private import Core
private import Input
private import System

/// Records a few seconds and checks that the microphone opens, loses no audio and gives a usable signal.
public struct SoundCheck {
    /// Length of the recording, in seconds.
    public static let seconds = 4
    /// Longest wait for the device's first block.
    private static let startTimeout = Duration.seconds(5)

    private let selection: InputSelection
    private let name: String
    private let isServiceListening: Bool
    private let announce: (_ text: String) -> Void

    /// - Parameters:
    ///   - name: name of the device in messages.
    ///   - isServiceListening: whether the service has the microphone open.
    ///   - announce: called with a line for the user before another recording begins.
    public init(
        _ selection: InputSelection,
        name: String,
        isServiceListening: Bool,
        announce: @escaping (_ text: String) -> Void
    ) {
        self.selection = selection
        self.name = name
        self.isServiceListening = isServiceListening
        self.announce = announce
    }

    /// Opens the device, records for ``seconds``, and measures the recording. Blocks for that time.
    public func run() -> [Diagnosis] {
        do throws(CaptureError) {
            let source = try MicrophoneSource(selection)
            let microphone = source.microphone
            try microphone.start()
            let start = Clock.now
            let samples = record(from: source)
            let status = microphone.status
            // The channels are recorded next, and for that the device must be free.
            microphone.stop()
            guard !samples.isEmpty, !Self.isTooFast(status, since: start) else { return [noAudio(status)] }
            let limits = SoundSystem.limits(isRealTime: status.isRealTime, isMemoryLocked: status.isMemoryLocked)
            let found = [capture(status, seconds: (Clock.now - start).seconds), limits]
            return found + Self.sound(samples) + channels(status)
        } catch {
            return [Diagnosis(.error, "capture", error.description, "free memory, and try again")]
        }
    }

    /// Whether the device gave the recording much faster than the clock.
    private static func isTooFast(_ status: CaptureStatus, since start: Instant) -> Bool {
        status.isTooFast || (Clock.now - start) * RawCapture.mostSpeed < .seconds(SoundCheck.seconds)
    }

    private func record(from source: MicrophoneSource) -> [Float] {
        var samples: [Float] = []
        let blocks = SoundCheck.seconds * 10
        var deadline = Clock.now + SoundCheck.startTimeout
        // The first block holds the filters' transient.
        for number in 0...blocks {
            while true {
                let found = source.next(until: min(deadline, Clock.now + .milliseconds(100))) { window, _ in
                    guard number > 0 else { return }
                    let newest = window.extracting(last: AudioFormat.hopSamples)
                    for index in newest.indices { samples.append(newest[index]) }
                }
                if found { break }
                guard Clock.now < deadline, source.microphone.status.problem.isEmpty else { return samples }
            }
            deadline = Clock.now + .seconds(2)
        }
        return samples
    }

    /// Checks each channel separately, where there are several.
    private func channels(_ status: CaptureStatus) -> [Diagnosis] {
        guard let format = status.format, format.channels > 1 else { return [] }
        announce("and for \(ChannelCheck.seconds) seconds to each channel; please go on")
        var wanted = Microphone.Settings().wanted
        wanted.channels = format.channels
        do throws(CaptureError) {
            let capture = try RawCapture(of: status.device, wanted: wanted, seconds: Double(ChannelCheck.seconds))
            return ChannelCheck(capture, mix: selection.mix).diagnoses
        } catch {
            let text = "they cannot be checked one by one: \(error)"
            let remedy = "try again while no other program uses the device"
            return [Diagnosis(.warning, "channels", text, remedy)]
        }
    }

    /// Why no audio came.
    private func noAudio(_ status: CaptureStatus) -> Diagnosis {
        if isServiceListening {
            let text =
                "the service hears \(name), which is not measured meanwhile; to measure it, stop the service (systemctl stop beckon)"
            return Diagnosis(.ok, "capture", text)
        }
        var status = status
        if status.problem.isEmpty, status.blocks > 0 {
            status.problem = CaptureError.noClock(status.device).description
        }
        guard !status.problem.isEmpty else {
            return Diagnosis(.error, "capture", "\(name) opens, but no audio comes", "unplug it and plug it in again")
        }
        // The message ends with what to do.
        let cut = status.problem.lastIndex(of: ";")
        let text = cut.map { String(status.problem[..<$0]) } ?? status.problem
        let remedy = cut.map { status.problem[$0...].dropFirst(2) } ?? "beckon devices lists what there is"
        return Diagnosis(.error, "capture", text, String(remedy))
    }

    /// How the device was opened, and whether audio was lost.
    private func capture(_ status: CaptureStatus, seconds: Double) -> Diagnosis {
        let format = status.format.map { "\($0.rate) Hz, channels: \($0.channels), \($0.sample.alsaName)" } ?? ""
        let text = "\(status.device): \(format)"
        if status.counts.gaps > 0 {
            let lost = "\(text); audio was lost, times: \(status.counts.gaps)"
            return Diagnosis(
                .warning,
                "capture",
                lost,
                "see what keeps the machine busy (top); allow real-time priority"
            )
        }
        if let rate = status.format?.rate, rate < AudioFormat.sampleRate {
            let remedy = "use a device of 16000 Hz or more; with a Bluetooth headset, its wide-band profile"
            return Diagnosis(.warning, "capture", "\(text), too low a rate for the whole range of a voice", remedy)
        }
        return Diagnosis(.ok, "capture", "\(text), nothing lost in \(decimal(seconds, 1)) s")
    }

    /// Level, noise and defects of a recording that may contain no speech.
    static func sound(_ samples: [Float]) -> [Diagnosis] {
        var statistics = SampleStatistics(sampleRate: AudioFormat.sampleRate)
        statistics.add(samples.span)
        let report = SignalReport(channels: [statistics], samples: samples, listeningRate: AudioFormat.sampleRate)
        var found: [Diagnosis] = []
        for finding in Finding.all(in: report) {
            let text = "\(finding.title). \(finding.meaning)"
            switch finding.kind {
            case .digitalSilence: found.append(Diagnosis(.error, "level", text, finding.remedy))
            case .littleContrast: break
            case .tooQuiet:
                let calm = "\(finding.title). If somebody spoke, words will be missed."
                found.append(Diagnosis(.warning, "level", calm, finding.remedy))
            // Without speech, this is only the bandwidth of the noise.
            case .narrowBand where report.levels.loudest < -40: break
            default:
                let grade: Diagnosis.Grade = finding.isSerious ? .error : .warning
                found.append(Diagnosis(grade, finding.kind.rawValue, text, finding.remedy))
            }
        }
        if !found.contains(where: { $0.check == "level" || $0.check == "clipped" }) {
            let loudest = decimal(report.levels.loudest, 0)
            found.append(Diagnosis(.ok, "level", "the loudest 0.4 s are at \(loudest) dBFS"))
        }
        if report.levels.overall > Levels.least { found.append(noise(floor: report.levels.floor)) }
        return found
    }

    private static func noise(floor: Double) -> Diagnosis {
        let text = "the quietest moments are at \(decimal(floor, 0)) dBFS"
        guard floor > -45 else { return Diagnosis(.ok, "noise-floor", text) }
        let remedy = "move the microphone away from fans and loudspeakers, or turn its gain down"
        return Diagnosis(.warning, "noise-floor", "\(text): quiet words will be missed", remedy)
    }
}
