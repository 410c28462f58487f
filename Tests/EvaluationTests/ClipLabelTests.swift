import Core
import Testing

@testable import Evaluation

struct ClipLabelTests {
    private static let labels = Labels(["yes", "no", "_unknown_", "_silence_"])

    @Test(arguments: [
        ("yes", 0), ("no", 1), ("_unknown_", 2), ("unknown", 2), ("cat", 2), ("_silence_", 3), ("silence", 3),
        ("_background_noise_", 3), ("Yes", 0), ("yess", 2), ("", 2),
    ])
    func `the folder of a clip gives its label`(_ folder: String, _ label: Int) {
        #expect(Self.labels.label(ofFolder: folder) == label)
    }
}
