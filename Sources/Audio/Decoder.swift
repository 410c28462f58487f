import CSndFile
import Glibc
import Synchronization
import System

/// A libsndfile handle on an open file. It uses a duplicate of the file's descriptor, which shares the read position.
struct Decoder: ~Copyable {
    private let handle: OpaquePointer
    /// The header as libsndfile read it.
    let info: SF_INFO

    /// libsndfile keeps the error of a failed `sf_open_fd` in one global variable, so opening is serialised.
    private static let opening = Mutex(())

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
        // A duplicate for libsndfile to close: it closes the descriptor if opening fails, even if told not to.
        let descriptor = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else {
            throw .unreadable.saying(
                "audio file \(name) cannot be opened (fcntl: \(SystemError.text(errno))); close other files"
            )
        }
        var info = SF_INFO()
        var code: Int32 = 0
        var text = ""
        let opened = Decoder.opening.withLock { _ in
            let handle = sf_open_fd(descriptor, Int32(SFM_READ), &info, Int32(SF_TRUE))
            if handle == nil { (code, text) = (sf_error(nil), Decoder.text(sf_strerror(nil))) }
            return handle.map(Opened.init)
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
        handle = opened.handle
        self.info = info
    }

    /// Carries the new handle out of the lock; no other thread has it.
    private struct Opened: @unchecked Sendable {
        let handle: OpaquePointer
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
