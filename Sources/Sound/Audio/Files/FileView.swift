import Glibc

/// A part of a file as a decoder reads it: a range of its bytes, of which some are replaced.
///
/// A decoder of C keeps a pointer to it, so it is an object. It reads by offset: what it shares with others is only the descriptor,
/// which stays open as long as its owner does.
final class FileView {
    /// Bytes that a decoder sees in place of the file's.
    struct Patch: Equatable {
        /// In the file.
        var offset: Int
        var bytes: [UInt8]
    }

    private let descriptor: Int32
    /// The offsets in the file.
    let range: Range<Int>
    private let patches: [Patch]
    /// Counted from the beginning of the view.
    private(set) var position = 0
    /// The errno of a read that failed; 0 if none did.
    private(set) var failure: Int32 = 0

    init(_ file: borrowing RegularFile, _ range: Range<Int>, patches: [Patch] = []) {
        descriptor = file.descriptor
        self.range = range
        self.patches = patches
    }

    var count: Int { range.count }

    /// Reads and goes on; returns the bytes read, 0 at the end.
    func read(_ target: UnsafeMutableRawPointer, _ wanted: Int) -> Int {
        var done = 0
        let start = range.lowerBound + position
        while done < wanted, start + done < range.upperBound {
            let most = min(wanted - done, range.upperBound - start - done)
            let count = pread(descriptor, target + done, most, start + done)
            if count < 0, errno == EINTR { continue }
            if count < 0 { failure = errno }
            guard count > 0 else { break }
            done += count
        }
        for patch in patches {
            for (index, byte) in patch.bytes.enumerated() where (start..<start + done).contains(patch.offset + index) {
                target.storeBytes(of: byte, toByteOffset: patch.offset + index - start, as: UInt8.self)
            }
        }
        position += done
        return done
    }

    /// Two bytes, the first one high, and 0 behind the end. The position does not change.
    func word(at place: Int) -> UInt16 {
        var word: UInt16 = 0
        guard place >= 0, place + 2 <= count, pread(descriptor, &word, 2, range.lowerBound + place) == 2 else {
            return 0
        }
        return UInt16(bigEndian: word)
    }

    /// Goes to a position, which may be behind the end, where nothing can be read; returns whether it exists.
    func seek(_ offset: Int, _ whence: Int32) -> Bool {
        let base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? position : count
        let (place, overflows) = base.addingReportingOverflow(offset)
        guard !overflows, (0...1 << 60).contains(place) else { return false }
        position = place
        return true
    }

    /// The view behind a pointer that a decoder was given.
    static func of(_ context: UnsafeMutableRawPointer?) -> FileView? {
        context.map { Unmanaged<FileView>.fromOpaque($0).takeUnretainedValue() }
    }

    /// For a decoder, which does not own it.
    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }
}

extension RegularFile {
    /// Bytes at an offset; fewer at the end of the file.
    func bytes(at offset: Int, count: Int) -> [UInt8] {
        guard offset >= 0, offset < size else { return [] }
        return [UInt8](unsafeUninitializedCapacity: min(count, size - offset)) { buffer, filled in
            while filled < buffer.count, let base = buffer.baseAddress {
                let read = pread(descriptor, base + filled, buffer.count - filled, offset + filled)
                if read < 0, errno == EINTR { continue }
                guard read > 0 else { break }
                filled += read
            }
        }
    }

    func has(_ text: String, at offset: Int) -> Bool {
        bytes(at: offset, count: text.utf8.count).elementsEqual(text.utf8)
    }

    /// The offset of the first byte of a range that is not 0; nil if all are.
    func firstNonzero(in range: Range<Int>) -> Int? {
        var start = range.lowerBound
        while start < range.upperBound {
            let piece = bytes(at: start, count: min(1 << 16, range.upperBound - start))
            if let index = piece.firstIndex(where: { $0 != 0 }) { return start + index }
            guard !piece.isEmpty else { return nil }
            start += piece.count
        }
        return nil
    }
}
