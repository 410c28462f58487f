private import CArchive
private import CZlib
private import Core
private import Glibc
private import System

/// Why a backup cannot be made or read, in one line.
public struct BackupError: Error, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}

/// A compressed tar archive of files, by libarchive: names of safe characters, permissions, contents. Everything else that an archive may have
/// is refused.
public struct BackupArchive {
    public struct File: Equatable, Sendable {
        /// Parts with slashes between, as on the disk.
        public var name: String
        /// The lowest nine bits of its mode.
        public var mode: UInt32
        public var bytes: [UInt8]

        public init(name: String, mode: UInt32, bytes: [UInt8]) {
            (self.name, self.mode, self.bytes) = (name, mode, bytes)
        }
    }

    /// Limits of what is read: of the archive and of all contents together, of one file, of the number of files.
    public static let mostBytes = 256 << 20
    public static let mostOfFile = 64 << 20
    private static let mostFiles = 4096
    private static let mostParts = 8

    private let library: CArchive

    /// - Throws: if libarchive is not installed.
    public init() throws(BackupError) {
        var library = CArchive()
        guard CArchive_load(&library) else {
            throw BackupError("libarchive is not installed; apt install libarchive13")
        }
        self.library = library
    }

    /// - Parameter time: of all files, in seconds since 1970.
    public func write(_ files: [File], time: Int) throws(BackupError) -> [UInt8] {
        let failure = BackupError("the archive cannot be made: no memory")
        // A header has 512 bytes, more where a name is long; contents are filled up to as much.
        let capacity = files.reduce(1 << 16) { $0 + $1.bytes.count + $1.bytes.count / 1000 + 4096 }
        guard let archive = library.write_new() else { throw failure }
        defer { _ = library.write_free(archive) }
        var used = 0
        var isGood = true
        let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { room, count in
            isGood =
                library.write_add_filter_gzip(archive) == 0 && library.write_set_format_pax_restricted(archive) == 0
                && library.write_open_memory(archive, room.baseAddress, capacity, &used) == 0
                && files.allSatisfy { add($0, to: archive, time) } && library.write_close(archive) == 0
            count = isGood ? used : 0
        }
        guard isGood else { throw failure }
        return bytes
    }

    private func add(_ file: File, to archive: OpaquePointer, _ time: Int) -> Bool {
        guard let entry = library.entry_new() else { return false }
        defer { library.entry_free(entry) }
        library.entry_set_pathname(entry, Self.stored(file.name))
        library.entry_set_size(entry, Int64(file.bytes.count))
        library.entry_set_filetype(entry, UInt32(S_IFREG))
        library.entry_set_perm(entry, mode_t(file.mode))
        library.entry_set_mtime(entry, time_t(time), 0)
        guard library.write_header(archive, entry) == 0 else { return false }
        return file.bytes.isEmpty
            || file.bytes.withUnsafeBytes { library.write_data(archive, $0.baseAddress, $0.count) } == file.bytes.count
    }

    /// The files of an archive, in their order.
    ///
    /// - Throws: what is wrong with the first that is not as it was written, on one line.
    public func read(_ bytes: [UInt8]) throws(BackupError) -> [File] {
        // libarchive does not compare the sum at the end of the compressed bytes; zlib does.
        guard let tar = Self.decompressed(bytes) else { throw Self.damaged }
        return try read(tar: tar)
    }

    /// The same, of what is decompressed.
    func read(tar: [UInt8]) throws(BackupError) -> [File] {
        guard let archive = library.read_new() else { throw BackupError("no memory") }
        defer { _ = library.read_free(archive) }
        return try tar.withUnsafeBufferPointer { bytes throws(BackupError) -> [File] in
            guard library.read_support_format_tar(archive) == 0,
                library.read_open_memory(archive, bytes.baseAddress, bytes.count) == 0
            else { throw Self.damaged }
            return try files(of: archive)
        }
    }

    /// The content of a gzip file of one member; nil if it is damaged, or larger than a backup.
    private static func decompressed(_ bytes: [UInt8]) -> [UInt8]? {
        var stream = z_stream()
        // 16: a gzip header, with the sum of the content at its end.
        guard inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            return nil
        }
        defer { inflateEnd(&stream) }
        var input = bytes
        var (all, part) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
        return input.withUnsafeMutableBufferPointer { input in
            (stream.next_in, stream.avail_in) = (input.baseAddress, uInt(input.count))
            while true {
                let (result, count) = part.withUnsafeMutableBufferPointer { part in
                    (stream.next_out, stream.avail_out) = (part.baseAddress, uInt(part.count))
                    return (inflate(&stream, Z_NO_FLUSH), part.count - Int(stream.avail_out))
                }
                all += part.prefix(count)
                if result == Z_STREAM_END { return stream.avail_in == 0 ? all : nil }
                guard result == Z_OK, all.count <= mostBytes + mostFiles * 2048 else { return nil }
            }
        }
    }

    private static let damaged = BackupError("it is damaged, or no backup")

    private func files(of archive: OpaquePointer) throws(BackupError) -> [File] {
        var files: [File] = []
        var (names, total) = (Set<String>(), 0)
        while true {
            var found: OpaquePointer?
            let result = library.read_next_header(archive, &found)
            if result == 1 { return files }
            guard result == 0, let entry = found, let path = library.entry_pathname(entry) else { throw Self.damaged }
            let stored = String(
                decoding: UnsafeBufferPointer(start: path, count: strlen(path)).map(UInt8.init(bitPattern:)),
                as: UTF8.self
            )
            guard let name = Self.name(stored) else {
                throw BackupError("a name in it leads elsewhere: \(printable(String(stored.prefix(80))))")
            }
            guard library.entry_filetype(entry) == S_IFREG, library.entry_hardlink(entry) == nil else {
                throw BackupError("\(printable(name)) in it is no regular file")
            }
            guard names.insert(name).inserted else { throw BackupError("\(printable(name)) is in it twice") }
            let size = library.entry_size(entry)
            guard (0...Int64(Self.mostOfFile)).contains(size), files.count < Self.mostFiles else { throw Self.tooLarge }
            total += Int(size)
            guard total <= Self.mostBytes else { throw Self.tooLarge }
            files.append(
                File(
                    name: name,
                    mode: UInt32(library.entry_perm(entry)) & 0o777,
                    bytes: try content(archive, Int(size))
                )
            )
        }
    }

    private static let tooLarge = BackupError("it holds more, or larger files, than a backup has")

    private func content(_ archive: OpaquePointer, _ size: Int) throws(BackupError) -> [UInt8] {
        var (filled, isGood) = (0, true)
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { room, count in
            while filled < size, isGood {
                let part = library.read_data(archive, room.baseAddress.map { $0 + filled }, size - filled)
                isGood = part > 0
                filled += max(0, part)
            }
            count = filled
        }
        guard isGood else { throw Self.damaged }
        return bytes
    }

    // MARK: - Names

    /// ASCII letters and digits, and these, stand as they are; of all other characters each byte is `%` and two digits.
    private static let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-@+/".utf8)

    static func stored(_ name: String) -> String {
        FileName.bytes(name).map { byte in
            plain.contains(byte)
                ? String(Unicode.Scalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }

    /// The name of a stored one; nil for what is none, or leads out of its folder.
    static func name(_ stored: String) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(stored.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                let digits = rest.prefix(2)
                guard digits.count == 2, let code = UInt8(hexDigits: digits), code != 0, code != UInt8(ascii: "/")
                else { return nil }
                bytes.append(code)
                rest = rest.dropFirst(2)
            } else {
                guard plain.contains(byte) else { return nil }
                bytes.append(byte)
            }
        }
        let name = FileName.text(bytes)
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        let isSafe = parts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." && $0.utf8.count <= 255 }
        return isSafe && parts.count <= mostParts ? name : nil
    }
}
