import CALSA
import Capture

/// An open ALSA playback device, in non-blocking mode.
///
/// As for capture, the device runs at its hardware rate nearest to 48 kHz, and in one of its hardware formats. It starts by ``start()``
/// only.
struct PlaybackPCM: ~Copyable {
    let format: StreamFormat
    private let handle: OpaquePointer

    /// Opens a device and sets its format; a card whose formats are unusual is opened through ALSA's `plug`.
    ///
    /// - Throws: `CaptureError.device` with the errno, or `CaptureError.unsupported`.
    init(name: String) throws(CaptureError) { (handle, format) = try Self.open(name) }

    deinit { snd_pcm_close(handle) }

    private static func open(_ name: String) throws(CaptureError) -> (OpaquePointer, StreamFormat) {
        do throws(CaptureError) {
            return try negotiated(name)
        } catch {
            guard error == .unsupported, name.hasPrefix("hw:") else { throw error }
            return try negotiated("plug" + name)
        }
    }

    private static func negotiated(_ name: String) throws(CaptureError) -> (OpaquePointer, StreamFormat) {
        var wanted = PCM.Wanted()
        wanted.bufferMilliseconds = 200
        let handle = try PCM.openHandle(name, SND_PCM_STREAM_PLAYBACK)
        do throws(CaptureError) {
            return (handle, try PCM.negotiate(handle, name, wanted))
        } catch {
            snd_pcm_close(handle)
            throw error
        }
    }

    /// Gets ready for other frames; those that were written before are dropped. Returns 0 or a negative errno.
    func prepare() -> Int32 {
        let result = snd_pcm_drop(handle)
        return result < 0 ? result : snd_pcm_prepare(handle)
    }

    /// Plays what was written. Returns 0 or a negative errno.
    func start() -> Int32 { snd_pcm_start(handle) }

    /// Resumes a suspended device. Returns 0 or a negative errno; `-EAGAIN` while it is still suspended.
    func resume() -> Int32 { snd_pcm_resume(handle) }

    var isRunning: Bool { snd_pcm_state(handle) == SND_PCM_STATE_RUNNING }

    /// Frames that can be written now, or a negative errno.
    func room() -> Int { min(snd_pcm_avail(handle), format.buffer) }

    /// Writes frames, as many as there is room for, without waiting. Returns their number, or a negative errno.
    func write(_ frames: UnsafeRawBufferPointer) -> Int {
        guard let start = frames.baseAddress else { return 0 }
        return snd_pcm_writei(handle, start, UInt(frames.count / max(1, format.frameBytes)))
    }

    /// Frames that are played before one that is written now is heard, or a negative errno.
    func delay() -> Int {
        var frames: snd_pcm_sframes_t = 0
        let result = snd_pcm_delay(handle, &frames)
        return result < 0 ? Int(result) : max(0, frames)
    }
}

extension PlaybackPCM {
    /// What a failed call means, in one line.
    static func failure(_ name: String, _ call: StaticString, _ result: Int32) -> CaptureError {
        .device(name, "\(call)", result, SND_PCM_STREAM_PLAYBACK)
    }

    /// Lets alsa-lib read its configuration again.
    static func forgetConfiguration() { snd_config_update_free_global() }
}
