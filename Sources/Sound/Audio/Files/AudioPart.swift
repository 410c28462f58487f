import CSndFile
import Glibc

/// One of the parts of an audio file: files that were joined, and chained streams of Ogg, have several; most have one.
///
/// It is decoded by the library that reads its kind to its real end: libFLAC, libmpg123, the decoder of PCM where libsndfile takes
/// the layout of the samples for another, and libsndfile for all others.
struct AudioPart: ~Copyable {
    private let decoder: PartDecoder
    let header: PartHeader
    private let view: FileView
    private let container: Container?
    private let link: OggLink?
    /// Whether it is MPEG audio, which libmpg123 reads as far as there are frames.
    let isMPEG: Bool

    /// The offset of its first byte in the file.
    var start: Int { view.range.lowerBound }

    /// - Throws: ``AudioError/notAudio``, ``AudioError/undecodable``, ``AudioError/unsupported`` or ``AudioError/noAudio``.
    static func open(_ file: borrowing RegularFile, at start: Int, path: String) throws(AudioError) -> AudioPart {
        let first = FileRest.beginning(in: file, from: start)
        let magic = Magic(of: file, at: first)
        switch magic {
        case .flac:
            let view = FileView(file, first..<file.size)
            if let decoder = FLACDecoder(view, isOgg: false) {
                let header = decoder.header
                return AudioPart(.flac(decoder), header, view)
            }
        case .ogg:
            let link = OggLink(file, from: first)
            let view = FileView(file, first..<link.end)
            if file.bytes(at: first, count: 300).isOggFLAC {
                guard let decoder = FLACDecoder(view, isOgg: true) else {
                    throw .undecodable.saying(
                        "audio file \(AudioError.quoted(path)) cannot be decoded (its FLAC header in Ogg is damaged); write it again"
                    )
                }
                let header = decoder.header
                return AudioPart(.flac(decoder), header, view, link: link)
            }
            let decoder = try Decoder(view, of: file, path: path)
            let header = decoder.header
            return AudioPart(.library(decoder), header, view, link: link)
        case .mpeg:
            // libmpg123 gives up behind more padding than 1 KiB.
            let view = FileView(file, first..<file.size)
            if let decoder = MPEGDecoder(view, first: 0) {
                let header = decoder.header
                return AudioPart(.mpeg(decoder), header, view, isMPEG: true)
            }
            throw .undecodable.saying(
                "audio file \(AudioError.quoted(path)) cannot be decoded (libmpg123 finds no audio in it); write it again"
            )
        case .wave, .aiff, .wave64, .caf, .au:
            guard let container = Container(file, at: first) else { break }
            if container.layout == .mpeg {
                let view = FileView(file, container.audio)
                if let decoder = MPEGDecoder(view, first: 0) {
                    let header = decoder.header
                    return AudioPart(.mpeg(decoder), header, view, container: container)
                }
            }
            let view = FileView(file, first..<container.end, patches: container.patches)
            let decoder = try Decoder(view, of: file, path: path)
            var header = decoder.header
            guard container.usesLowBits(file) else {
                return AudioPart(.library(decoder), header, view, container: container)
            }
            header = PartHeader(
                sampleRate: header.sampleRate,
                channels: header.channels,
                frames: container.audio.count / (4 * max(1, header.channels)),
                format: "WAV 24-bit",
                declared: .integers(bits: 24)
            )
            let pcm = PCMPart(FileView(file, container.audio), .s24le32, channels: header.channels)
            return AudioPart(.pcm(pcm), header, view, container: container)
        case nil: break
        }
        let view = FileView(file, start..<file.size)
        let decoder = try Decoder(view, of: file, path: path)
        let header = decoder.header
        return AudioPart(.library(decoder), header, view)
    }

    private init(
        _ decoder: consuming PartDecoder,
        _ header: PartHeader,
        _ view: FileView,
        container: Container? = nil,
        link: OggLink? = nil,
        isMPEG: Bool = false
    ) {
        self.decoder = decoder
        (self.header, self.view, self.container, self.link, self.isMPEG) = (header, view, container, link, isMPEG)
    }

    /// Reads interleaved frames. Returns their number; less than `frames` only at the end or at damage.
    func read(into target: UnsafeMutablePointer<Float>, frames: Int, of file: borrowing RegularFile) -> Int {
        decoder.read(into: target, frames: frames, of: file)
    }

    // MARK: - At the end

    /// How a part ended.
    enum End {
        /// The offset in the file where what belongs to it ends.
        case whole(Int)
        case faulty(AudioError)
    }

    /// What is to be said when all that can be read was read.
    ///
    /// - Parameters:
    ///   - count: frames of it that were read.
    ///   - time: the time in the file, as text.
    func end(after count: Int, at time: String, path: String, file: borrowing RegularFile) -> End {
        let name = "audio file \(AudioError.quoted(path))"
        let advice = "copy or record it again"
        if view.failure != 0 {
            return .faulty(
                .unreadable.saying(
                    "\(name) cannot be read after \(time) s (pread: errno \(view.failure)); check the disk"
                )
            )
        }
        if let container, let missing = container.missing, let declared = container.declared {
            return .faulty(
                .truncated.saying(
                    "\(name) ends early, after \(time) s: its header promises \(declared) bytes of audio, \(missing) are missing; "
                        + advice
                )
            )
        }
        let end = decoder.end
        let reason = end.problem.map { " (\($0))" } ?? ""
        if let declaredFrames = header.declaredFrames, count < declaredFrames {
            return .faulty(
                .truncated.saying(
                    "\(name) ends early or is damaged at \(time) s: its header promises \(declaredFrames) frames, "
                        + "\(declaredFrames - count) are missing\(reason); \(advice)"
                )
            )
        }
        if let link, !link.isMarked, end.lacksEndOfStream {
            return .faulty(
                .truncated.saying(
                    "\(name) ends early, after \(time) s: the last page of the Ogg stream is missing; \(advice)"
                )
            )
        }
        if end.problem != nil {
            return .faulty(.undecodable.saying("\(name) is damaged at \(time) s\(reason); \(advice)"))
        }
        let passedOver = end.passedOver.map { start + $0.lowerBound..<start + $0.upperBound }
        if let damage = link?.damage ?? passedOver {
            return .faulty(
                Self.leftover(damage, name, "were passed over: they are not audio that can be decoded; \(advice)")
            )
        }
        if let surplus = container?.surplus { return self.end(surplus, name) }
        return whole(end, name)
    }

    private func end(_ surplus: Range<Int>, _ name: String) -> End {
        guard let container, container.isSurplusDoubtful else {
            AudioWarnings.report(
                "\(name): its header counts \(container?.declared ?? 0) bytes of audio, and \(surplus.count) more follow; they were read "
                    + "as audio, since a recorder that is stopped leaves such a header"
            )
            return .whole(container?.end ?? surplus.upperBound)
        }
        return .faulty(
            Self.leftover(
                surplus,
                name,
                "follow the audio that its header counts, and are not a chunk or a tag; they were read as audio: "
                    + "cut them off, or write the file again"
            )
        )
    }

    private func whole(_ decoded: PartEnd, _ name: String) -> End {
        let end = start + (decoded.position ?? view.count)
        if let change = decoded.change {
            return .faulty(
                .unsupported.saying("\(name) continues with other audio from byte \(end) (\(change)); split it there")
            )
        }
        return .whole(container?.end ?? end)
    }

    static func leftover(_ bytes: Range<Int>, _ name: String, _ what: String) -> AudioError {
        .leftover.saying("\(name): \(bytes.count) bytes from byte \(bytes.lowerBound) on \(what)")
    }
}

/// What a decoder says of a part before it is read.
struct PartHeader {
    var sampleRate: Int
    var channels: Int
    /// Frames by the header or an estimate; nil if nothing is known.
    var frames: Int?
    /// Frames by the header; nil if it does not say.
    var declaredFrames: Int?
    /// Short name of container and coding, such as `WAV 16-bit`.
    var format: String
    /// Whether samples may be NaN, or beyond all limits.
    var checksSamples = false
    /// What samples are by the header, where they may be read in another way.
    var declared: SampleReading.Declared?
}

/// What a decoder says of a part when all was read that it can read.
struct PartEnd {
    /// What was wrong with the audio; nil if nothing was.
    var problem: String?
    /// Whether it missed the end of an Ogg stream.
    var lacksEndOfStream = false
    /// Where in its view the audio ended; nil for the end of the view.
    var position: Int?
    /// Bytes between frames that are not tags and were not decoded, by their offsets in the view: from the first to the last.
    var passedOver: Range<Int>?
    /// What changes within the stream; nil if nothing does.
    var change: String?
}

/// What decodes a part.
enum PartDecoder: ~Copyable {
    case library(Decoder)
    case flac(FLACDecoder)
    case mpeg(MPEGDecoder)
    case pcm(PCMPart)

    func read(into target: UnsafeMutablePointer<Float>, frames: Int, of file: borrowing RegularFile) -> Int {
        switch self {
        case .library(let decoder): decoder.read(into: target, frames: frames)
        case .flac(let decoder): decoder.read(into: target, frames: frames)
        case .mpeg(let decoder): decoder.read(into: target, frames: frames, of: file)
        case .pcm(let decoder): decoder.read(into: target, frames: frames)
        }
    }

    var end: PartEnd {
        switch self {
        case .library(let decoder): decoder.end
        case .flac(let decoder): decoder.end
        case .mpeg(let decoder): decoder.end
        case .pcm: PartEnd()
        }
    }
}

/// Samples of a layout that libsndfile takes for another.
struct PCMPart: ~Copyable {
    private let view: FileView
    private let layout: SampleLayout
    private let channels: Int
    private let bytes: UnsafeMutableRawBufferPointer

    private static let samplesAtOnce = 1 << 12

    init(_ view: FileView, _ layout: SampleLayout, channels: Int) {
        self.view = view
        self.layout = layout
        self.channels = max(1, channels)
        bytes = .allocate(byteCount: Self.samplesAtOnce * layout.bytes, alignment: 16)
    }

    deinit { bytes.deallocate() }

    func read(into target: UnsafeMutablePointer<Float>, frames: Int) -> Int {
        let wanted = frames * channels
        var done = 0
        while done < wanted, let base = bytes.baseAddress {
            let count = view.read(base, min(wanted - done, Self.samplesAtOnce) * layout.bytes) / layout.bytes
            guard count > 0 else { break }
            done += layout.decode(
                UnsafeRawBufferPointer(start: base, count: count * layout.bytes),
                into: UnsafeMutableBufferPointer(start: target + done, count: wanted - done)
            )
        }
        return done / channels
    }
}

extension Container {
    /// The most bytes that are looked at to tell a layout.
    private static let longestSearch = 64 << 20

    /// Whether samples of 24 bits are the low ones of 4 bytes.
    func usesLowBits(_ file: borrowing RegularFile) -> Bool {
        guard layout == .declared24In32 else { return false }
        var evidence = LayoutEvidence()
        var place = audio.lowerBound
        let end = min(audio.upperBound, audio.lowerBound + Self.longestSearch)
        while place < end, !evidence.usesLowest {
            let piece = file.bytes(at: place, count: min(1 << 14, end - place))
            guard !piece.isEmpty else { break }
            evidence.add(piece)
            place += piece.count
        }
        return evidence.of24In32 == .s24le32
    }
}

extension [UInt8] {
    /// Whether a page of Ogg begins a stream of FLAC ("Ogg FLAC mapping", version 1).
    fileprivate var isOggFLAC: Bool {
        guard count > 27, self[26] > 0, count > 27 + Int(self[26]) else { return false }
        return self[(27 + Int(self[26]))...].starts(with: [0x7F] + Array("FLAC".utf8))
    }
}
