/// A part of the engine that is measured separately.
public enum BenchStage: String, CaseIterable, Sendable {
    case resample48 = "resample-48000"
    case resample44 = "resample-44100"
    case logMel = "log-mel"
    case network = "cnn"
    case gate = "gate"
    case hop = "hop"
    case hopOneWord = "hop-1-word"
    case hopHundredWords = "hop-100-words"
    case streams = "streams"
    case batch = "streams-batched"
    case windowNetwork = "window-cnn"
    case window = "window"
    case look = "look"
    case wordLook = "look-1-word"
    case soundLook = "look-typed"
    case peak = "fma-peak"

    /// What one unit of the stage computes, for the table.
    public var meaning: String {
        switch self {
        case .resample48: "100 ms of 48 kHz to 16 kHz"
        case .resample44: "100 ms of 44.1 kHz to 16 kHz"
        case .logMel: "a hop's new columns"
        case .network: "the network's new columns"
        case .gate: "smoother, gate and phrases, a hop"
        case .hop: "1600 samples in to decision out"
        case .hopOneWord: "the same, and a word of the user's own"
        case .hopHundredWords: "the same, and a hundred of them"
        case .streams: "the same, many streams in turn"
        case .batch: "the same, all streams at once"
        case .windowNetwork: "the network over a second"
        case .window: "log-mel and network over a second"
        case .look: "all confirming networks over a proposal"
        case .wordLook: "a word of the user's own over a proposal"
        case .soundLook: "the sounds of two seconds, for typed words"
        case .peak: "multiply-adds of floats in registers"
        }
    }
}
