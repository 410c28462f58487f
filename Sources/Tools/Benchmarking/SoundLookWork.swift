import Inference
import KernelInterface
import Phonemes
import Spotting

/// One look of the network of sounds at two seconds.
final class SoundLookWork: Workload {
    private let runner: PhonemeRunner
    private let sound: [Float]

    /// - Returns: nil where the network did not come with the program.
    init?(kernels: KernelSet, on sound: [Float]) {
        guard let folder = ModelFolder.shippedFile("phonemes"),
            let network = try? PhonemeNetwork(folder: folder, kernels: kernels)
        else { return nil }
        runner = PhonemeRunner(network, samples: Int(16_000 * SoundHearing.seconds))
        self.sound = (0..<runner.samples).map { sound[$0 % sound.count] }
    }

    func run() { _ = sound.withUnsafeBufferPointer { runner.run($0) } }
}
