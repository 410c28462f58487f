private import FoundationEssentials
private import Glibc
import Inference
import KernelInterface
import Spotting
private import System

/// How long the program takes from its start to its first score, and what memory it has then: measured on copies of itself.
struct StartUp: Codable {
    /// From before the copy is started; its files are in memory already.
    let milliseconds: Timing
    let kernels: String
    /// With one detector, after its first score.
    let residentBytes: Int
    /// What one stream more takes, with its detector and its ring of audio.
    let streamBytes: Int

    private static let trials = 5

    init(model: String, kernels: InstructionSet) throws {
        self.kernels = kernels.rawValue
        var times: [Double] = []
        var memory: [FirstScore] = []
        // The first brings the files into memory, and does not count.
        for trial in 0...Self.trials {
            let start = Clock.raw
            let score = try Self.spawn(["bench", "--first-score", "--kernels", kernels.rawValue, "--model", model])
            guard trial > 0 else { continue }
            times.append(Double(score.nanoseconds - start) / 1e6)
            memory.append(score)
        }
        guard let timing = Timing(times), let last = memory.last else { throw Failure("the start-up was not measured") }
        milliseconds = timing
        residentBytes = last.residentBytes
        streamBytes = last.streamBytes
    }

    private static func spawn(_ arguments: [String]) throws -> FirstScore {
        let environment = ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }
        let output: [UInt8]
        do throws(SystemError) {
            output = try runOwnCopy(arguments, environment: environment)
        } catch {
            throw Failure("cannot start the program once more: \(error)")
        }
        guard let score = try? JSONDecoder().decode(FirstScore.self, from: Data(output)) else {
            throw Failure("a copy of the program, started to see how long that takes, ended with no score")
        }
        return score
    }
}

/// `beckon bench --first-score`: what the start-up is measured with.
struct FirstScore: Codable {
    /// When it had scored, on ``Clock/raw``.
    let nanoseconds: Int64
    let residentBytes: Int
    let streamBytes: Int

    /// Loads the model and scores a second of quiet.
    init(_ options: BenchOptions) throws {
        let model = try options.listening.loadModel(kernels: options.kernels.last)
        let recipe = try DetectorRecipe(
            model: model,
            gate: options.gate,
            thresholds: options.listening.thresholds(for: Vocabulary(model))
        )
        let sound = HopWork.sound(model)
        let work = try HopWork(recipe, sound: sound)
        work.run()
        nanoseconds = Clock.raw
        residentBytes = Self.resident
        // Many of them: one alone is lost in what the heap keeps in store.
        let count = 32
        let others = try (0..<count).map { _ in try HopWork(recipe, sound: sound) }
        for other in others { other.run() }
        streamBytes = max(0, Self.resident - residentBytes) / count
        withExtendedLifetime((work, others)) {}
    }

    var json: String {
        "{\"nanoseconds\": \(nanoseconds), \"residentBytes\": \(residentBytes), \"streamBytes\": \(streamBytes)}\n"
    }

    /// Bytes of this process that are in memory.
    private static var resident: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
