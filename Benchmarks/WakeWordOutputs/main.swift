// wake-word-outputs [MODEL]: what the engine of wake words computes from 16-bit samples at 16 kHz from standard input, for comparison with
// other programs.
//
// Without a model, the features: 40 numbers of 16 bits for each 10 ms. With one, the mean probability after each step, as a float.

import Glibc
import WakeWords

var hop = [Int16](repeating: 0, count: MicroFrontEnd.hopSamples)
let (input, output) = (fdopen(STDIN_FILENO, "r"), fdopen(STDOUT_FILENO, "w"))
if CommandLine.argc > 1 {
    do {
        var detector = WakeWordDetector([try WakeWord(path: CommandLine.arguments[1])])
        while fread(&hop, 2, hop.count, input) == hop.count {
            let samples = hop.map { Float($0) / 32768 }
            detector.add(samples.span) { _, mean, _ in
                var mean = mean
                fwrite(&mean, MemoryLayout<Float>.size, 1, output)
            }
        }
    } catch {
        fputs("wake-word-outputs: \(error)\n", fdopen(STDERR_FILENO, "w"))
        exit(1)
    }
} else {
    var frontEnd = MicroFrontEnd()
    while fread(&hop, 2, hop.count, input) == hop.count {
        for sample in hop where frontEnd.add(sample) { fwrite(frontEnd.features, 2, frontEnd.features.count, output) }
    }
}
fflush(output)
