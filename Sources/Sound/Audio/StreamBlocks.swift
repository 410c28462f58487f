import Core
import Echo

/// Audio that arrives as bytes, in parts of any size, as mono blocks at 16 kHz: reads the header, mixes and resamples.
///
/// WAV is read to its real end, by the rules of ``Container``: where what follows the audio is not a chunk, tag or padding, it is audio
/// too, and where another WAV file follows, its audio. Nothing allocates while blocks are made.
public struct StreamBlocks: ~Copyable {
    /// What is known of the format; nil before the header is complete.
    public private(set) var format: RawFormat?
    /// Samples at 16 kHz so far.
    public private(set) var samples = 0

    /// What the next bytes are.
    private enum Place {
        case header
        /// Audio; `left` bytes by the header, nil if it does not say.
        case audio(left: Int?)
        /// Behind the audio that the header counts.
        case behind
        /// A chunk behind the audio.
        case chunk(left: Int)
        /// A tag, which is the last.
        case tag
    }

    private static let name = "the audio on standard input"

    private let mix: ChannelMix
    private let isRaw: Bool
    private var place: Place
    private var header = WaveHeader()
    private var blocks: BlockMaker?
    private var decoder: PCMDecoder?
    /// Decodes the reference of an echo from the same bytes; nil where no echo is removed.
    private var referenceDecoder: PCMDecoder?
    private var reference: [Float] = []
    /// Bytes behind the audio that do not tell yet what they are; or the beginning of audio whose layout they tell.
    private var waiting: [UInt8] = []
    /// Tells which 24 bits of 4 bytes are used; nil where it is known.
    private var evidence: LayoutEvidence?
    /// The layout is not decided: bytes wait.
    private var isUndecided = false
    /// Bytes of audio that the header counted, and bytes behind it that were read as audio.
    private var declared = 0
    private var surplus = 0
    /// Whether they are not all zeros, which are padding.
    private var hasSurplusSound = false
    private var bytesRead = 0
    /// Mono samples at the rate of the audio.
    private var mono = [Float](repeating: 0, count: 2048)
    private var frames = 0

    /// - Parameter raw: the format of audio without a header; nil for WAV.
    /// - Throws: ``AudioError/noSuchChannel``, ``AudioError/unsupported`` or ``AudioError/converter``.
    public init(raw: RawFormat?, mix: ChannelMix) throws(AudioError) {
        self.init(mix, isRaw: raw != nil)
        if let raw {
            try begin(raw)
        }
    }

    /// Before the header. Swift 6.2 calls mutating methods only after another `init`.
    private init(_ mix: ChannelMix, isRaw: Bool) {
        self.mix = mix
        self.isRaw = isRaw
        place = isRaw ? .audio(left: nil) : .header
    }

    /// Seconds of audio that the header promised and that have not come; nil if it promised none.
    private var missingSeconds: Double? {
        // An incomplete last frame is not audio.
        guard case .audio(.some(let left)) = place, let format, left >= format.frameBytes else { return nil }
        return Double(left) / Double(format.frameBytes * format.rate)
    }

    /// Takes the next bytes.
    ///
    /// - Parameter put: gets each complete block of 1600 samples; and what was played during it, as of ``BlockMaker``.
    /// - Throws: ``AudioError`` for a wrong header, other audio behind the audio, or a sample that is not a usable number.
    public mutating func take(_ bytes: ArraySlice<UInt8>, _ put: (Span<Float>, Span<Float>) -> Void) throws(AudioError)
    {
        var bytes = bytes
        while !bytes.isEmpty {
            let before = bytes.count
            switch place {
            case .header: try readHeader(&bytes)
            case .audio(let left):
                let audio = bytes.prefix(left ?? .max)
                bytes = bytes.dropFirst(audio.count)
                if left == nil, declared > 0 { addSurplus(audio) }
                if let left { place = left == audio.count ? .behind : .audio(left: left - audio.count) }
                try read(audio, put)
            case .behind: try readBehind(&bytes, put)
            case .chunk(let left):
                let count = min(left, bytes.count)
                bytes = bytes.dropFirst(count)
                place = left == count ? .behind : .chunk(left: left - count)
            case .tag: bytes = []
            }
            bytesRead += before - bytes.count
        }
    }

    /// Ends the audio: gives the last block, filled up with zeros.
    ///
    /// - Throws: ``AudioError/emptyFile`` or ``AudioError/notAudio`` if not even a header came; after the last block,
    ///   ``AudioError/leftover`` if more followed the audio than a header that was not completed explains, or
    ///   ``AudioError/truncated`` if less came than the header promises.
    public mutating func finish(_ put: (Span<Float>, Span<Float>) -> Void) throws(AudioError) {
        guard format != nil else {
            guard !header.isEmpty else {
                throw .emptyFile.saying("standard input is empty; pipe audio into beckon, or name a file with --file")
            }
            throw .notAudio.saying("\(Self.name) ends within its header; send it whole")
        }
        try decide(put)
        if case .behind = place, waiting.contains(where: { $0 != 0 }) {
            // Too few bytes to tell what they are.
            addSurplus(waiting[...])
        }
        decoder?.finish()
        referenceDecoder?.finish()
        try decode([], put)
        if let line = decoder?.warning(Self.name, isEnd: true) { AudioWarnings.report(line) }
        try blocks?.finish { block, played, _ in put(block, played) }
        samples = blocks?.samples ?? 0
        if surplus > 1, hasSurplusSound { try reportSurplus() }
        if let missing = missingSeconds {
            throw .truncated.saying(
                "\(Self.name) ends early: \(decimal(missing, 2)) s that its header promises are missing; send it whole"
            )
        }
    }

    private mutating func addSurplus(_ bytes: ArraySlice<UInt8>) {
        surplus += bytes.count
        if !hasSurplusSound { hasSurplusSound = bytes.contains { $0 != 0 } }
    }

    private func reportSurplus() throws(AudioError) {
        // The same rule as that of files.
        guard surplus < declared, declared + surplus < 1 << 32 else {
            return AudioWarnings.report(
                "\(Self.name): its header counts \(declared) bytes of audio, and \(surplus) more follow; they were read as audio, since "
                    + "a recorder that is stopped leaves such a header"
            )
        }
        throw .leftover.saying(
            "\(Self.name): \(surplus) bytes from byte \(bytesRead - surplus) on follow the audio that its header counts, and are not a chunk "
                + "or tag; they were read as audio: cut them off, or write it again"
        )
    }

    // MARK: - Header, and behind the audio

    private mutating func readHeader(_ bytes: inout ArraySlice<UInt8>) throws(AudioError) {
        guard case .audio(let layout, let rate, let channels, let size) = try header.read(&bytes),
            let format = RawFormat(rate: rate, channels: channels, sample: layout)
        else { return }
        if let old = self.format {
            guard old == format else {
                throw .unsupported.saying(
                    "\(Self.name) continues with other audio (\(rate) Hz, channels: \(channels), \(layout.rawValue)); send it by itself"
                )
            }
            decoder?.dropPartial()
            referenceDecoder?.dropPartial()
        } else {
            try begin(format)
            if header.containerLayout == .declared24In32 { (evidence, isUndecided) = (LayoutEvidence(), true) }
        }
        place = .audio(left: size)
        declared = size ?? 0
        surplus = 0
        waiting.removeAll(keepingCapacity: true)
    }

    /// Tells what follows the audio by its first bytes.
    private mutating func readBehind(
        _ bytes: inout ArraySlice<UInt8>,
        _ put: (Span<Float>, Span<Float>) -> Void
    ) throws(AudioError) {
        try decide(put)
        let needed = 12
        // A chunk begins at an even byte.
        let isPadding = waiting.isEmpty && declared % 2 == 1 && bytes.first == 0
        if isPadding { bytes = bytes.dropFirst() }
        let count = min(needed - waiting.count, bytes.count)
        waiting += bytes.prefix(count)
        bytes = bytes.dropFirst(count)
        let name = WaveHeader.text(waiting, 0, 4)
        if name.hasPrefix("TAG") || name.hasPrefix("ID3") || WaveHeader.text(waiting, 0, 8) == "APETAGEX" {
            place = .tag
            return
        }
        guard waiting.count == needed else { return }
        let start = waiting
        waiting.removeAll(keepingCapacity: true)
        if ["RIFF", "RF64", "BW64"].contains(name), WaveHeader.text(start, 8, 4) == "WAVE" {
            header = WaveHeader()
            place = .header
            var form = start[...]
            _ = try header.read(&form)
        } else if let kind = WaveHeader.kind(of: start) {
            throw .unsupported.saying("\(Self.name) has \(kind) behind its audio; send it by itself")
        } else if start[0..<4].allSatisfy({ (0x20...0x7E).contains($0) }), start[0] != 0x20 {
            // In a pipe the end is not known: a large one is not a chunk.
            let size = WaveHeader.number(start, 4, 4)
            if size <= 1 << 24 {
                let rest = size + size % 2 - 4
                place = rest > 0 ? .chunk(left: rest) : .behind
                // A short chunk: what follows it was taken too.
                if rest < 0 { bytes = (start.suffix(-rest) + bytes)[...] }
            } else {
                try goOn(start, put)
            }
        } else {
            try goOn(start, put)
        }
    }

    /// What follows the audio is audio.
    private mutating func goOn(_ start: [UInt8], _ put: (Span<Float>, Span<Float>) -> Void) throws(AudioError) {
        place = .audio(left: nil)
        addSurplus(start[...])
        try read(start[...], put)
    }

    // MARK: - Audio

    private mutating func read(_ bytes: ArraySlice<UInt8>, _ put: (Span<Float>, Span<Float>) -> Void) throws(AudioError)
    {
        guard evidence != nil else { return try decode(bytes, put) }
        evidence?.add(bytes)
        guard isUndecided, let format else { return try decode(bytes, put) }
        // Silence is the same in all layouts.
        if evidence?.sounding == 0 { return try decode(bytes, put) }
        waiting += bytes
        // A second with sound tells it.
        if evidence?.isBeyond == true || waiting.count >= format.rate * format.frameBytes { try decide(put) }
    }

    /// Decides the layout of samples of 4 bytes, and decodes those that waited for it.
    private mutating func decide(_ put: (Span<Float>, Span<Float>) -> Void) throws(AudioError) {
        guard isUndecided, let evidence else { return }
        isUndecided = false
        useLayout(evidence.of24In32)
        self.evidence = nil
        let bytes = waiting
        waiting = []
        try decode(bytes[...], put)
    }

    private mutating func useLayout(_ layout: SampleLayout) {
        guard let decoder, decoder.layout != layout else { return }
        var other = PCMDecoder(layout, channels: decoder.channels, mix: mix, rate: format?.rate)
        other.takePartial(of: decoder)
        self.decoder = other
        if let old = referenceDecoder, let channel = mix.echo?.channel {
            var other = PCMDecoder(layout, channels: old.channels, mix: .channel(channel), rate: format?.rate)
            other.takePartial(of: old)
            referenceDecoder = other
        }
    }

    private mutating func decode(_ bytes: ArraySlice<UInt8>, _ put: (Span<Float>, Span<Float>) -> Void)
        throws(AudioError)
    {
        guard let format else { return }
        // A span of a property would borrow all of `self`.
        var samples: [Float] = []
        swap(&samples, &mono)
        defer { swap(&samples, &mono) }
        var bytes = bytes
        while true {
            var room = samples.mutableSpan
            guard let progress = decoder?.decode(bytes.span, into: &room) else { return }
            try addReference(bytes.prefix(progress.bytes), progress.frames)
            bytes = bytes.dropFirst(progress.bytes)
            frames += progress.frames
            try blocks?.add(samples.span.extracting(first: progress.frames)) { block, played, _ in put(block, played) }
            self.samples = blocks?.samples ?? 0
            guard !progress.isUnusable else {
                let seconds = decimal(Double(frames) / Double(format.rate), 3)
                throw .notFinite.saying(
                    "\(Self.name) holds a sample that is not a usable number at \(seconds) s; is its format right?"
                )
            }
            guard progress.bytes > 0 || progress.frames > 0 else { break }
        }
        if let line = decoder?.warning(Self.name) { AudioWarnings.report(line) }
    }

    /// Gives the reference that is in these bytes, of so many frames.
    private mutating func addReference(_ bytes: ArraySlice<UInt8>, _ frames: Int) throws(AudioError) {
        guard referenceDecoder != nil else { return }
        var samples: [Float] = []
        swap(&samples, &reference)
        defer { swap(&samples, &reference) }
        var room = samples.mutableSpan
        _ = referenceDecoder?.decode(bytes.span, into: &room)
        try blocks?.add(reference: samples.span.extracting(first: frames))
    }

    private mutating func begin(_ format: RawFormat) throws(AudioError) {
        try mix.checkMixed(channels: format.channels, of: Self.name)
        blocks = try BlockMaker(from: format.rate, echo: mix.echo)
        decoder = PCMDecoder(format.sample, channels: format.channels, mix: mix, rate: format.rate)
        if let channel = mix.echo?.channel {
            referenceDecoder = PCMDecoder(
                format.sample,
                channels: format.channels,
                mix: .channel(channel),
                rate: format.rate
            )
            reference = [Float](repeating: 0, count: mono.count)
        }
        self.format = format
    }

    /// What is corrected in the mix now.
    public var faults: ChannelFaults { decoder?.faults ?? ChannelFaults() }
}
