import CSndFile
import Glibc
import System

/// A libsndfile handle on an open file. It uses a duplicate of the file's descriptor, which shares the read position.
struct Decoder: ~Copyable {
    private let handle: OpaquePointer
    /// The header as libsndfile read it.
    let info: SF_INFO

    /// libsndfile keeps the error of a failed `sf_open_fd` in global variables. Files are opened in parallel, since opening
    /// is a good part of the work on a short one; after a failure the file is opened again alone, to learn the error.
    private static let opening = ReadWriteLock()

    /// - Throws: ``AudioError/notAudio``, ``AudioError/undecodable``, ``AudioError/unsupported`` or
    ///   ``AudioError/unreadable``.
    init(file: borrowing RegularFile, path: String) throws(AudioError) {
        let name = AudioError.quoted(path)
        // libsndfile's reader of MIDI sample dumps prints messages to standard output, among our results.
        guard !file.begins(with: [0xF0, 0x7E]) else {
            throw .unsupported.saying("\(name) is a MIDI sample dump; give WAV, FLAC, Ogg or AIFF")
        }
        guard !ListChunk.neverEnds(in: file) else {
            throw .undecodable.saying(
                "audio file \(name) cannot be decoded (its LIST chunk is damaged); write it again"
            )
        }
        var info = SF_INFO()
        var code: Int32 = 0
        var text = ""
        var opened = try Decoder.opening.withSharedLock { Decoder.open(file, &info) }.get(name)
        if opened == nil {
            let again = Decoder.opening.withLock {
                info = SF_INFO()
                let handle = Decoder.open(file, &info)
                (code, text) = (sf_error(nil), Decoder.text(sf_strerror(nil)))
                return handle
            }
            opened = try again.get(name)
        }
        guard let opened else {
            if code == SF_ERR_UNRECOGNISED_FORMAT {
                throw .notAudio.saying(
                    "\(name) is not an audio file (sf_open_fd: \(text)); give WAV, FLAC, Ogg or AIFF, "
                        + "or convert it first, as with ffmpeg -i FILE FILE.wav"
                )
            }
            throw .undecodable.saying("audio file \(name) cannot be decoded (sf_open_fd: \(text)); write it again")
        }
        handle = opened
        self.info = info
    }

    /// What `sf_open_fd` gave, or the errno with which there was no descriptor for it.
    private enum Attempt {
        case handle(OpaquePointer?)
        case noDescriptor(Int32)

        func get(_ name: String) throws(AudioError) -> OpaquePointer? {
            switch self {
            case .handle(let handle): return handle
            case .noDescriptor(let number):
                throw .unreadable.saying(
                    "audio file \(name) cannot be opened (fcntl: \(SystemError.text(number))); close other files"
                )
            }
        }
    }

    private static func open(_ file: borrowing RegularFile, _ info: inout SF_INFO) -> Attempt {
        // A duplicate for libsndfile to close: it closes the descriptor if opening fails, even if told not to.
        let descriptor = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { return .noDescriptor(errno) }
        // It reads from where the descriptor stands, which an attempt before may have moved.
        lseek(descriptor, 0, SEEK_SET)
        return .handle(sf_open_fd(descriptor, Int32(SFM_READ), &info, Int32(SF_TRUE)))
    }

    deinit { sf_close(handle) }

    /// Reads interleaved frames. Returns their number; less than `frames` only at the end or at damage.
    func read(into target: UnsafeMutablePointer<Float>, frames: Int) -> Int {
        max(0, Int(sf_readf_float(handle, target, sf_count_t(frames))))
    }

    /// libsndfile's error text for the last call; nil if it succeeded.
    var errorText: String? {
        sf_error(handle) == SF_ERR_NO_ERROR ? nil : Decoder.text(sf_strerror(handle))
    }

    /// libsndfile's log of parsing the header and the stream, at most 8 KiB.
    var log: String {
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
