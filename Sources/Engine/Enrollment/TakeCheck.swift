private import Core
import Spotting

/// Why a take cannot be used.
public enum TakeFault: Sendable, Equatable, CustomStringConvertible {
    case noSpeech
    /// Level of the speech, in dB FS.
    case tooQuiet(Double)
    /// Share of the speech's samples that are clipped, 0…1.
    case clipped(Double)
    /// The recording begins, or ends, in the middle of the word.
    case cutOff(atStart: Bool)
    /// Duration in seconds.
    case tooShort(Double)
    /// Duration and its limit, in seconds.
    case tooLong(Double, longest: Double)
    /// The take, counted from 1, of which it is a copy.
    case copy(ofTake: Int)
    /// It sounds nothing like this word of the model; `heard` is the word of the model that it sounds like, if there is one.
    case otherWord(String, heard: String?)
    /// It does not sound like this name as it is spelled.
    case otherName(String)
    /// Similarity to the other takes, −1…1.
    case outlier(similarity: Float)
    /// Speech to noise, in dB.
    case noisy(Double)
    /// Said otherwise than most people say this word.
    case untypical(String)

    /// What is wrong, and what to do about it.
    public var description: String {
        switch self {
        case .otherWord: "\(plain), or --force takes it all the same"
        case .otherName(let name): "does not sound like '\(name)'; say '\(name)', or --force takes it all the same"
        default: plain
        }
    }

    /// The same for those who have no command line, such as users of the live page: without options.
    public var plain: String {
        switch self {
        case .noSpeech: "no speech was found in it"
        case .tooQuiet(let level): "too quiet (\(decimal(level, 0)) dB); speak louder or come nearer"
        case .clipped(let share): "clipped (\(decimal(share * 100, 1)) % of it); reduce the gain or step back"
        case .cutOff(atStart: true): "cut off at its start; begin to speak after the recording has begun"
        case .cutOff(atStart: false): "cut off at its end; let the recording run a little longer"
        case .tooShort(let seconds): "too short (\(decimal(seconds, 2)) s); say the whole word"
        case .tooLong(let seconds, let longest):
            "too long (\(decimal(seconds, 1)) s); say it within \(decimal(longest, 0)) s"
        case .copy(let take): "the same recording as take \(take), which counts once; say or record the word again"
        case .otherWord(let word, let heard?):
            "sounds like '\(heard)', not like '\(word)'; say '\(word)'"
        case .otherWord(let word, nil):
            "sounds nothing like '\(word)', which the model knows; say '\(word)', or choose another name"
        case .otherName(let name):
            "does not sound like '\(name)'; say '\(name)'. Said the same way once more, it is used"
        case .noisy(let ratio):
            "noisy (the word is only \(decimal(ratio, 0)) dB above the noise); say it in a quieter moment, or nearer"
        case .untypical(let word):
            "not as most people say '\(word)', or not clear; say it once more"
        case .outlier(let similarity):
            "unlike the other takes (similarity \(decimal(Double(similarity), 2))); say it as before"
        }
    }
}

/// Checks the level and completeness of one utterance.
public struct TakeCheck: Sendable {
    /// Limits of the speech's duration, in seconds.
    public static let longest = 2.0
    public static let shortest = 0.12
    /// Minimum level of speech, in dB FS.
    private static let leastLevel = -50.0
    /// Largest share of clipped samples, 0…1, of a take that can be said again, and of a recording: better than none, it teaches
    /// the word hardly worse than others.
    public static let mostClipped = 0.004
    public static let mostClippedInFile = 0.25
    /// Speech that is shorter than this and hardly louder than what follows, in seconds and dB, is the beginning of a noise.
    private static let (noiseOnset, noiseDrop) = (0.3, 5.0)
    /// The edge of a complete word is at least this much quieter than the word, in dB.
    private static let edgeDrop = 9.0

    /// Level of the speech, in dB FS.
    public let level: Double
    /// Largest magnitude of the speech's samples, 0…1.
    public let peak: Float
    /// What is wrong with it; nil if it can be used.
    public let fault: TakeFault?

    /// Share of the speech's samples that are clipped, 0…1.
    public let clipped: Double
    /// Level of the speech above that of the quietest 50 ms of the recording, in dB; nil where it has next to nothing but speech.
    public let signalToNoise: Double?

    /// Below it a take is noisy, in dB.
    private static let leastSignalToNoise = 10.0
    /// Samples beside the speech from which there is a noise to compare with.
    private static let leastMargin = 1600

    /// Whether it is worth asking for another take, though this one can be used; nil if it is not.
    public var doubt: TakeFault? {
        signalToNoise.flatMap { $0 < Self.leastSignalToNoise ? .noisy($0) : nil }
    }

    /// - Parameter mostClipped: largest share of clipped samples, 0…1.
    public init(_ utterance: Utterance, mostClipped: Double = TakeCheck.mostClipped) {
        let speech = utterance.samples[utterance.speech]
        level = decibels(amplitude: rms(speech))
        peak = speech.reduce(0) { max($0, abs($1)) }
        clipped = Self.clippedShare(speech, peak: peak)
        let noise = UtteranceSegmenter.noiseLevel(utterance.samples)
        let hasMargin = utterance.samples.count - speech.count >= Self.leastMargin
        signalToNoise = hasMargin && noise > 0 ? level - decibels(amplitude: noise) : nil
        fault = Self.fault(utterance, level: level) ?? (clipped > mostClipped ? .clipped(clipped) : nil)
    }

    private static func fault(_ utterance: Utterance, level: Double) -> TakeFault? {
        let seconds = utterance.seconds
        if seconds > longest { return .tooLong(seconds, longest: longest) }
        if seconds < shortest { return .tooShort(seconds) }
        if level < leastLevel { return .tooQuiet(level) }
        // 50 ms after the speech, a word's end has died away.
        let after = utterance.samples[utterance.speech.upperBound...].dropFirst(800)
        if seconds < noiseOnset, after.count >= 1600, decibels(amplitude: rms(after)) > level - noiseDrop {
            return .noSpeech
        }
        // 10 ms. If the edge of the recording is as loud as the word, the word is cut off there.
        let edge = 160
        let samples = utterance.samples
        guard samples.count > 4 * edge else { return .tooShort(seconds) }
        func isLoud(_ part: ArraySlice<Float>) -> Bool { decibels(amplitude: rms(part)) > level - edgeDrop }
        if utterance.speech.lowerBound < edge, isLoud(samples.prefix(edge)) { return .cutOff(atStart: true) }
        if utterance.speech.upperBound > samples.count - edge, isLoud(samples.suffix(edge)) {
            return .cutOff(atStart: false)
        }
        return nil
    }

    /// Share of samples in runs of three or more within 0.5 % of the peak, if the peak is near full scale.
    private static func clippedShare(_ speech: ArraySlice<Float>, peak: Float) -> Double {
        guard peak > 0.95, !speech.isEmpty else { return 0 }
        var clipped = 0
        var run = 0
        for sample in speech {
            if abs(sample) > peak * 0.995 {
                run += 1
                if run == 3 { clipped += 3 } else if run > 3 { clipped += 1 }
            } else {
                run = 0
            }
        }
        return Double(clipped) / Double(speech.count)
    }
}
