private import CMPG123
private import Glibc

/// MPEG audio, decoded by libmpg123 to its real end.
///
/// libsndfile ends where its estimate of the length ends, prints libmpg123's warnings, and does not tell which bytes were passed over.
struct MPEGDecoder: ~Copyable {
    private let handle: OpaquePointer
    private let view: FileView
    /// Without a value here: Swift 6.2.3 fails to compile an `init` that fails behind it.
    private let state: State
    /// Its frames are by the header of the first frame, which some encoders write, or by its bit rate.
    let header: PartHeader
    private var channels: Int { header.channels }

    private final class State {
        var samples: UnsafePointer<Float>?
        var left = 0
        /// Where in the view the last frame ends that was read.
        var end = 0
        var passedOver: Range<Int>?
        /// Other audio follows in the stream.
        var change: String?
        var hasEnded = false
    }

    /// The first calls set up tables; later ones do nothing.
    private static let library: Void = { _ = mpg123_init() }()

    /// - Parameters:
    ///   - first: where in the view the first frame begins.
    /// - Returns: nil if libmpg123 finds no audio.
    init?(_ view: FileView, first: Int) {
        _ = Self.library
        guard let handle = CMPG123_new() else { return nil }
        // Before libmpg123 reads on from where it is.
        let hasLength = Self.hasLength(view, first)
        let status = CMPG123_open(
            handle,
            { context, target, count in
                guard let view = FileView.of(context), let target else { return -1 }
                return view.read(target, count)
            },
            { context, offset, whence in
                guard let view = FileView.of(context), view.seek(Int(offset), whence) else { return -1 }
                return off_t(view.position)
            },
            view.context
        )
        var (rate, channels, encoding) = (0, Int32(0), Int32(0))
        guard status == MPG123_OK.rawValue,
            mpg123_getformat(handle, &rate, &channels, &encoding) == MPG123_OK.rawValue,
            Int(encoding) == Int(MPG123_ENC_FLOAT_32.rawValue), rate > 0, (1...2).contains(channels)
        else {
            mpg123_delete(handle)
            return nil
        }
        let length = Int(CMPG123_length(handle))
        let frames = length > 0 ? length : nil
        header = PartHeader(
            sampleRate: rate,
            channels: Int(channels),
            frames: frames,
            declaredFrames: hasLength ? frames : nil,
            format: "MPEG layer " + String(repeating: "I", count: max(1, min(3, Int(CMPG123_layer(handle))))),
            checksSamples: true
        )
        self.handle = handle
        self.view = view
        state = State()
        state.end = first
    }

    deinit { mpg123_delete(handle) }

    var end: PartEnd { PartEnd(position: state.end, passedOver: state.passedOver, change: state.change) }

    /// Reads interleaved frames. Returns their number; less than `frames` only at the end or at damage.
    func read(into target: UnsafeMutablePointer<Float>, frames: Int, of file: borrowing RegularFile) -> Int {
        let wanted = frames * channels
        var done = 0
        while done < wanted {
            if let samples = state.samples, state.left > 0 {
                let count = min(wanted - done, state.left)
                for index in 0..<count { target[done + index] = samples[index] }
                state.samples = samples + count
                state.left -= count
                done += count
                continue
            }
            guard !state.hasEnded else { break }
            decode(file)
        }
        return done / channels
    }

    private func decode(_ file: borrowing RegularFile) {
        var audio: UnsafeMutablePointer<UInt8>?
        var bytes = 0
        let status = CMPG123_decode_frame(handle, &audio, &bytes)
        if status == MPG123_NEW_FORMAT.rawValue {
            var (rate, count, encoding) = (0, Int32(0), Int32(0))
            _ = mpg123_getformat(handle, &rate, &count, &encoding)
            guard rate == header.sampleRate, Int(count) == channels else {
                state.change = "\(rate) Hz, channels: \(count)"
                state.hasEnded = true
                return
            }
        } else if status != MPG123_OK.rawValue {
            state.hasEnded = true
            return
        }
        let start = Int(CMPG123_frame_position(handle))
        let size = Int(CMPG123_frame_size(handle))
        if start > state.end { passOver(state.end..<min(start, view.count), file) }
        if size > 0, start + size > state.end { state.end = min(start + size, view.count) }
        guard let audio, bytes > 0 else { return }
        let count = bytes / MemoryLayout<Float>.stride
        // libmpg123's buffer is aligned for its samples.
        state.samples = UnsafeRawPointer(audio).assumingMemoryBound(to: Float.self)
        state.left = count / channels * channels
    }

    /// Notes bytes that libmpg123 did not decode, unless they are tags, padding, or a frame with a description of the stream.
    private func passOver(_ bytes: Range<Int>, _ file: borrowing RegularFile) {
        let base = view.range.lowerBound
        let end = FileRest.endOfTags(in: file, from: base + bytes.lowerBound)
        guard end < base + bytes.upperBound, let first = file.firstNonzero(in: end..<base + bytes.upperBound) else {
            return
        }
        let head = file.bytes(at: first, count: 256)
        guard !(Magic.isFrame(head[...]) && Self.descriptionPlace(head) != nil) else { return }
        let start = state.passedOver?.lowerBound ?? first - base
        state.passedOver = start..<bytes.upperBound
    }

    /// Whether the first frame gives the number of frames: `Xing` or `Info` (Xing's "VBR header"), or `VBRI` (Fraunhofer).
    private static func hasLength(_ view: FileView, _ first: Int) -> Bool {
        _ = view.seek(first, SEEK_SET)
        defer { _ = view.seek(0, SEEK_SET) }
        var head = [UInt8](repeating: 0, count: 256)
        let count = head.withUnsafeMutableBytes { $0.baseAddress.map { view.read($0, 256) } ?? 0 }
        guard let place = descriptionPlace(Array(head.prefix(count))), place + 12 <= head.count else { return false }
        if head[place...].starts(with: "VBRI".utf8) { return true }
        return head[place + 7] & 1 == 1 && head[place + 8..<place + 12].contains { $0 != 0 }
    }

    private static func descriptionPlace(_ head: [UInt8]) -> Int? {
        (0..<max(0, min(head.count - 12, 64))).first { place in
            ["Xing", "Info", "VBRI"].contains { head[place...].starts(with: $0.utf8) }
        }
    }
}
