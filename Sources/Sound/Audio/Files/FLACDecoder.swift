private import CFLAC
private import Glibc

/// A stream of FLAC, as such or in Ogg, decoded by libFLAC to its real end, whatever number of samples its header declares.
///
/// libsndfile cannot read FLAC in Ogg, ends where the header says, and does not tell where in the file it is.
struct FLACDecoder: ~Copyable {
    private let handle: UnsafeMutablePointer<FLAC__StreamDecoder>
    private let state: State

    /// What libFLAC's callbacks share with the decoder.
    private final class State {
        let view: FileView
        let isOgg: Bool
        var sampleRate = 0
        var channels = 0
        var bits = 0
        var declaredFrames = 0
        /// Decoded samples, interleaved; those from `used` on have not been read.
        var samples: [Float] = []
        var used = 0
        /// Other frames than the header describes, or a damaged one.
        var fault: String?

        init(_ view: FileView, isOgg: Bool) {
            self.view = view
            self.isOgg = isOgg
        }

        static func of(_ context: UnsafeMutableRawPointer?) -> State? {
            context.map { Unmanaged<State>.fromOpaque($0).takeUnretainedValue() }
        }
    }

    /// Nil if there is no header that libFLAC understands.
    init?(_ view: FileView, isOgg: Bool) {
        guard CFLAC_load(), let handle = CFLAC_decoder_new() else { return nil }
        let state = State(view, isOgg: isOgg)
        let context = Unmanaged.passUnretained(state).toOpaque()
        _ = view.seek(0, SEEK_SET)
        let status = CFLAC_decoder_init(
            handle,
            isOgg,
            { _, target, count, context in
                guard let state = State.of(context), let target, let count else {
                    return FLAC__STREAM_DECODER_READ_STATUS_ABORT
                }
                count.pointee = state.view.read(target, count.pointee)
                return count.pointee == 0
                    ? FLAC__STREAM_DECODER_READ_STATUS_END_OF_STREAM : FLAC__STREAM_DECODER_READ_STATUS_CONTINUE
            },
            { _, position, context in
                guard let state = State.of(context), let position else { return FLAC__STREAM_DECODER_TELL_STATUS_ERROR }
                position.pointee = FLAC__uint64(state.view.position)
                return FLAC__STREAM_DECODER_TELL_STATUS_OK
            },
            { _, context in State.of(context).map { $0.view.position >= $0.view.count } == true ? 1 : 0 },
            { _, frame, channels, context in
                guard let state = State.of(context), let frame, let channels else {
                    return FLAC__STREAM_DECODER_WRITE_STATUS_ABORT
                }
                return FLACDecoder.write(frame, channels, state)
                    ? FLAC__STREAM_DECODER_WRITE_STATUS_CONTINUE : FLAC__STREAM_DECODER_WRITE_STATUS_ABORT
            },
            { _, metadata, context in
                guard let state = State.of(context), let metadata,
                    metadata.pointee.type == FLAC__METADATA_TYPE_STREAMINFO
                else { return }
                let info = metadata.pointee.data.stream_info
                (state.sampleRate, state.channels) = (Int(info.sample_rate), Int(info.channels))
                state.bits = Int(info.bits_per_sample)
                state.declaredFrames = Int(clamping: info.total_samples)
            },
            { _, status, context in
                guard let state = State.of(context), state.fault == nil else { return }
                state.fault = FLACDecoder.text(status)
            },
            context
        )
        guard status == FLAC__STREAM_DECODER_INIT_STATUS_OK,
            CFLAC_decoder_process_until_end_of_metadata(handle) != 0, state.sampleRate > 0, state.channels > 0,
            (4...32).contains(state.bits), state.fault == nil
        else {
            CFLAC_decoder_delete(handle)
            return nil
        }
        self.handle = handle
        self.state = state
    }

    deinit { CFLAC_decoder_delete(handle) }

    var header: PartHeader {
        let frames = state.declaredFrames == 0 ? nil : state.declaredFrames
        return PartHeader(
            sampleRate: state.sampleRate,
            channels: state.channels,
            frames: frames,
            declaredFrames: frames,
            format: state.isOgg ? "Ogg FLAC" : "FLAC \(state.bits)-bit",
            declared: [24, 32].contains(state.bits) ? .integers(bits: state.bits) : nil
        )
    }

    var end: PartEnd {
        PartEnd(problem: state.fault.map { "libFLAC: \($0)" }, lacksEndOfStream: true, position: position)
    }

    /// Where in the view the last frame ends that was decoded; nil in Ogg.
    private var position: Int? {
        guard !state.isOgg else { return nil }
        var position: FLAC__uint64 = 0
        guard CFLAC_decoder_get_decode_position(handle, &position) != 0 else { return nil }
        return Int(clamping: position)
    }

    /// Reads interleaved frames. Returns their number; less than `frames` only at the end or at damage.
    func read(into target: UnsafeMutablePointer<Float>, frames: Int) -> Int {
        let wanted = frames * state.channels
        var done = 0
        while done < wanted {
            let count = min(wanted - done, state.samples.count - state.used)
            if count > 0 {
                let from = state.used
                state.samples.withUnsafeBufferPointer { samples in
                    for index in 0..<count { target[done + index] = samples[from + index] }
                }
                done += count
                state.used += count
                continue
            }
            // libFLAC would search for a frame in what follows the last one.
            guard state.fault == nil, isAtFrame else { break }
            guard CFLAC_decoder_process_single(handle) != 0,
                CFLAC_decoder_get_state(handle) != FLAC__STREAM_DECODER_END_OF_STREAM
            else { break }
        }
        return done / state.channels
    }

    /// Whether a frame begins where the last one ended: its sync word of 14 bits, and a bit that is 0.
    private var isAtFrame: Bool {
        guard !state.isOgg, let position else { return true }
        return state.view.word(at: position) & 0xFFFE == 0xFFF8
    }

    private static func write(
        _ frame: UnsafePointer<FLAC__Frame>,
        _ channels: UnsafePointer<UnsafePointer<FLAC__int32>?>,
        _ state: State
    ) -> Bool {
        let header = frame.pointee.header
        guard Int(header.channels) == state.channels, Int(header.sample_rate) == state.sampleRate,
            Int(header.bits_per_sample) == state.bits
        else {
            state.fault = "its format changes within the stream"
            return false
        }
        // A damaged frame is given as silence after it was reported.
        guard state.fault == nil else { return false }
        let (count, size) = (Int(header.channels), Int(header.blocksize))
        let scale = 1 / Float(UInt64(1) << UInt64(state.bits - 1))
        if state.samples.count != count * size { state.samples = [Float](repeating: 0, count: count * size) }
        state.used = 0
        state.samples.withUnsafeMutableBufferPointer { samples in
            for channel in 0..<count {
                guard let source = channels[channel] else { continue }
                for index in 0..<size { samples[index * count + channel] = Float(source[index]) * scale }
            }
        }
        return true
    }

    private static func text(_ status: FLAC__StreamDecoderErrorStatus) -> String {
        switch status {
        case FLAC__STREAM_DECODER_ERROR_STATUS_LOST_SYNC: "it loses sync"
        case FLAC__STREAM_DECODER_ERROR_STATUS_BAD_HEADER: "a frame has a damaged header"
        case FLAC__STREAM_DECODER_ERROR_STATUS_FRAME_CRC_MISMATCH: "the checksum of a frame is wrong"
        default: "a frame cannot be parsed"
        }
    }
}
