import Audio

extension RawFormat {
    /// Bytes of ``header(dataBytes:)``.
    static let headerBytes = 44
    /// The most bytes of audio that a header can count.
    static let mostBytes = Int(UInt32.max) - headerBytes

    /// The header of a WAV file with so many bytes of audio; those of a last incomplete frame are left out.
    func header(dataBytes: Int) -> [UInt8] {
        let frame = frameBytes
        let size = dataBytes - dataBytes % frame
        func number(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 0xFF) } }
        // 1 is integer PCM, 3 is floating point.
        let kind = number(sample.isFloat ? 3 : 1, 2) + number(channels, 2) + number(rate, 4)
        return Array("RIFF".utf8) + number(size + Self.headerBytes - 8, 4) + Array("WAVEfmt ".utf8) + number(16, 4)
            + kind + number(rate * frame, 4) + number(frame, 2) + number(sample == .s24le32 ? 24 : 8 * sample.bytes, 2)
            + Array("data".utf8) + number(size, 4)
    }
}

extension OptionValue {
    static let rawAudio = OptionValue(
        placeholder: "RATE,N,FORMAT",
        title: "format",
        synopsis: "Ar rate , Ns Ar channels , Ns Ar format",
        completion: .names(SampleLayout.allCases.map { "16000,1,\($0.rawValue)" }),
        expected: "a rate from 8000 to 192000, channels from 1 to \(ChannelMix.channelCounts.upperBound) and one of "
            + SampleLayout.allCases.map(\.rawValue).joined(separator: ", ") + ", such as 16000,1,s16",
        accepts: { RawFormat($0) != nil }
    )
}
