/// Reads WAV audio that comes through a pipe, where nothing can be read twice: the header, and what follows the audio.
///
/// It takes bytes in parts of any size, and keeps no chunk but the format.
struct WaveHeader: Sendable {
    /// What the bytes so far led to.
    enum Event: Equatable {
        /// More bytes are needed.
        case needsMore
        /// Audio follows; the size in bytes is nil if its writer did not know it.
        case audio(SampleLayout, rate: Int, channels: Int, size: Int?)
    }

    private enum State: Equatable {
        case form
        case chunk
        case format(Int)
        case longSizes
        case skip(Int)
    }

    private static let name = "the audio on standard input"
    /// From here on a declared size stands for an unknown one: writers to a pipe put 2 or 4 GiB there, or a little less.
    private static let unknownSize = Container.leastPlaceholder

    private var state = State.form
    private var bytes: [UInt8] = []
    private var format: (layout: SampleLayout, rate: Int, channels: Int)?
    private var longSize: Int?
    /// Bytes of the chunk `ds64` behind its sizes.
    private var longRest = 0
    /// Whether a sample of 4 bytes may have 24 bits.
    private(set) var containerLayout = Container.Layout.other

    /// Whether not a single byte came.
    var isEmpty: Bool { state == .form && bytes.isEmpty }

    /// Takes bytes up to the end of the header; what was used is removed.
    ///
    /// - Throws: ``AudioError/notAudio``, ``AudioError/undecodable`` or ``AudioError/unsupported``.
    mutating func read(_ input: inout ArraySlice<UInt8>) throws(AudioError) -> Event {
        while true {
            if case .skip(let left) = state {
                let count = min(left, input.count)
                input = input.dropFirst(count)
                guard count == left else {
                    state = .skip(left - count)
                    return .needsMore
                }
                state = .chunk
            }
            let size =
                switch state {
                case .form: 12
                case .chunk, .skip: 8
                case .format(let size): size
                case .longSizes: 24
                }
            let count = min(size - bytes.count, input.count)
            bytes += input.prefix(count)
            input = input.dropFirst(count)
            if state == .form { try checkForm() }
            guard bytes.count == size else { return .needsMore }
            if let event = try take() { return event }
        }
    }

    /// Uses what a state waited for.
    private mutating func take() throws(AudioError) -> Event? {
        defer { bytes.removeAll(keepingCapacity: true) }
        switch state {
        case .form, .skip: state = .chunk
        case .longSizes:
            let value = Self.number(bytes, 8, 8)
            longSize = value > 0 ? value : nil
            state = .skip(longRest + longRest % 2)
        case .format(let size):
            try readFormat()
            state = .skip(size % 2)
        case .chunk:
            let size = Self.number(bytes, 4, 4)
            switch Self.text(bytes, 0, 4) {
            case "data":
                guard let format else { throw .undecodable.saying("\(Self.name) has a WAV header without its format") }
                let isLong = size == 0xFFFF_FFFF || size == 0
                let known = isLong ? longSize ?? 0 : size
                let isKnown = known > 0 && (known < Self.unknownSize || isLong && known < Int.max / 2)
                return .audio(format.layout, rate: format.rate, channels: format.channels, size: isKnown ? known : nil)
            case "fmt ":
                guard (16...1 << 10).contains(size) else {
                    throw .undecodable.saying("\(Self.name) has a damaged WAV header; write it again")
                }
                state = .format(size)
            case "ds64" where size >= 24:
                state = .longSizes
                longRest = size - 24
            default:
                // Chunks begin at even bytes.
                state = .skip(size + size % 2)
            }
        }
        return nil
    }

    private func checkForm() throws(AudioError) {
        guard ["RIFF", "RF64", "BW64"].contains(where: { Self.text(bytes, 0, 4) == $0.prefix(min(4, bytes.count)) }),
            bytes.count < 9 || Self.text(bytes, 8, 4) == "WAVE".prefix(min(4, bytes.count - 8))
        else {
            let what = Self.kind(of: bytes).map { "is \($0)" } ?? "has no WAV header"
            throw .notAudio.saying(
                "\(Self.name) \(what); send WAV, or give the format of audio without a header, such as --raw 16000,1,s16"
            )
        }
    }

    private mutating func readFormat() throws(AudioError) {
        // 0xFFFE: the tag is the beginning of a longer one behind.
        let isLong = Self.number(bytes, 0, 2) == 0xFFFE && bytes.count >= 26
        let tag = isLong ? Self.number(bytes, 24, 2) : Self.number(bytes, 0, 2)
        let (channels, rate, frame, bits) = (
            Self.number(bytes, 2, 2), Self.number(bytes, 4, 4), Self.number(bytes, 12, 2), Self.number(bytes, 14, 2)
        )
        containerLayout = .other
        var layout: SampleLayout?
        switch (tag, bits) {
        case (1, 8): layout = .u8
        case (1, 16): layout = .s16
        case (1, 24) where frame == 4 * channels:
            (layout, containerLayout) = (.s24le32, .declared24In32)
        case (1, 24): layout = .s24
        case (1, 32): layout = .s32
        case (3, 32): layout = .f32
        case (3, 64): layout = .f64
        default: break
        }
        guard let layout, frame == channels * layout.bytes else {
            throw .unsupported.saying(
                "\(Self.name) is WAV of kind \(tag) with \(bits) bits; send it as 16 bit PCM, such as ffmpeg -f wav -acodec pcm_s16le"
            )
        }
        guard Resampler.inputRates.contains(rate), ChannelMix.channelCounts.contains(channels) else {
            throw .unsupported.saying(
                "\(Self.name) has \(rate) Hz and channels: \(channels); \(Resampler.inputRates.lowerBound) to "
                    + "\(Resampler.inputRates.upperBound) Hz and 1 to \(ChannelMix.channelCounts.upperBound) channels are accepted"
            )
        }
        format = (layout, rate, channels)
    }

    /// The name of another format that the bytes begin with.
    static func kind(of start: [UInt8]) -> String? {
        let kinds = ["fLaC": "FLAC", "OggS": "Ogg", "ID3": "MP3", "FORM": "AIFF", "caff": "CAF", ".snd": "AU"]
        return kinds.first { text(start, 0, $0.key.utf8.count) == $0.key }?.value
    }

    static func text(_ bytes: [UInt8], _ place: Int, _ count: Int) -> String {
        String(decoding: bytes.dropFirst(place).prefix(count), as: UTF8.self)
    }

    /// A little-endian number of up to 8 bytes; the largest `Int` for one that is larger.
    static func number(_ bytes: [UInt8], _ place: Int, _ count: Int) -> Int {
        Int(clamping: bytes.dropFirst(place).prefix(count).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}
