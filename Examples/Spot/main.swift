// Prints the words of an audio file, or of raw PCM on standard input, one per line: start, end, word.
//
//     spot Models/commands talk.wav
//     arecord -t raw -f S16_LE -c 1 -r 16000 | spot Models/commands
import Beckon
import Foundation

func show(_ detections: [Detection]) {
    for detection in detections {
        let bounds = [detection.start, detection.end].map { "\(Int(($0 * 1000).rounded())) ms\t" }
        FileHandle.standardOutput.write(Data("\(bounds.joined())\(detection.word)\n".utf8))
    }
}

func end(_ message: String, status: Int32) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(status)
}

// The reader may go early, as head does.
signal(SIGPIPE, SIG_DFL)
let arguments = CommandLine.arguments.dropFirst()
guard let model = arguments.first, arguments.count <= 2 else { end("usage: spot MODEL [FILE]", status: 2) }
do {
    let spotter = try Spotter(model: model)
    if let file = arguments.dropFirst().first {
        show(try spotter.detections(inFile: file))
    } else {
        var stream = try spotter.stream(sampleRate: 16_000)
        // 100 ms at a time: 1600 samples of two bytes.
        while let data = try FileHandle.standardInput.read(upToCount: 3_200), !data.isEmpty {
            let samples = data.withUnsafeBytes { bytes in
                (0..<bytes.count / 2).map { bytes.loadUnaligned(fromByteOffset: 2 * $0, as: Int16.self) }
            }
            show(try stream.process(samples))
        }
        show(try stream.finish())
    }
} catch {
    end("spot: \(error)", status: 1)
}
