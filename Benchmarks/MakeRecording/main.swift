// make-recording FOLDER [TIMES]: makes a recording of a voice that repeats "left" and "right", and a list of when each word ends.
//
// It writes FOLDER/recording.raw, 48 kHz, two channels of 16 bits, and FOLDER/recording.txt, a label track with start, end and word.
// A word ends where its level finally falls 30 dB below its loudest 20 ms: "left" and "right" close with a pause of 60
// to 250 ms and then the burst of the t, 20 to 30 dB below the vowel, which belongs to the word.

import Audio
import Foundation

private let rate = 48_000
private let frame = rate / 50

/// The last word of a recording, and where in it the word ends.
private struct Word {
    let name: String
    let samples: [Float]
    let end: Int

    init(_ path: String, name: String) throws {
        var file = try AudioFile(path: path)
        var all: [Float] = []
        var part = [Float](repeating: 0, count: 4096 * file.channels)
        while true {
            var room = part.mutableSpan
            let count = try file.read(into: &room)
            if count == 0 { break }
            all += stride(from: 0, to: count * file.channels, by: file.channels).map { part[$0] }
        }
        let levels = stride(from: 0, to: all.count - frame, by: frame).map { start in
            10 * log10(Double(all[start..<start + frame].reduce(0) { $0 + $1 * $1 }) / Double(frame) + 1e-12)
        }
        let loudest = levels.max() ?? 0
        // The recordings say another word first, so search back from the last vowel to the pause before the word.
        let vowel = levels.lastIndex { $0 > loudest - 12 } ?? 0
        let pause = levels[..<vowel].lastIndex { $0 < loudest - 40 } ?? 0
        let last = levels.lastIndex { $0 > loudest - 30 } ?? vowel
        samples = Array(all[pause * frame..<min(all.count, (last + 2) * frame)])
        end = (last + 1 - pause) * frame
        self.name = name
    }
}

private struct Recording {
    private var bytes: [UInt8] = []
    private var track = ""
    private var count = 0
    private var noise: UInt32 = 1

    private mutating func add(_ sample: Float) {
        // Room noise at about −75 dB, because no microphone gives digital silence.
        noise = noise &* 1_664_525 &+ 1_013_904_223
        let hiss = Float(noise >> 16) / 65_536 - 0.5
        let value = UInt16(bitPattern: Int16(max(-32_768, min(32_767, sample * 32_767 + hiss * 20))))
        let pair = [UInt8(truncatingIfNeeded: value), UInt8(value >> 8)]
        bytes += pair + pair
        count += 1
    }

    /// Adds a pause and a word that ends at this fraction of a hop, 0…1.
    mutating func add(_ word: Word, phase: Double) {
        let hop = rate / 10
        let earliest = count + rate * 3 / 2 + word.end
        let end = earliest + ((Int(phase * Double(hop)) - earliest) % hop + hop) % hop
        while count < end - word.end { add(0) }
        let start = Double(count) / Double(rate)
        for sample in word.samples { add(sample) }
        track += "\(start)\t\(Double(end) / Double(rate))\t\(word.name)\n"
    }

    func write(to folder: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: folder + "/recording.raw"))
        try Data(track.utf8).write(to: URL(fileURLWithPath: folder + "/recording.txt"))
    }
}

guard (2...3).contains(CommandLine.arguments.count) else {
    FileHandle.standardError.write(Data("usage: make-recording FOLDER [TIMES]\n".utf8))
    exit(2)
}
do {
    let words = try ["Front", "Rear", "Side"].flatMap { place in
        try ["Left", "Right"].map {
            try Word("/usr/share/sounds/alsa/\(place)_\($0).wav", name: $0.lowercased())
        }
    }
    var recording = Recording()
    let times = CommandLine.arguments.count == 3 ? Int(CommandLine.arguments[2]) ?? 10 : 10
    for index in 0..<times * words.count {
        // The golden section spreads any number of word ends evenly over the hop.
        let phase = (Double(index) * 0.618_034).truncatingRemainder(dividingBy: 1)
        recording.add(words[index % words.count], phase: phase)
    }
    try recording.write(to: CommandLine.arguments[1])
} catch {
    FileHandle.standardError.write(Data("make-recording: \(error)\n".utf8))
    exit(1)
}
