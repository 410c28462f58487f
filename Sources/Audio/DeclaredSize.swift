private import Core
import Glibc

/// Compares the size in a file's header with the file's size: libsndfile silently corrects a size that is too large.
///
/// WAV, RF64 and AIFF are read chunk by chunk (Microsoft "Multimedia Programming Interface and Data
/// Specifications 1.0", EBU Tech 3306, Apple "AIFF 1.3"); for AU and W64 libsndfile's log is searched.
enum DeclaredSize {
    /// The header declares more bytes than the file has.
    struct Shortage: Equatable {
        var what: String
        var declared: Int
        var present: Int
    }

    /// Nil if nothing is missing or the header declares no size.
    static func shortage(descriptor: Int32, fileSize: Int, log: String) -> Shortage? {
        switch chunkedKind(descriptor) {
        case .some(let kind): walk(descriptor, fileSize, kind)
        case .none: shortage(inLog: log)
        }
    }

    private struct Kind {
        var bigEndian: Bool
        var audio: [UInt8]
    }

    private static func chunkedKind(_ descriptor: Int32) -> Kind? {
        guard let head = bytes(descriptor, at: 0, count: 12) else { return nil }
        let form = Array(head[8..<12])
        switch String(decoding: head[0..<4], as: UTF8.self) {
        case "RIFF", "RF64": return form == Array("WAVE".utf8) ? Kind(bigEndian: false, audio: Array("data".utf8)) : nil
        case "RIFX": return form == Array("WAVE".utf8) ? Kind(bigEndian: true, audio: Array("data".utf8)) : nil
        case "FORM": return form.starts(with: "AIF".utf8) ? Kind(bigEndian: true, audio: Array("SSND".utf8)) : nil
        default: return nil
        }
    }

    private static func walk(_ descriptor: Int32, _ fileSize: Int, _ kind: Kind) -> Shortage? {
        var position = 12
        var longSize: Int?
        // Bounds the search; no real recording has so many chunks.
        for _ in 0..<1000 {
            guard let head = bytes(descriptor, at: position, count: 8) else { return nil }
            var size = number(head[4..<8], bigEndian: kind.bigEndian)
            let start = position + 8
            if head.starts(with: kind.audio) {
                if size == 0xFFFF_FFFF, let longSize { size = longSize } else if isUnknown(size) { return nil }
                let present = fileSize - start
                return size > present ? Shortage(what: "of audio", declared: size, present: present) : nil
            }
            if head.starts(with: "ds64".utf8), let sizes = bytes(descriptor, at: start + 8, count: 8) {
                longSize = Int(exactly: number(sizes[0..<8], bigEndian: false) as Int)
            }
            // Chunks begin at even offsets.
            position = start + size + size % 2
        }
        return nil
    }

    /// Whether a size means "unknown". Programs that write to a pipe cannot fill in the size later: they write 0, the
    /// largest 32-bit number, or about half of that (arecord, sox).
    private static func isUnknown(_ size: Int) -> Bool { size == 0 || size >= 0x7FFF_0000 }

    private static func bytes(_ descriptor: Int32, at offset: Int, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return pread(descriptor, &bytes, count, offset) == count ? bytes : nil
    }

    /// An unsigned number of up to 8 bytes, clamped to the largest `Int`.
    private static func number(_ bytes: ArraySlice<UInt8>, bigEndian: Bool) -> Int {
        let ordered = bigEndian ? Array(bytes) : bytes.reversed()
        return Int(clamping: ordered.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    /// Searches libsndfile's log for a line such as `Data Size : 142084 (should be 85232)`.
    private static func shortage(inLog log: String) -> Shortage? {
        for line in log.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count >= 6, let colon = fields.firstIndex(of: ":"), colon + 4 < fields.count,
                fields[colon + 2] == "(should", fields[colon + 3] == "be",
                let declared = Int(digits: fields[colon + 1]), !isUnknown(declared),
                let present = Int(digits: fields[colon + 4].dropLast()), declared > present
            else { continue }
            return Shortage(what: "in all", declared: declared, present: present)
        }
        return nil
    }
}
