import CSndFile
import Glibc

/// The handle of libsndfile on an open file; the file's descriptor stays with its owner.
struct Decoder: ~Copyable {
    private let handle: OpaquePointer
    /// The header as libsndfile read it.
    let info: SF_INFO

    /// - Throws: ``AudioError/notAudio`` or ``AudioError/undecodable``.
    init(file: borrowing RegularFile, path: String) throws(AudioError) {
        var info = SF_INFO()
        guard let handle = sf_open_fd(file.descriptor, Int32(SFM_READ), &info, Int32(SF_FALSE)) else {
            let code = sf_error(nil)
            let text = Decoder.text(sf_strerror(nil))
            let name = AudioError.quoted(path)
            if code == SF_ERR_UNRECOGNISED_FORMAT {
                throw .notAudio.saying(
                    "\(name) is not an audio file (sf_open_fd: \(text)); give WAV, FLAC, Ogg or AIFF"
                )
            }
            throw .undecodable.saying("audio file \(name) cannot be decoded (sf_open_fd: \(text)); write it again")
        }
        self.handle = handle
        self.info = info
    }

    deinit { sf_close(handle) }

    /// Reads interleaved frames; returns how many there were, fewer only at the end or at damage.
    func read(into target: UnsafeMutablePointer<Float>, frames: Int) -> Int {
        max(0, Int(sf_readf_float(handle, target, sf_count_t(frames))))
    }

    /// What libsndfile says of the last call, or nil if it has no complaint.
    var errorText: String? {
        sf_error(handle) == SF_ERR_NO_ERROR ? nil : Decoder.text(sf_strerror(handle))
    }

    /// What libsndfile noted while it parsed the header and the stream; it keeps the first few kilobytes.
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
