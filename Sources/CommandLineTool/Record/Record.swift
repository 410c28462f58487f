import Audio
import Capture
private import Core
import Enrollment
import Inference
import Input
private import System

/// `beckon record --label WORD --speaker NAME DIR`: records a dataset from a microphone, cut by voice activity.
///
/// A clip is one second long and has its word in the middle. Its file is `DIR/WORD/SPEAKER_nohash_N.wav`, as in Speech
/// Commands (Warden 2018).
struct Record {
    /// The length of a clip in samples: one second.
    static let length = Utterance.sampleRate

    private let folder: String
    private let speaker: String
    private let count: Int?
    private let file: String?
    private let device: String?
    private let configuration: String?
    private let listening: ListeningOptions

    init(_ arguments: Arguments) throws(UsageError) {
        guard let folder = arguments.operands.first, arguments.operands.count == 1 else {
            throw UsageError("record needs one folder: the dataset")
        }
        guard let label = arguments.value("--label"), let speaker = arguments.value("--speaker") else {
            throw UsageError("record needs --label WORD and --speaker NAME")
        }
        for (option, name) in [("--label", label), ("--speaker", speaker)] {
            guard Self.isName(name) else {
                throw UsageError(
                    "\(option) is part of a file name: letters, digits, '-' and '_', not '\(printable(name))'"
                )
            }
        }
        guard !speaker.contains("_nohash_") else { throw UsageError("--speaker may not contain _nohash_") }
        // `dataset/` is the folder `dataset`.
        let parent = String(folder.reversed().drop { $0 == "/" }.reversed())
        self.folder = "\(parent)/\(label)"
        self.speaker = speaker
        count = arguments.whole("--count")
        file = arguments.value("--file")
        device = arguments.value("--device")
        guard file == nil || device == nil else { throw UsageError("--device and --file cannot be combined") }
        configuration = arguments.value("--config")
        listening = try ListeningOptions(arguments)
    }

    /// Letters of any script, digits, hyphens, underscores and apostrophes; at most 100 bytes.
    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 100
            && name.allSatisfy { $0.isLetter || $0.isNumber || "-_'".contains($0) }
    }

    /// Records until `--count` is reached, the file ends or Ctrl-C is pressed. Returns the exit status.
    func run() throws -> Int32 {
        let model = try listening.loadModel(detects: false)
        try makeFolder(folder)
        Interrupt.watch()
        let source: any AudioSource =
            if let file { try AudioInput.file(file).open(InputSelection(mix: listening.mix)) } else {
                try ChosenMicrophone(configuration: configuration, device: device, channels: listening.channels).open()
            }
        var takes = try SpokenTakes(source, model: model)
        defer { takes.stop() }
        if file == nil {
            guard takes.waitForAudio() else { return Interrupt.isRequested ? 130 : 1 }
            Output.writeErrorText("Say the word repeatedly, with a pause of a second. Ctrl-C ends.\n")
        }
        var number = try firstNumber()
        var written = 0
        while count.map({ written < $0 }) ?? true, case .utterance(let utterance) = takes.next() {
            if let fault = TakeCheck(utterance).fault ?? Self.fault(utterance) {
                Output.report(.warning, "left out: \(fault)")
                continue
            }
            let path = try write(Self.clip(utterance), &number)
            written += 1
            Output.write("\(printable(path))\n\(TakePicture(utterance).text)\n")
        }
        if let problem = source.problem { throw problem }
        Output.writeError("\(printable(folder)): clips written: \(written)\n")
        return written > 0 || file != nil ? 0 : Interrupt.isRequested ? 130 : 1
    }

    /// The fault of an utterance that is longer than a clip; nil if it fits.
    private static func fault(_ utterance: Utterance) -> TakeFault? {
        guard utterance.speech.count > length else { return nil }
        return .tooLong(utterance.seconds, longest: Double(length) / Double(Utterance.sampleRate))
    }

    /// A clip with the speech in its middle, `[length]`; zeros outside the recording.
    static func clip(_ utterance: Utterance) -> [Float] {
        let middle = (utterance.speech.lowerBound + utterance.speech.upperBound) / 2
        let start = middle - length / 2
        return (start..<start + length).map { utterance.samples.indices.contains($0) ? utterance.samples[$0] : 0 }
    }

    /// The highest number of this speaker's clips, plus one.
    private func firstNumber() throws -> Int {
        let prefix = "\(speaker)_nohash_"
        let names = namesInFolder(folder)
        let numbers = names.compactMap { name in
            name.hasPrefix(prefix) ? Int(digits: PathName(String(name.dropFirst(prefix.count))).stem) : nil
        }
        // After the highest number there is none; then a name that is taken is refused.
        return numbers.max().map { $0 < .max ? $0 + 1 : $0 } ?? 0
    }

    /// Writes a clip under the next free number; does not overwrite files. Returns its path.
    private func write(_ samples: [Float], _ number: inout Int) throws -> String {
        while true {
            let path = "\(folder)/\(speaker)_nohash_\(number).wav"
            number += 1
            do throws(AudioError) {
                let isNew = try WaveWriter.writeNew(samples, path: path, sampleRate: Utterance.sampleRate)
                if isNew { return path }
            } catch {
                throw Failure("\(printable(path)): cannot write the clip: \(error)")
            }
        }
    }
}
