// wake-word-outputs [MODEL]: what the engine of wake words computes from 16-bit samples at 16 kHz from standard input, for comparison with
// other programs. Without a model, the features: 40 numbers of 16 bits for each 10 ms. With one, the mean probability after each step, as a
// float.
//
// wake-word-outputs time MODEL…: the processor time that the front end takes, and then each model, in milliseconds a second of audio: the
// best of five runs.

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

private func writeMeans(_ samples: [Int16], _ path: String) throws {
    let output = fdopen(STDOUT_FILENO, "w")
    var detector = WakeWordDetector([try WakeWord(path: path)])
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
    func measure(_ words: [WakeWord]) -> Double {
        var detector = WakeWordDetector(words)
        return best { detector.add(audio.span) { _, _, _ in } }
    }
    let frontEnd = measure([])
    print("front end: \(frontEnd / seconds) ms")
    for path in paths {
        let word = try WakeWord(path: path)
        print(
            "\(word.name): \((measure([word]) - frontEnd) / seconds) ms, \(word.network.multiplyAdds) multiply-adds a step"
        )
    }
}

private func run() -> Int32 {
    do {
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.first == "time" {
            try time(samples(), Array(arguments.dropFirst()))
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
