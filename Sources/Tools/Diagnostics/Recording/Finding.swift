private import Audio

/// A defect of a recording that may prevent words from being detected.
public struct Finding: Sendable, Equatable {
    /// The raw values are the names in JSON output.
    public enum Kind: String, Sendable, CaseIterable {
        case digitalSilence = "digital-silence"
        case cancellingChannels = "cancelling-channels"
        case dropouts
        case clipped
        case tooQuiet = "too-quiet"
        case littleContrast = "little-contrast"
        case offset = "dc-offset"
        case hum
        case narrowBand = "narrow-band"
    }

    public let kind: Kind
    /// Whether words are likely to be missed because of it.
    public let isSerious: Bool
    /// What was found, in one line.
    public let title: String
    /// What it means for the detection of words.
    public let meaning: String
    /// What the user can do.
    public let remedy: String

    /// All findings of a recording, the serious ones first.
    public static func all(in report: SignalReport) -> [Finding] {
        if report.levels.overall <= Levels.least, report.offset == 0 { return [silence] }
        let found =
            [clipped(report), tooQuiet(report), littleContrast(report), narrowBand(report)].compactMap { $0 }
            + [hum(report), offset(report), dropouts(report), opposite(report)].compactMap { $0 }
        return found.filter(\.isSerious) + found.filter { !$0.isSerious }
    }

    private static let silence = Finding(
        kind: .digitalSilence,
        isSerious: true,
        title: "Digital silence: every sample is zero",
        meaning: "Nothing was recorded at all; even a silent room gives some noise.",
        remedy: "Look for a muted microphone, the wrong input or channel, or a missing permission to record."
    )

    private static func opposite(_ report: SignalReport) -> Finding? {
        guard let text = ChannelFaults.text(turned: report.faults.turned, dead: []) else { return nil }
        return Finding(
            kind: .cancellingChannels,
            isSerious: false,
            title: text.prefix(1).uppercased() + text.dropFirst(),
            meaning:
                "It is as if a microphone were wired the wrong way round; the channels would cancel each other otherwise.",
            remedy: "Wire it the right way round for other programs; Beckon needs no change."
        )
    }

    private static func dropouts(_ report: SignalReport) -> Finding? {
        guard report.silentShare >= 0.1 else { return nil }
        return Finding(
            kind: .dropouts,
            isSerious: false,
            title: "\(percentage(report.silentShare)) of the recording is digital silence",
            meaning: "Stretches of exact zeros come from editing, from a noise gate, or from audio that was lost.",
            remedy: "If this is a live recording, switch noise suppression off and look for dropped audio."
        )
    }

    private static func clipped(_ report: SignalReport) -> Finding? {
        guard report.clippedShare >= 0.0001 else { return nil }
        return Finding(
            kind: .clipped,
            isSerious: report.clippedShare >= 0.005,
            title: "\(percentage(report.clippedShare)) of the samples are clipped",
            meaning:
                "The sound was louder than the recording can hold, so its peaks are cut off; this distorts the words.",
            remedy:
                "Turn down the microphone's gain, or move away from it, until the loudest words peak at about −6 dBFS."
        )
    }

    private static func tooQuiet(_ report: SignalReport) -> Finding? {
        guard report.levels.loudest < -40 else { return nil }
        return Finding(
            kind: .tooQuiet,
            isSerious: report.levels.loudest < -50,
            title: "Very quiet: the loudest part is at \(tenths(report.levels.loudest)) dBFS",
            meaning: "Words this faint may not stand out from the noise of the microphone itself.",
            remedy: "Turn up the microphone's gain or speak closer to it; −30 to −15 dBFS is usual for speech."
        )
    }

    private static func littleContrast(_ report: SignalReport) -> Finding? {
        let contrast = report.levels.loudest - report.levels.floor
        guard report.seconds >= 0.5, contrast < 10 else { return nil }
        return Finding(
            kind: .littleContrast,
            isSerious: false,
            title: "The loudest part is only \(tenths(contrast)) dB above the quietest",
            meaning: "Either nothing is said here, or the background is nearly as loud as the voice.",
            remedy: "Bring the microphone closer to the speaker, or reduce other sounds."
        )
    }

    private static func offset(_ report: SignalReport) -> Finding? {
        guard abs(report.offset) >= 0.01 else { return nil }
        return Finding(
            kind: .offset,
            isSerious: abs(report.offset) >= 0.1,
            title: "The signal has a DC offset of \(tenths(abs(report.offset) * 100)) % of full scale",
            meaning: "A constant voltage is added to the sound; it leaves less range for sound and causes clicks.",
            remedy: "Use another sound card or input, or a high-pass filter of 20 Hz or so."
        )
    }

    private static func hum(_ report: SignalReport) -> Finding? {
        guard let hum = report.hum else { return nil }
        return Finding(
            kind: .hum,
            isSerious: hum.level > -30,
            title: "Mains hum: a steady tone of \(tenths(hum.hertz)) Hz at \(tenths(hum.level)) dBFS",
            meaning: "The recording contains hum of the power line; loud hum hides the low parts of voices.",
            remedy:
                "Try another power supply, a shorter or shielded cable, or a microphone with its own converter (USB)."
        )
    }

    private static func narrowBand(_ report: SignalReport) -> Finding? {
        guard let highest = report.highestHertz, highest < 5000 else { return nil }
        let cause =
            report.sampleRate < 12_000
            ? "The file has \(report.sampleRate) samples per second, which cannot hold higher frequencies."
            : "This is typical of a telephone, a Bluetooth headset, or a recording made at a low sample rate and "
                + "converted."
        return Finding(
            kind: .narrowBand,
            isSerious: false,
            title: "There is no sound above \(tenths(highest / 1000)) kHz",
            meaning: cause + " Sounds such as s and f, which lie higher, are missing.",
            remedy: "Record at 16 000 samples a second or more, by wire or with the microphone built in."
        )
    }

    /// A number with at most one decimal.
    private static func tenths(_ value: Double) -> String {
        let text = "\((abs(value) * 10).rounded() / 10)"
        return (value < 0 ? "−" : "") + (text.hasSuffix(".0") ? text.dropLast(2) : text[...])
    }

    private static func percentage(_ share: Double) -> String {
        share < 0.001 ? "less than 0.1 %" : "\(tenths(share * 100)) %"
    }
}
