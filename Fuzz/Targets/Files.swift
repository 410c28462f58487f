import Core
import Glibc
import JSON
import KernelInterface
import Kernels

@testable import Audio
@testable import Configuration
@testable import Enrollment
@testable import Inference
@testable import Spotting

/// Word stores. The checksums are made right, because no fuzzer guesses them.
func fuzzWords(_ input: [UInt8]) {
    var bytes = input
    func seal(_ part: Range<Int>) {
        guard part.upperBound + 8 <= bytes.count, !part.isEmpty else { return }
        let sum = bytes.withUnsafeBytes { fnv1a($0.baseAddress! + part.lowerBound, count: part.count, from: fnvBasis) }
        for index in 0..<8 { bytes[part.upperBound + index] = UInt8(truncatingIfNeeded: sum >> (8 * index)) }
    }
    let front = WordStore.detectorBytes(bytes)
    if front <= bytes.count {
        seal(0..<front - 8)
        if bytes.count - 8 > front { seal(front..<bytes.count - 8) }
    } else if bytes.count > 8 {
        seal(0..<bytes.count - 8)
    }
    // Most inputs end here, so this is the one that decides how many are tried.
    guard let outline = try? WordStore(bytes: bytes, file: "f", withAudio: false) else { return }
    check(WordStore.recordedWords(bytes).isSubset(of: outline.words.map(\.name)), "an unknown word has recordings")
    guard let store = try? WordStore(bytes: bytes, file: "f") else { return }
    guard let encoded = try? store.encoded() else { fatalError("a store cannot be encoded") }
    guard let again = try? WordStore(bytes: encoded, file: "g") else { fatalError("an encoded store is refused") }
    check(again == store, "not the same store")
    let taught = store.words.compactMap(\.taught)
    let scorer = TaughtWordScorer(taught, dimensions: 8, isLookedAt: taught.map { $0.speech != nil })
    var ahead = WordScores(gated: taught.count)
    for step in 0..<4 {
        let vector = (0..<8).map { Float(($0 + step) % 3) - 1 }
        scorer.lookAhead(embedding: vector, to: &ahead)
        scorer.add(vector)
    }
    for probability in scorer.probabilities { check(probability >= 0 && probability <= 1, "\(probability)") }
    for word in store.words {
        for take in word.takes.indices { _ = word.similarity(ofTake: take) }
    }
}

private nonisolated(unsafe) let archive: BackupArchive? = try? BackupArchive()

/// Backups, after zlib has found their sum right: only plain names within the archive, and what is read is written again the same.
func fuzzBackup(_ bytes: [UInt8]) {
    guard let archive else { fatalError("libarchive is not installed; apt install libarchive13") }
    guard let files = try? archive.read(tar: bytes) else { return }
    for file in files {
        check(
            BackupArchive.name(BackupArchive.stored(file.name)) == file.name,
            "a name that is no plain one: \(file.name)"
        )
        check(!file.name.hasPrefix("/") && !file.name.split(separator: "/").contains(".."), "leads out: \(file.name)")
        check(file.mode <= 0o777, "mode \(file.mode)")
    }
    guard let again = try? archive.write(files, time: 0) else { fatalError("what was read cannot be written") }
    check((try? archive.read(again)) == files, "not the same files")
}

/// Safetensors files.
func fuzzTensors(_ bytes: [UInt8]) {
    guard let file = try? SafeTensors(bytes: bytes, file: "f") else { return }
    for name in file.names {
        guard let shape = file.shape(of: name), let numbers = try? file.floats(name, shape: shape) else { continue }
        check(numbers.count == shape.reduce(1, *), "\(name): \(numbers.count) numbers of \(shape)")
    }
}

/// Descriptions of models, with weights that fit: a model that is accepted scores five hops, and its confirming networks look at sounds.
func fuzzModel(_ bytes: [UInt8]) {
    guard let description = try? ModelDescription(json: bytes, file: "f") else { return }
    // A file without tensors, where those that fit would be too many.
    let nothing: [UInt8] = [2, 0, 0, 0, 0, 0, 0, 0, 123, 125]
    let confirm = description.confirm.map { confirm in
        weights(for: confirm.networks.map { ($0.name + ".", $0.layers) }) ?? nothing
    }
    guard let weights = weights(for: [("", description.layers)]) else {
        _ = try? Model(description: bytes, weights: nothing, confirm: confirm)
        return
    }
    for precision in Precision.allCases {
        guard let model = try? Model(description: bytes, weights: weights, confirm: confirm, precision: precision)
        else {
            continue
        }
        // Larger ones only take time.
        guard model.multiplyAddsPerWindow < 1 << 22, model.windowSamples < 1 << 16,
            model.network.tensors.reduce(0, { $0 + $1.channels * $1.columns }) < 1 << 20
        else { continue }
        var session = InferenceStream(model, embeds: true)
        let samples = (0..<model.windowSamples).map { Float(($0 &* 7919) % 2001 - 1000) / 1000 }
        for _ in 0..<3 { session.score(window: samples.span) }
        session.lookAhead { next in
            for index in next.indices { next[index] = samples[index] }
        }
        session.score(window: samples.span)
        session.scoreWhole(window: samples.span)
        let sum = session.posteriors.reduce(0, +)
        check(sum > 0.99 && sum < 1.01, "posteriors \(session.posteriors)")
        look(session.posteriors, model)
        session.reset()
    }
}

/// Has the confirming networks of a model look at sounds, one of which is not finite.
private func look(_ posteriors: [Float], _ model: Model) {
    guard let networks = model.confirmation, networks.multiplyAdds < 1 << 22,
        networks.networks.allSatisfy({ $0.windowSamples < 1 << 16 && $0.memoryCount < 1 << 20 })
    else { return }
    for prior in [Prior.stream, .clip] {
        let confirmer = Confirmer(networks, of: model, prior: prior)
        for strange in [0, Float.infinity, .nan] {
            confirmer.look(posteriors, middle: 500, contrast: strange == 0 ? 15 : strange) { first, samples in
                for index in samples.indices {
                    let place = first + index
                    samples[index] = place % 400 == 1 ? strange : Float((place &* 7919) % 2001 - 1000) / 1000
                }
            }
            for answer in [confirmer.fused, confirmer.confirmed] {
                let sum = answer.reduce(0, +)
                check(answer.allSatisfy { (0...1.001).contains($0) } && sum > 0.99 && sum < 1.01, "answer \(answer)")
            }
            check(networks.words.contains(Verdict(confirmer).label), "a verdict for no word")
        }
    }
}

/// A safetensors file with random numbers, as large as a model to be tried may be.
private struct RandomTensors {
    private var entries: [String] = []
    private var data: [UInt8] = []
    private var random = UInt32(12345)

    /// Adds a tensor; returns false where that is large.
    mutating func add(_ name: String, _ shape: [Int]) -> Bool {
        var count = 1
        for extent in shape {
            let (product, overflow) = count.multipliedReportingOverflow(by: extent)
            if extent < 0 || overflow || product > 1 << 16 { return false }
            count = product
        }
        guard data.count + 4 * count <= 1 << 20 else { return false }
        let offsets = "[\(data.count),\(data.count + 4 * count)]"
        entries.append("\(JSON.string(name)):{\"dtype\":\"F32\",\"shape\":\(shape),\"data_offsets\":\(offsets)}")
        for _ in 0..<count {
            random = random &* 1_664_525 &+ 1_013_904_223
            withUnsafeBytes(of: Float(Int32(bitPattern: random)) / 2_147_483_648) { data += $0 }
        }
        return true
    }

    var file: [UInt8] {
        let header = Array("{\(entries.joined(separator: ","))}".utf8)
        return withUnsafeBytes(of: UInt64(header.count)) { Array($0) } + header + data
    }
}

/// The weights that layers need; nil if they need many.
///
/// - Parameter networks: their layers, by what the names of their tensors begin with.
private func weights(for networks: [(prefix: String, layers: [LayerDescription])]) -> [UInt8]? {
    var tensors = RandomTensors()
    var seen: Set<String> = []
    for (prefix, layers) in networks {
        for layer in layers {
            let name = prefix + layer.name
            guard seen.insert(name).inserted else { continue }
            switch layer.operation {
            case .convolution(let convolution, _):
                guard convolution.groups > 0 else { continue }
                let bias = [convolution.outputChannels]
                guard tensors.add(name + ".weight", convolution.storedShape), tensors.add(name + ".bias", bias) else {
                    return nil
                }
            case .bandScale(let channels, let parts):
                guard tensors.add(name + ".scale", [channels, parts]), tensors.add(name + ".shift", [channels, parts])
                else { return nil }
            default: continue
            }
        }
    }
    return tensors.file
}

/// Audio files: containers through libsndfile, mixed and resampled to blocks.
func fuzzAudio(_ bytes: [UInt8]) {
    let file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    defer { close(file) }
    _ = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
    if let whole = try? RegularFile(path: path) {
        // Whatever the file begins with: joined files have headers at any place.
        let start = Int(bytes.first ?? 0) % max(1, bytes.count)
        let link = OggLink(whole, from: start)
        check(link.end >= start && link.end <= bytes.count, "a stream ends outside the file")
        if let container = Container(whole, at: start) {
            check(container.audio.upperBound <= bytes.count && container.end <= bytes.count, "audio outside the file")
        }
        if case .unknown(let rest) = FileRest(of: whole, from: start) {
            check(rest.lowerBound >= start && rest.upperBound <= bytes.count, "a rest outside the file")
        }
    }
    fuzzPipe(bytes)
    guard var blocks = try? FileBlocks(path: path) else { return }
    var block = [Float](repeating: 0, count: 1600)
    for _ in 0..<100 {
        var span = block.mutableSpan
        guard let count = try? blocks.next(into: &span), count > 0 else { break }
        check(block.allSatisfy(\.isFinite), "a sample is not finite")
    }
}

/// The same bytes through a pipe, in parts: WAV, or PCM without a header.
private func fuzzPipe(_ bytes: [UInt8]) {
    for raw in [
        nil, RawFormat(rate: 16_000, channels: 3, sample: .s32), RawFormat(rate: 8000, channels: 1, sample: .f64),
    ] {
        guard var blocks = try? StreamBlocks(raw: raw, mix: .channel(0)) else { continue }
        var rest = bytes[...]
        let part = 1 + Int(bytes.last ?? 0)
        func put(_ block: Span<Float>, _ played: Span<Float>) {
            for index in block.indices { check(block[index].isFinite, "a sample is not finite") }
        }
        do {
            while !rest.isEmpty {
                try blocks.take(rest.prefix(part), put)
                rest = rest.dropFirst(part)
            }
            try blocks.finish(put)
        } catch {}
    }
}

/// A file in memory. The process keeps the name free of others' files.
private let path: String = {
    let path = "/dev/shm/beckon-fuzz-\(getpid())"
    atexit { unlink("/dev/shm/beckon-fuzz-\(getpid())") }
    return path
}()
