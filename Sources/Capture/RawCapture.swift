import Core
import Glibc
import System

/// A short recording of a device, each channel apart, neither mixed nor resampled; for diagnosis.
public struct RawCapture: Equatable, Sendable {
    /// Frames per second.
    public let rate: Int
    /// Samples of each channel, full scale at ±1, all of one length; shorter than asked for where the device stopped.
    public let channels: [[Float]]

    public init(rate: Int, channels: [[Float]]) {
        self.rate = rate
        self.channels = channels
    }

    /// Opens a device, waits for the audio, and closes it.
    ///
    /// - Parameters:
    ///   - skipped: seconds dropped at the beginning, in which a device settles.
    /// - Throws: what opening a device throws; ``CaptureError/device`` also where it does not start.
    public init(
        of name: String,
        wanted: PCM.Wanted,
        seconds: Double,
        skipped: Double = 0.2
    ) throws(CaptureError) {
        let pcm = try PCM(name: name, wanted: wanted)
        let started = pcm.restart()
        guard started >= 0 else { throw .device(name, "snd_pcm_start", started) }
        let format = pcm.format
        let frames = UnsafeMutableRawBufferPointer.allocate(byteCount: format.period * format.frameBytes, alignment: 16)
        defer { frames.deallocate() }
        var left = (Int(skipped * Double(format.rate)), Int(seconds * Double(format.rate)))
        var channels = [[Float]](repeating: [], count: format.channels)
        let deadline = Clock.now + .seconds(skipped + seconds + 1)
        while left.1 > 0, Clock.now < deadline {
            let count = pcm.read(into: frames, count: format.period)
            if count == 0 || count == -Int(EAGAIN) {
                usleep(5_000)
                continue
            }
            // After an overrun it starts again; nothing here is in a hurry.
            if count < 0 {
                guard pcm.restart() >= 0 else { break }
                continue
            }
            var samples = [Float](repeating: 0, count: count * format.channels)
            var room = samples.mutableSpan
            format.sample.convert(
                UnsafeRawBufferPointer(rebasing: frames[..<(count * format.frameBytes)]).bytes,
                into: &room
            )
            let first = min(count, left.0)
            let end = min(count, first + left.1)
            for frame in first..<end {
                for channel in channels.indices { channels[channel].append(samples[frame * format.channels + channel]) }
            }
            left = (left.0 - first, left.1 - (end - first))
        }
        self.init(rate: format.rate, channels: channels)
    }
}
