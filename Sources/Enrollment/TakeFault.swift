private import Core
import Spotting

/// What is wrong with a take, so that it teaches nothing.
public enum TakeFault: Sendable, Equatable, CustomStringConvertible {
    /// Nobody speaks in it.
    case nothing
    /// Level of the speech, in dB relative to full scale.
    case tooQuiet(Double)
    /// Share of the speech's samples that are cut flat.
    case clipped(Double)
    /// It begins, or ends, in the middle of a sound.
    case cutOff(atStart: Bool)
    /// Seconds.
    case tooShort(Double)
    /// Seconds, and how many it may last.
    case tooLong(Double, longest: Double)
    /// Similarity with the other takes, −1…1.
    case unlike(Float)

    /// Why, and what to do about it.
    public var description: String {
        switch self {
        case .nothing: "nothing is said in it"
        case .tooQuiet(let level): "too quiet (\(decimal(level, 0)) dB); speak up, or come nearer"
        case .clipped(let share): "clipped (\(decimal(share * 100, 1)) % of it); turn the gain down, or step back"
        case .cutOff(atStart: true): "cut off at its start; begin to speak after the recording has begun"
        case .cutOff(atStart: false): "cut off at its end; let the recording go on a little longer"
        case .tooShort(let seconds): "too short (\(decimal(seconds, 2)) s); say the whole word"
        case .tooLong(let seconds, let longest):
            "too long (\(decimal(seconds, 1)) s); say it within \(decimal(longest, 0)) s"
        case .unlike(let likeness): "unlike the others (likeness \(decimal(Double(likeness), 2))); say it as before"
        }
    }
}

/// What can be told of one utterance alone: how loud it is, and whether it is whole.
public struct TakeCheck: Sendable {
    public static let longest = 2.0
    public static let shortest = 0.12
    /// Level that speech has at least, in dB relative to full scale.
    static let leastLevel = -50.0
    /// Share of samples at full scale from which on speech sounds otherwise than it is.
    static let clippedShare = 0.004
    /// At a whole word's edge the sound is this much quieter than the word, in dB.
    static let edgeDrop = 9.0

    /// Level of the speech, in dB relative to full scale.
    public let level: Double
    /// Highest sample, 0…1.
    public let peak: Float
    public let fault: TakeFault?

    public init(_ utterance: Utterance) {
        let speech = utterance.samples[utterance.speech]
        level = decibels(amplitude: Enrollment.level(speech))
        peak = speech.reduce(0) { max($0, abs($1)) }
        fault = TakeCheck.fault(utterance, level: level, peak: peak)
    }

    private static func fault(_ utterance: Utterance, level: Double, peak: Float) -> TakeFault? {
        let seconds = utterance.seconds
        if seconds > longest { return .tooLong(seconds, longest: longest) }
        if seconds < shortest { return .tooShort(seconds) }
        if level < leastLevel { return .tooQuiet(level) }
        let clipped = clippedShare(utterance.samples[utterance.speech], peak: peak)
        if clipped > clippedShare { return .clipped(clipped) }
        // The first or last moment is as loud as the word itself: there was more of it.
        let edge = 160
        let samples = utterance.samples
        guard samples.count > 4 * edge else { return .tooShort(seconds) }
        func isLoud(_ part: ArraySlice<Float>) -> Bool {
            decibels(amplitude: Enrollment.level(part)) > level - edgeDrop
        }
        if utterance.speech.lowerBound < edge, isLoud(samples.prefix(edge)) { return .cutOff(atStart: true) }
        if utterance.speech.upperBound > samples.count - edge, isLoud(samples.suffix(edge)) {
            return .cutOff(atStart: false)
        }
        return nil
    }

    /// Samples in runs of three or more at the highest level, where that is near full scale: a wave cut flat.
    private static func clippedShare(_ speech: ArraySlice<Float>, peak: Float) -> Double {
        guard peak > 0.95, !speech.isEmpty else { return 0 }
        var flat = 0
        var run = 0
        for sample in speech {
            if abs(sample) > peak * 0.995 {
                run += 1
                if run == 3 { flat += 3 } else if run > 3 { flat += 1 }
            } else {
                run = 0
            }
        }
        return Double(flat) / Double(speech.count)
    }
}
