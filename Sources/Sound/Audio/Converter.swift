import CSampleRate

/// A libsamplerate converter for one channel; if both rates are equal, it copies the samples.
///
/// The end-of-input flag of libsamplerate is never set. The caller feeds silence instead, which flushes all samples,
/// and decides how many of them it takes.
package struct Converter: ~Copyable {
    /// Nil: samples are copied.
    private let state: OpaquePointer?
    private let ratio: Double

    /// One of medium quality, between any two rates of a ratio from 1/256 to 256: for what is played.
    ///
    /// - Throws: ``AudioError/converter``.
    package init(from inputRate: Int, to outputRate: Int) throws(AudioError) {
        try self.init(kind: SRC_SINC_MEDIUM_QUALITY, from: inputRate, to: outputRate)
    }

    /// - Parameters:
    ///   - kind: One of libsamplerate's `SRC_SINC_…` constants.
    ///   - inputRate: In Hz.
    ///   - outputRate: In Hz.
    /// - Throws: ``AudioError/converter``.
    init(kind: Int, from inputRate: Int, to outputRate: Int) throws(AudioError) {
        ratio = Double(outputRate) / Double(inputRate)
        guard inputRate != outputRate else {
            state = nil
            return
        }
        var code: Int32 = 0
        state = src_new(Int32(kind), 1, &code)
        guard state != nil else {
            throw .converter.saying(
                "cannot convert from \(inputRate) to \(outputRate) Hz "
                    + "(src_new: \(Converter.text(of: code))); free memory or choose another quality"
            )
        }
    }

    deinit {
        if let state { src_delete(state) }
    }

    func reset() throws(AudioError) {
        guard let state else { return }
        let code = src_reset(state)
        guard code == 0 else {
            throw .converter.saying("cannot reset the converter (src_reset: \(Converter.text(of: code)))")
        }
    }

    /// Converts until the input is used up or the output is full.
    package func run(
        _ input: UnsafeBufferPointer<Float>,
        _ output: UnsafeMutableBufferPointer<Float>
    ) throws(AudioError) -> Resampler.Progress {
        guard let state else {
            let count = min(input.count, output.count)
            for index in 0..<count { output[index] = input[index] }
            return Resampler.Progress(consumed: count, produced: count)
        }
        var data = SRC_DATA()
        data.data_in = input.baseAddress
        data.data_out = output.baseAddress
        data.input_frames = input.count
        data.output_frames = output.count
        data.src_ratio = ratio
        let code = src_process(state, &data)
        guard code == 0 else {
            throw .converter.saying(
                "cannot convert audio (src_process: \(Converter.text(of: code))); reset and start again"
            )
        }
        return Resampler.Progress(consumed: data.input_frames_used, produced: data.output_frames_gen)
    }

    private static func text(of code: Int32) -> String {
        src_strerror(code).map { String(cString: $0) } ?? "error \(code)"
    }
}
