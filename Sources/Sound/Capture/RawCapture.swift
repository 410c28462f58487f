import Core
import Glibc
import System

/// A short recording of a device, one array per channel, neither mixed nor resampled; for diagnosis.
public struct RawCapture: Equatable, Sendable {
    /// Frames per second.
    public let rate: Int
    /// `[channels][frames]`, full scale ±1, all of the same length; shorter than requested if the device stopped.
    public let channels: [[Float]]
}

extension RawCapture {
    /// Opens a device, records and closes it; blocks for about `skipped + seconds`.
    ///
    /// - Parameters:
    ///   - name: ALSA's name of the device.
    ///   - wanted: The format to request.
    ///   - seconds: Length of the recording.
    ///   - skipped: Seconds dropped at the beginning, while the device settles.
    /// - Throws: The errors of ``PCM/init(name:wanted:)``; ``CaptureError/device`` also if it does not start.
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
        let start = Clock.now
        var left = (Int(skipped * Double(format.rate)), Int(seconds * Double(format.rate)))
        var channels = [[Float]](repeating: [], count: format.channels)
        let deadline = Clock.now + .seconds(skipped + seconds + 1)
        while left.1 > 0, Clock.now < deadline {
            let count = pcm.read(into: frames, count: format.period)
            if count == 0 || count == -Int(EAGAIN) {
                usleep(5_000)
                continue
            }
            // After an overrun the device is restarted; the recording goes on.
            if count < 0 {
                guard pcm.restart() >= 0 else { break }
                continue
            }
            var samples = [Float](repeating: 0, count: count * format.channels)
            var room = samples.mutableSpan
            format.decode(UnsafeRawBufferPointer(rebasing: frames[..<(count * format.frameBytes)]), into: &room)
            let first = min(count, left.0)
            let end = min(count, first + left.1)
            for frame in first..<end {
                for channel in channels.indices { channels[channel].append(samples[frame * format.channels + channel]) }
            }
            left = (left.0 - first, left.1 - (end - first))
        }
        let took = Clock.now - start
        guard took * Self.mostSpeed > .seconds(skipped + seconds) || left.1 > 0 else { throw .noClock(name) }
        self.init(rate: format.rate, channels: channels)
    }

    /// A device that records this many times as fast as the clock has none. A sound server may give two seconds at once.
    public static let mostSpeed = 20
}
