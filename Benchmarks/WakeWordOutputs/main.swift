// wake-word-outputs [MODEL]: what the engine of wake words computes from 16-bit samples at 16 kHz from standard input, for comparison with
// other programs. Without a model, the features of microWakeWord: 40 numbers of 16 bits for each 10 ms. With one, the mean probability after
// each step, as a float; or, for one of openWakeWord, the probability after each 80 ms. "embedding" in place of a model: the speech embedding,
// 96 floats for each 80 ms.
//
// wake-word-outputs time MODEL…: the processor time that the front end and the embedding take, and then each model, in milliseconds a second
// of audio: the best of five runs.
//
// It runs in the repository, where it finds the speech embedding.

import Glibc
import WakeWords

private func samples() -> [Int16] {
    let input = fdopen(STDIN_FILENO, "r")
    var samples: [Int16] = []
    var part = [Int16](repeating: 0, count: 16_000)
    while case let count = fread(&part, 2, part.count, input), count > 0 { samples += part.prefix(count) }
    return samples
}

private func write(_ numbers: UnsafeRawPointer, _ bytes: Int, _ output: UnsafeMutablePointer<FILE>?) {
    fwrite(numbers, 1, bytes, output)
}

private func writeFeatures(_ samples: [Int16]) {
    let output = fdopen(STDOUT_FILENO, "w")
    var frontEnd = MicroFrontEnd()
    for sample in samples where frontEnd.add(sample) { write(frontEnd.features, 2 * MicroFrontEnd.bands, output) }
    fflush(output)
}

private func embedding() throws(WakeWordError) -> SpeechEmbedding {
    try SpeechEmbedding(path: "Models/speech-embedding/embedding_model.tflite")
}

private func writeEmbeddings(_ samples: [Int16]) throws {
    let output = fdopen(STDOUT_FILENO, "w")
    let stream = EmbeddingStream(try embedding())
    for sample in samples where stream.add(sample) { write(stream.newest, 4 * SpeechEmbedding.count, output) }
    fflush(output)
}

private func writeMeans(_ samples: [Int16], _ path: String) throws {
    let output = fdopen(STDOUT_FILENO, "w")
    var detector = WakeWordDetector([try WakeWord(path: path, embedding: embedding)])
    let audio = samples.map { Float($0) / 32768 }
    detector.add(audio.span) { _, mean, _ in
        var mean = mean
        write(&mean, MemoryLayout<Float>.size, output)
    }
    fflush(output)
}

/// The shortest of five runs, in milliseconds of processor time: other programs may run meanwhile.
private func best(_ run: () -> Void) -> Double {
    func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
    }
    return (0..<5).map { _ in
        let start = now()
        run()
        return now() - start
    }.min() ?? 0
}

private func time(_ samples: [Int16], _ paths: [String]) throws {
    let audio = samples.map { Float($0) / 32768 }
    let seconds = Double(samples.count) / 16_000
    var frontEnd = MicroFrontEnd()
    let features = best { for sample in samples { _ = frontEnd.add(sample) } }
    print("front end of microWakeWord: \(features / seconds) ms")
    let shared = try embedding()
    let stream = EmbeddingStream(shared)
    let embedded = best { for sample in samples { _ = stream.add(sample) } }
    print("speech embedding: \(embedded / seconds) ms, \(shared.multiplyAdds) multiply-adds")
    for path in paths {
        let word = try WakeWord(path: path) { () throws(WakeWordError) in shared }
        var detector = WakeWordDetector([word])
        let all = best { detector.add(audio.span) { _, _, _ in } }
        switch word.network {
        case .streaming(let network):
            print("\(word.name): \((all - features) / seconds) ms, \(network.multiplyAdds) multiply-adds a step")
        case .head: print("\(word.name): \((all - embedded) / seconds) ms")
        }
    }
}

private func run() -> Int32 {
    do {
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.first == "time" {
            try time(samples(), Array(arguments.dropFirst()))
        } else if arguments.first == "embedding" {
            try writeEmbeddings(samples())
        } else if let path = arguments.first {
            try writeMeans(samples(), path)
        } else {
            writeFeatures(samples())
        }
        return 0
    } catch {
        fputs("wake-word-outputs: \(error)\n", fdopen(STDERR_FILENO, "w"))
        return 1
    }
}

exit(run())
