private import CSndFile
private import CSystem
private import Glibc
public import System

/// Writes a WAV file of one channel of 16-bit samples, part by part.
///
/// Each ``append(_:)`` updates the length in the header, so the file is valid whenever the program ends.
public struct WaveWriter: ~Copyable {
    private let file: FileDescriptor
    private let handle: OpaquePointer

    /// - Parameters:
    ///   - file: empty, open for reading and writing, and seekable; closed with the writer.
    ///   - sampleRate: in Hz.
    /// - Throws: ``AudioError/unwritable``.
    public init(_ file: consuming FileDescriptor, sampleRate: Int) throws(AudioError) {
        var info = SF_INFO()
        info.samplerate = Int32(clamping: sampleRate)
        info.channels = 1
        info.format = Int32(SF_FORMAT_WAV) | Int32(SF_FORMAT_PCM_16)
        guard let handle = sf_open_fd(file.rawValue, Int32(SFM_WRITE), &info, Int32(SF_FALSE)) else {
            throw Self.failure("sf_open_fd", nil)
        }
        self.file = file
        self.handle = handle
    }

    deinit { sf_close(handle) }

    /// Writes samples from −1 to 1; larger ones are clipped, and NaN becomes 0.
    ///
    /// - Throws: ``AudioError/unwritable``, for instance if the disk is full.
    public mutating func append(_ samples: [Float]) throws(AudioError) {
        let whole = samples.map(Int16.init(sample:))
        guard sf_writef_short(handle, whole, sf_count_t(whole.count)) == sf_count_t(whole.count) else {
            throw Self.failure("sf_writef_short", handle)
        }
        sf_command(handle, Int32(SFC_UPDATE_HEADER_NOW), nil, 0)
        guard sf_error(handle) == SF_ERR_NO_ERROR else { throw Self.failure("sf_command", handle) }
    }

    /// Writes a new file with these samples. If that fails, the file is removed.
    ///
    /// - Returns: false if a file of this name exists; it is not changed.
    /// - Throws: ``AudioError/unwritable``.
    public static func writeNew(_ samples: [Float], path: String, sampleRate: Int) throws(AudioError) -> Bool {
        let file = FileDescriptor(open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644))
        if !file.isOpen, errno == EEXIST { return false }
        guard file.isOpen else { throw .unwritable.saying("open: \(SystemError.text(errno))") }
        do throws(AudioError) {
            var writer = try WaveWriter(file, sampleRate: sampleRate)
            try writer.append(samples)
        } catch {
            unlink(path)
            throw error
        }
        return true
    }

    /// A WAV file with these samples, in memory.
    ///
    /// - Throws: ``AudioError/unwritable``.
    public static func bytes(_ samples: [Float], sampleRate: Int) throws(AudioError) -> [UInt8] {
        let memory = FileDescriptor(CSystem_memfd("beckon-wave"))
        guard memory.isOpen else { throw .unwritable.saying("memfd_create: \(SystemError.text(errno))") }
        var writer = try WaveWriter(memory, sampleRate: sampleRate)
        try writer.append(samples)
        return try writer.contents()
    }

    /// All bytes written so far.
    private func contents() throws(AudioError) -> [UInt8] {
        let size = lseek(file.rawValue, 0, SEEK_END)
        var bytes = [UInt8](repeating: 0, count: max(0, size))
        guard size > 0, pread(file.rawValue, &bytes, bytes.count, 0) == size else {
            throw .unwritable.saying("pread: \(SystemError.text(errno))")
        }
        return bytes
    }

    private static func failure(_ call: String, _ handle: OpaquePointer?) -> AudioError {
        let text = sf_strerror(handle).map { String(cString: $0) } ?? "unknown error"
        return .unwritable.saying("\(call): \(text)")
    }
}
