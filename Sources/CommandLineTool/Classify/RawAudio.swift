import Core

/// The format of audio without a header: `16000,1,s16`.
struct RawAudio: Equatable {
    /// One sample, little-endian.
    enum Sample: String, CaseIterable {
        case u8, s16, s24, s32, f32

        var bytes: Int {
            switch self {
            case .u8: 1
            case .s16: 2
            case .s24: 3
            case .s32, .f32: 4
            }
        }

        /// Also understands ALSA's names, as `arecord --format` takes them.
        init?(name: String) {
            let alsa = ["u8": Sample.u8, "s16_le": .s16, "s24_3le": .s24, "s32_le": .s32, "float_le": .f32]
            guard let sample = Sample(rawValue: name.lowercased()) ?? alsa[name.lowercased()] else { return nil }
            self = sample
        }
    }

    let rate: Int
    let channels: Int
    let sample: Sample

    /// Nil for text that is not `RATE,CHANNELS,FORMAT` within the limits of audio files.
    init?(_ text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let rate = Int(parts[0]), let channels = Int(parts[1]),
            let sample = Sample(name: parts[2]), (8_000...192_000).contains(rate), (1...8).contains(channels)
        else { return nil }
        self.rate = rate
        self.channels = channels
        self.sample = sample
    }

    /// Bytes of ``header(dataBytes:)``.
    static let headerBytes = 44
    /// The most bytes of audio that a header can count.
    static let mostBytes = Int(UInt32.max) - headerBytes

    /// The header of a WAV file with so many bytes of audio; those of a last incomplete frame are left out.
    func header(dataBytes: Int) -> [UInt8] {
        let frame = channels * sample.bytes
        let size = dataBytes - dataBytes % frame
        func number(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 0xFF) } }
        // 1 is integer PCM, 3 is floating point.
        let kind = number(sample == .f32 ? 3 : 1, 2) + number(channels, 2) + number(rate, 4)
        return Array("RIFF".utf8) + number(size + Self.headerBytes - 8, 4) + Array("WAVEfmt ".utf8) + number(16, 4)
            + kind + number(rate * frame, 4) + number(frame, 2) + number(8 * sample.bytes, 2)
            + Array("data".utf8) + number(size, 4)
    }
}

extension OptionValue {
    static let rawAudio = OptionValue(
        placeholder: "RATE,N,FORMAT",
        title: "format",
        synopsis: "Ar rate , Ns Ar channels , Ns Ar format",
        completion: .names(RawAudio.Sample.allCases.map { "16000,1,\($0.rawValue)" }),
        expected: "a rate from 8000 to 192000, channels from 1 to 8 and one of "
            + RawAudio.Sample.allCases.map(\.rawValue).joined(separator: ", ") + ", such as 16000,1,s16",
        accepts: { RawAudio($0) != nil }
    )
}
