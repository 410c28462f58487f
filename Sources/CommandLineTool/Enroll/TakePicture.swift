private import Core
import Enrollment

/// A take in one line: its envelope, one character for each 50 ms, its duration and its level.
struct TakePicture {
    private static let marks = Array(" ▁▂▃▄▅▆▇█")
    private static let width = 40

    let line: String

    init(_ utterance: Utterance) {
        let step = Utterance.sampleRate / 20
        let levels = stride(from: 0, to: utterance.samples.count, by: step).map { start in
            let part = utterance.samples[start..<min(start + step, utterance.samples.count)]
            return decibels(part.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(part.count))
        }
        let most = levels.max() ?? 0
        // Parts 40 dB or more below the loudest one are blank.
        let picture = levels.prefix(Self.width).map { level in
            let height = max(0, min(1, (level - most + 40) / 40))
            return Self.marks[Int((height * Double(Self.marks.count - 1)).rounded())]
        }
        let check = TakeCheck(utterance)
        line =
            "▕" + pad(String(picture), Self.width) + "▏ "
            + "\(decimal(utterance.seconds, 2)) s  \(left(decimal(check.level, 0), 3)) dB"
    }
}
