import Audio
import Core
import System

/// Captures what a loudspeaker plays, on a thread of its own, for a microphone's thread, which removes its echo.
///
/// It is a microphone like any other: it recovers from overruns, and reopens a device that was lost. Meanwhile the microphone
/// hears without it.
struct ReferenceCapture: ~Copyable {
    let device: String
    let output: CaptureOutput
    private let wakeUp: EventFD
    private let thread: CaptureThread

    /// Starts to capture.
    ///
    /// - Parameters:
    ///   - queue: gets the audio; nobody else writes to it.
    ///   - settings: of the microphone, for quality and priority.
    ///   - target: muted or not.
    /// - Throws: ``CaptureError/system`` if the system gives no memory, descriptor or thread.
    init(
        of device: String,
        into queue: ReferenceQueue,
        _ settings: Microphone.Settings,
        target: CaptureMachine.Target
    ) throws(CaptureError) {
        let output = try CaptureOutput(.reference(queue))
        let wakeUp = try EventFD(or: CaptureError.noEventFD)
        output.target = target
        var wanted = settings.wanted
        // As soon as it can be had: an echo may be early.
        wanted.periodMilliseconds = 10
        let selection = InputSelection(device: .named(Self.name(device)))
        let thread = try CaptureThread(name: "beckon-echo") { [wanted] in
            Microphone.becomeRealTime(settings.realTimePriority, output)
            var loop = CaptureLoop(
                source: CardSource(wanted: wanted, record: output.record, wakeUp: wakeUp),
                selection: selection,
                quality: settings.quality,
                output: output
            )
            loop.run()
        }
        self.init(device, output, wakeUp, thread)
    }

    private init(_ device: String, _ output: CaptureOutput, _ wakeUp: EventFD, _ thread: consuming CaptureThread) {
        (self.device, self.output, self.wakeUp) = (device, output, wakeUp)
        self.thread = thread
    }

    /// ALSA's name. The plug-in for PulseAudio has the monitors of both sound servers.
    static func name(_ device: String) -> String {
        device == InputSelection.pipeWireMonitor ? "pulse:@DEFAULT_MONITOR@" : device
    }

    func set(_ target: CaptureMachine.Target) {
        output.target = target
        wakeUp.signal()
    }

    /// Returns when the thread has ended.
    consuming func stop() {
        set(.stop)
        thread.join()
    }
}
