import CSpeexDSP
import Core

/// The adaptive filter of libspeexdsp at 16 kHz: it learns how what is played sounds at the microphone, and subtracts that.
///
/// Nothing allocates after `init`.
struct EchoFilter: ~Copyable {
    /// Samples of a frame, 10 ms.
    static let frame = 160

    private let library: CSpeexDSP
    /// Nil for a filter that does nothing.
    private let state: OpaquePointer?
    private var heard: [Int16]
    private var played: [Int16]
    private var rest: [Int16]

    /// - Parameter seconds: length of the filter; nil for one that does nothing.
    init(seconds: Double?) throws(EchoError) {
        // First what may fail: Swift 6.2.3 fails to compile that behind the arrays.
        (library, state) = try Self.load(seconds)
        heard = [Int16](repeating: 0, count: state == nil ? 0 : Self.frame)
        (played, rest) = (heard, heard)
    }

    /// The library, and its state for a filter of this length.
    private static func load(_ seconds: Double?) throws(EchoError) -> (CSpeexDSP, OpaquePointer?) {
        var library = CSpeexDSP()
        guard let seconds else { return (library, nil) }
        guard CSpeexDSP_load(&library), let make = library.make else {
            throw .noLibrary
        }
        let length = Int32((seconds * Double(AudioFormat.sampleRate)).rounded())
        guard let state = make(Int32(frame), length) else { throw .noMemory }
        CSpeexDSP_set_rate(&library, state, Int32(AudioFormat.sampleRate))
        return (library, state)
    }

    deinit { if let state { library.destroy?(state) } }

    /// Forgets what was learnt.
    mutating func reset() { if let state { library.reset?(state) } }

    /// Removes the echo from a frame.
    ///
    /// - Parameters:
    ///   - block: of which the frame begins at `start`.
    ///   - reference: what was played, at the same places.
    mutating func cancel(in block: inout MutableSpan<Float>, at start: Int, reference: [Float]) {
        for index in 0..<Self.frame {
            heard[index] = Self.integer(block[start + index])
            played[index] = Self.integer(reference[start + index])
        }
        library.cancel?(state, heard, played, &rest)
        for index in 0..<Self.frame { block[start + index] = Float(rest[index]) / 32768 }
    }

    private static func integer(_ sample: Float) -> Int16 {
        Int16(max(-32768, min(32767, (sample * 32768).rounded())))
    }
}
