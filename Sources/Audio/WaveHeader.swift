/// The header of WAV audio that comes through a pipe, where nothing can be read twice and sizes may be unknown.
public struct WaveHeader: Equatable, Sendable {
    public let format: RawFormat
    /// Bytes before the audio.
    public let bytes: Int
    /// Bytes of audio that it declares; nil if its writer did not know.
    public let dataBytes: Int?

    /// No header is longer.
    private static let longest = 1 << 20
    /// From here on a declared size stands for an unknown one: writers to a pipe put 2 or 4 GiB there, or a little less.
    private static let unknownSize = 0x7FFF_0000

    /// Reads a header.
    ///
    /// - Parameter start: the first bytes of the audio.
    /// - Returns: nil if more bytes are needed.
    /// - Throws: ``AudioError/notAudio``, ``AudioError/undecodable`` or ``AudioError/unsupported``.
    public static func read(_ start: [UInt8]) throws(AudioError) -> WaveHeader? {
        let name = "the audio on standard input"
        guard ["RIFF", "RF64"].contains(where: { text(start, 0, 4) == $0.prefix(min(4, start.count)) }),
            start.count < 9 || text(start, 8, 4) == "WAVE".prefix(min(4, start.count - 8))
        else {
            let what = kind(of: start).map { "is \($0)" } ?? "has no WAV header"
            throw .notAudio.saying(
                "\(name) \(what); send WAV, or give the format of audio without a header, such as --raw 16000,1,s16"
            )
        }
        var place = 12
        var format: RawFormat?
        while place + 8 <= start.count {
            let size = number(start, place + 4, 4)
            switch text(start, place, 4) {
            case "data":
                guard let format else { throw .undecodable.saying("\(name) has a WAV header without its format") }
                let isKnown = size > 0 && size < unknownSize
                return WaveHeader(format: format, bytes: place + 8, dataBytes: isKnown ? size : nil)
            case "fmt ":
                guard (16...1 << 10).contains(size) else {
                    throw .undecodable.saying("\(name) has a damaged WAV header; write it again")
                }
                guard place + 8 + size <= start.count else { return nil }
                format = try self.format(Array(start[place + 8..<place + 8 + size]), of: name)
            default: break
            }
            // Chunks begin at even bytes.
            place += 8 + size + size % 2
            guard place < longest else {
                throw .undecodable.saying(
                    "\(name) has no audio in its first MiB; send WAV with its audio after the header"
                )
            }
        }
        return nil
    }

    private static func format(_ chunk: [UInt8], of name: String) throws(AudioError) -> RawFormat {
        // 0xFFFE: the tag is the beginning of a longer one behind.
        let tag = number(chunk, 0, 2) == 0xFFFE && chunk.count >= 26 ? number(chunk, 24, 2) : number(chunk, 0, 2)
        let (channels, rate, frame, bits) = (
            number(chunk, 2, 2), number(chunk, 4, 4), number(chunk, 12, 2), number(chunk, 14, 2)
        )
        let sample: SampleLayout? =
            switch (tag, bits) {
            case (1, 8): .u8
            case (1, 16): .s16
            // arecord --format S24_LE: 24 bits in the low 3 of 4 bytes.
            case (1, 24): frame == 4 * channels ? .s24le32 : .s24
            case (1, 32): .s32
            case (3, 32): .f32
            case (3, 64): .f64
            default: nil
            }
        guard let sample, frame == channels * sample.bytes else {
            throw .unsupported.saying(
                "\(name) is WAV of kind \(tag) with \(bits) bits; send it as 16 bit PCM, such as ffmpeg -f wav -acodec pcm_s16le"
            )
        }
        guard let format = RawFormat(rate: rate, channels: channels, sample: sample) else {
            throw .unsupported.saying(
                "\(name) has \(rate) Hz and channels: \(channels); \(AudioFile.rates.lowerBound) to "
                    + "\(AudioFile.rates.upperBound) Hz and 1 to \(ChannelMix.channelCounts.upperBound) channels are accepted"
            )
        }
        return format
    }

    /// The name of another format that the bytes begin with.
    private static func kind(of start: [UInt8]) -> String? {
        let kinds = ["fLaC": "FLAC", "OggS": "Ogg", "ID3": "MP3", "FORM": "AIFF", "caff": "CAF", ".snd": "AU"]
        return kinds.first { text(start, 0, $0.key.utf8.count) == $0.key }?.value
    }

    private static func text(_ bytes: [UInt8], _ place: Int, _ count: Int) -> String {
        String(decoding: bytes.dropFirst(place).prefix(count), as: UTF8.self)
    }

    /// A little-endian number.
    private static func number(_ bytes: [UInt8], _ place: Int, _ count: Int) -> Int {
        bytes.dropFirst(place).prefix(count).reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
