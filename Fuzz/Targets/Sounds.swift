import Enrollment
import Glibc
import Phonemes
import Spotting

/// The networks that come with the program, beside the folder where the targets are started.
private let pronouncer = try? Pronouncer(folder: "Models/phonemes")

/// How a word is said, as people write it, in IPA or ARPAbet; and names, the short ones by the network of spelling. What is read is
/// written and read again.
func fuzzSounds(_ bytes: [UInt8]) {
    guard let pronouncer else { fatalError("Models/phonemes is not there") }
    let text = String(decoding: bytes, as: UTF8.self)
    if let said = try? pronouncer.pronunciation(written: text) {
        check(!said.sounds.isEmpty && said.sounds.count <= Pronouncer.Limit.sounds, "\(said.sounds.count) sounds")
        check(said.sounds.allSatisfy(pronouncer.symbols.indices.contains), "a sound that there is not")
        let again = Pronunciation(symbols: pronouncer.text(said), among: pronouncer.symbols)
        check(again == said, "not the same sounds: \(pronouncer.text(said))")
    }
    // A search takes milliseconds a letter.
    guard bytes.count <= 12, let ways = try? pronouncer.pronunciations(of: text) else { return }
    check(!ways.isEmpty && ways.count <= Pronouncer.Limit.pronunciations, "\(ways.count) pronunciations")
    for way in ways {
        let again = Pronunciation(symbols: pronouncer.text(way), among: pronouncer.symbols)
        check(again == way, "not the same sounds: \(pronouncer.text(way))")
    }
}
