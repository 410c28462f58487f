private import Core
private import Phonemes
public import Spotting

/// How a typed word is said, and what to expect of it, for those who read it.
public struct TypedWordReport: Sendable {
    /// Moments of talk that are named, the nearest first, and the frames that a word may take.
    private static let moments = 3
    private static let framesOfWord = 45

    public let word: TypedWord
    public let calibration: TypedWordCalibration
    /// In IPA, with spaces between sounds.
    public let pronunciations: [String]
    /// What the network heard in the talk that is nearest, likewise; and as a reader of English would say it.
    public let nearest: [String]
    public let respelled: [String]

    public init(_ word: TypedWord, _ calibration: TypedWordCalibration, _ teacher: TypedWordTeacher) {
        (self.word, self.calibration) = (word, calibration)
        let pronouncer = teacher.pronouncer
        pronunciations = word.pronunciations.map(pronouncer.text)
        let heard = calibration.nearest.prefix(Self.moments)
            .map { teacher.talk.heard(before: $0.frame, frames: Self.framesOfWord) }
            .filter { $0.contains { $0 != pronouncer.boundary } }
        nearest = heard.map { pronouncer.text(Pronunciation($0.filter { $0 != pronouncer.boundary })) }
        respelled = heard.map(pronouncer.respelled)
    }

    /// What to expect of it, a sentence each.
    public var lines: [String] {
        calibration.expected.map { one in
            "Expected with the sensitivity \(one.sensitivity.rawValue): found \(percent(one.found)) of the time, "
                + "\(decimal(one.falseAcceptsPerHour, 1)) false accepts in an hour of talk"
        } + remarks
    }

    /// What else there is to say of it, a sentence each.
    public var remarks: [String] {
        let hours = decimal(calibration.talkHours, 1)
        var remarks: [String] = []
        if !calibration.sayings.isEmpty {
            remarks.append("In \(hours) hours of talk the word itself is said; that is no false accept.")
        }
        let moments = zip(respelled, nearest).map { "“\($0)” (\($1))" }
        remarks.append("Nearest in \(hours) hours of talk, as it was heard: \(moments.joined(separator: "; "))")
        if let balanced = calibration.balanced, balanced.found < TypedWordCalibration.poor {
            remarks.append("A longer name, or takes of your voice, would be found more often.")
        }
        return remarks
    }
}
