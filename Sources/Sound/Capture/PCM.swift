package import CALSA
import CALSAMessages
import Glibc

/// An open ALSA capture device, in non-blocking mode.
///
/// ALSA's rate converter is off, because it aliases: the device runs at its hardware rate nearest to 48 kHz, and in one
/// of its hardware formats.
public struct PCM: ~Copyable {
    /// The format to request from a device; it gets the nearest that it supports.
    public struct Wanted: Equatable, Sendable {
        /// Frames per second.
        public var rate = 48_000
        /// Number of channels.
        public var channels = 2
        /// Length of a period in ms: the device signals new frames once per period.
        public var periodMilliseconds = 20
        /// Length of the device's buffer in ms: how late the reader may be.
        public var bufferMilliseconds = 500

        public init() {}
    }

    public let name: String
    public let format: StreamFormat
    private let handle: OpaquePointer

    /// Opens a device and sets its format; ``restart()`` starts it.
    ///
    /// - Parameters:
    ///   - name: ALSA's name, such as `hw:CARD=Device,DEV=0` or `default`.
    ///   - wanted: The format to request.
    /// - Throws: ``CaptureError/device`` with the errno, or ``CaptureError/unsupported``.
    public init(name: String, wanted: Wanted = Wanted()) throws(CaptureError) {
        (handle, format) = try PCM.open(name, wanted)
        self.name = name
    }

    deinit { snd_pcm_close(handle) }

    private static func open(
        _ name: String,
        _ wanted: Wanted
    ) throws(CaptureError) -> (OpaquePointer, StreamFormat) {
        let handle = try openHandle(name)
        do throws(CaptureError) {
            return (handle, try negotiate(handle, name, wanted))
        } catch {
            snd_pcm_close(handle)
            throw error
        }
    }

    /// - Returns: A handle that the caller must close.
    package static func openHandle(
        _ name: String,
        _ stream: snd_pcm_stream_t = SND_PCM_STREAM_CAPTURE
    ) throws(CaptureError) -> OpaquePointer {
        CALSAMessages_install()
        CALSAMessages_forget()
        var handle: OpaquePointer?
        // Without SND_PCM_NONBLOCK, opening a busy device waits until it is free.
        let result = snd_pcm_open(&handle, name, stream, Int32(SND_PCM_NONBLOCK))
        guard result >= 0, let handle else { throw .device(name, "snd_pcm_open", min(result, -1), stream) }
        guard stream == SND_PCM_STREAM_PLAYBACK || snd_pcm_type(handle) != SND_PCM_TYPE_NULL else {
            snd_pcm_close(handle)
            throw .unsupported(name, "the null device has no clock and no sound; choose another")
        }
        return handle
    }

    // MARK: Running

    /// Prepares and starts the device. Returns 0 or a negative errno.
    public func restart() -> Int32 {
        let result = snd_pcm_prepare(handle)
        return result < 0 ? result : snd_pcm_start(handle)
    }

    /// Resumes a suspended device. Returns 0 or a negative errno; `-EAGAIN` while it is still suspended.
    public func resume() -> Int32 { snd_pcm_resume(handle) }

    /// Reads the available frames, without waiting.
    ///
    /// - Returns: Frames read, or a negative errno; `-EAGAIN` if there are none.
    public func read(into frames: UnsafeMutableRawBufferPointer, count: Int) -> Int {
        guard let start = frames.baseAddress else { return 0 }
        return snd_pcm_readi(handle, start, UInt(min(count, frames.count / max(1, format.frameBytes))))
    }

    /// The number of available frames, queried from the device; or a negative errno.
    public func waiting() -> Int {
        let count = snd_pcm_avail(handle)
        // If the device's position goes back a little, the count wraps around to a very large number.
        return count > format.buffer ? 0 : count
    }

    /// The number of descriptors to poll for frames.
    var descriptors: Int { max(0, Int(snd_pcm_poll_descriptors_count(handle))) }

    /// Fills in the descriptors to poll.
    func describe(_ polls: UnsafeMutableBufferPointer<pollfd>) {
        _ = snd_pcm_poll_descriptors(handle, polls.baseAddress, UInt32(polls.count))
    }

    /// The meaning of polled descriptors: 1 for frames or an error to read, 0 for neither, or a negative errno.
    func events(of polls: UnsafeMutableBufferPointer<pollfd>) -> Int32 {
        var events: UInt16 = 0
        let result = snd_pcm_poll_descriptors_revents(handle, polls.baseAddress, UInt32(polls.count), &events)
        return result < 0 ? result : events == 0 ? 0 : 1
    }
}
