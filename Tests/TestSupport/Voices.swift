import CSndFile

/// The recorded voice that comes with alsa-utils: one person at 48 kHz saying "front left", "rear right" and so on.
public enum Voices {
    public static let folder = "/usr/share/sounds/alsa"
    public static let rate = 48_000

    public static func path(_ name: String) -> String { "\(folder)/\(name).wav" }

    /// All samples of one recording, in [−1, 1].
    public static func samples(_ name: String) throws -> [Float] { try samples(at: path(name)) }

    /// All samples of an audio file, channels interleaved.
    public static func samples(at path: String) throws -> [Float] {
        var info = SF_INFO()
        guard let handle = sf_open(path, Int32(SFM_READ), &info) else { throw TestFileError(code: sf_error(nil)) }
        defer { sf_close(handle) }
        var samples = [Float](repeating: 0, count: Int(info.frames) * Int(info.channels))
        sf_readf_float(handle, &samples, info.frames)
        return samples
    }
}
