import Audio
import CSndFile
import Glibc
import TestSupport
import Testing

@Suite struct FuzzTests {
    /// More samples than any mutated file can hold, but few enough to be reached soon.
    static let mostSamples = 3_000_000

    static let formats = [
        SF_FORMAT_WAV | SF_FORMAT_PCM_16, SF_FORMAT_WAV | SF_FORMAT_FLOAT, SF_FORMAT_WAV | SF_FORMAT_IMA_ADPCM,
        SF_FORMAT_WAV | SF_FORMAT_MS_ADPCM, SF_FORMAT_WAV | SF_FORMAT_GSM610, SF_FORMAT_WAVEX | SF_FORMAT_PCM_24,
        SF_FORMAT_RF64 | SF_FORMAT_PCM_16, SF_FORMAT_W64 | SF_FORMAT_PCM_16, SF_FORMAT_AIFF | SF_FORMAT_PCM_16,
        SF_FORMAT_AU | SF_FORMAT_PCM_16, SF_FORMAT_CAF | SF_FORMAT_PCM_16, SF_FORMAT_FLAC | SF_FORMAT_PCM_16,
        SF_FORMAT_OGG | SF_FORMAT_VORBIS, SF_FORMAT_OGG | SF_FORMAT_OPUS,
    ]

    /// Mutates a file: mostly its header, sometimes its body or length.
    static func mutate(_ original: [UInt8], _ random: inout SplitMix) -> [UInt8] {
        var bytes = original
        let telling: [UInt8] = [0, 1, 0x7F, 0x80, 0xFF]
        for _ in 0...random.below(6) {
            let reach = random.below(3) == 0 ? bytes.count : min(bytes.count, 96)
            let place = random.below(reach)
            switch random.below(6) {
            case 0: bytes[place] ^= 1 << UInt8(random.below(8))
            case 1: bytes[place] = telling[random.below(telling.count)]
            case 2: for index in place..<min(place + 4, bytes.count) { bytes[index] = 0xFF }
            case 3: for index in place..<min(place + 4, bytes.count) { bytes[index] = 0 }
            case 4: bytes[place] = UInt8(random.below(256))
            default:
                bytes.removeSubrange(place..<min(bytes.count, place + 1 + random.below(random.below(4) == 0 ? 500 : 6)))
            }
            if bytes.isEmpty { break }
        }
        return bytes
    }

    /// Reads a file to its end; returns the number of samples, and the error if there was one.
    static func outcome(_ path: String) -> (samples: Int, error: AudioError?) {
        var total = 0
        var block = [Float](repeating: 0, count: 16_000)
        do throws(AudioError) {
            var blocks = try FileBlocks(path: path)
            var span = block.mutableSpan
            while total < mostSamples, let count = try blocks.next(into: &span) { total += count }
            return (total, nil)
        } catch {
            return (total, error)
        }
    }

    /// `BECKON_FUZZ` sets the number of files per format.
    @Test func bentFilesNeverCrash() throws {
        let folder = try TestFolder()
        let count = getenv("BECKON_FUZZ").flatMap { Int(String(cString: $0)) } ?? 30
        var random = SplitMix(seed: 2_024)
        var (audio, refused) = (0, 0)
        for (number, format) in Self.formats.enumerated() {
            let rate = format & SF_FORMAT_SUBMASK == SF_FORMAT_OPUS ? 48_000 : 16_000
            let name = "base-\(number)"
            try folder.write(name, format: format, rate: rate, Signals.noise(count: 800, seed: UInt64(number)))
            let original = try folder.bytes(name)
            for _ in 0..<count {
                let bytes = Self.mutate(original, &random)
                let outcome = Self.outcome(try folder.write("bent", bytes: bytes))
                if outcome.samples >= Self.mostSamples {
                    Issue.record(
                        "format \(String(format, radix: 16)): \(outcome.samples) samples from \(bytes.count) bytes"
                    )
                }
                if outcome.error == nil { audio += 1 } else { refused += 1 }
            }
        }
        print("bent files: \(audio) read as audio, \(refused) refused")
        #expect(audio + refused == count * Self.formats.count)
    }
}
