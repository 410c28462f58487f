import CSndFile
import Glibc
import System

/// A libsndfile handle on a view of an open file.
struct Decoder: ~Copyable {
    private let handle: OpaquePointer
    /// libsndfile keeps a pointer to it.
    private let view: FileView
    /// The header as libsndfile read it.
    private let info: SF_INFO

    /// libsndfile keeps the error of a failed `sf_open_virtual` in global variables. Files are opened in parallel, since opening
    /// is a good part of the work on a short one; after a failure the file is opened again alone, to learn the error.
    private static let opening = ReadWriteLock()

    /// - Parameters:
    ///   - view: Begins with the first byte of the container.
    ///   - file: The file of the view.
    /// - Throws: ``AudioError/notAudio``, ``AudioError/undecodable`` or ``AudioError/unsupported``.
    init(_ view: FileView, of file: borrowing RegularFile, path: String) throws(AudioError) {
        let name = AudioError.quoted(path)
        // libsndfile's reader of MIDI sample dumps prints messages to standard output, among our results.
        guard file.bytes(at: 0, count: 2) != [0xF0, 0x7E] else {
            throw .unsupported.saying("\(name) is a MIDI sample dump; give WAV, FLAC, Ogg or AIFF")
        }
        guard !ListChunk.neverEnds(in: file, from: view.range.lowerBound) else {
            throw .undecodable.saying(
                "audio file \(name) cannot be decoded (its LIST chunk is damaged); write it again"
            )
        }
        var info = SF_INFO()
        var code: Int32 = 0
        var text = ""
        var opened = Decoder.opening.withSharedLock { Decoder.open(view, &info) }
        if opened == nil {
            opened = Decoder.opening.withLock {
                info = SF_INFO()
                let handle = Decoder.open(view, &info)
                (code, text) = (sf_error(nil), Decoder.text(sf_strerror(nil)))
                return handle
            }
        }
        guard let opened else {
            if code == SF_ERR_UNRECOGNISED_FORMAT {
                throw .notAudio.saying(
                    "\(name) is not an audio file (sf_open_virtual: \(text)); give WAV, FLAC, Ogg or AIFF, "
                        + "or convert it first, as with ffmpeg -i FILE FILE.wav"
                )
            }
            throw .undecodable.saying("audio file \(name) cannot be decoded (sf_open_virtual: \(text)); write it again")
        }
        handle = opened
        self.view = view
        self.info = info
    }

    private static func open(_ view: FileView, _ info: inout SF_INFO) -> OpaquePointer? {
        // An attempt before may have moved it.
        _ = view.seek(0, SEEK_SET)
        var functions = SF_VIRTUAL_IO(
            get_filelen: { sf_count_t(FileView.of($0)?.count ?? 0) },
            seek: { offset, whence, context in
                guard let view = FileView.of(context) else { return -1 }
                return view.seek(Int(offset), whence) ? sf_count_t(view.position) : -1
            },
            read: { target, count, context in
                guard let view = FileView.of(context), let target, count > 0 else { return 0 }
                return sf_count_t(view.read(target, Int(count)))
            },
            write: { _, _, _ in 0 },
            tell: { sf_count_t(FileView.of($0)?.position ?? 0) }
        )
        return sf_open_virtual(&functions, Int32(SFM_READ), &info, view.context)
    }

    deinit { sf_close(handle) }

    /// Reads interleaved frames. Returns their number; less than `frames` only at the end or at damage.
    func read(into target: UnsafeMutablePointer<Float>, frames: Int) -> Int {
        max(0, Int(sf_readf_float(handle, target, sf_count_t(frames))))
    }

    var header: PartHeader {
        // libsndfile reports the largest Int64 for streams whose end it cannot find.
        let frames = info.frames == Int64.max ? nil : Int(info.frames)
        return PartHeader(
            sampleRate: Int(info.samplerate),
            channels: Int(info.channels),
            frames: frames,
            declaredFrames: frames,
            format: FormatName.name(of: info.format),
            checksSamples: !FormatName.isInteger(info.format),
            declared: FormatName.declared(info.format)
        )
    }

    var end: PartEnd {
        let isFaulty = sf_error(handle) != SF_ERR_NO_ERROR
        return PartEnd(
            problem: isFaulty ? "sf_readf_float: \(Decoder.text(sf_strerror(handle)))" : nil,
            lacksEndOfStream: log.contains("without an End-Of-Stream flag")
        )
    }

    /// libsndfile's log of parsing the header and the stream, at most 8 KiB.
    private var log: String {
        withUnsafeTemporaryAllocation(byteCount: 8192, alignment: 1) { buffer in
            let count = Int(sf_command(handle, Int32(SFC_GET_LOG_INFO), buffer.baseAddress, Int32(buffer.count)))
            return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        }
    }

    private static func text(_ pointer: UnsafePointer<CChar>?) -> String {
        var text = pointer.map { String(cString: $0) } ?? "unknown error"
        while text.last == "." || text.last == " " || text.last == "\n" { text.removeLast() }
        return text
    }
}
