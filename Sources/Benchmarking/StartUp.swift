import Core
private import FoundationEssentials
private import Glibc
private import Inference
private import Spotting
private import System

/// Time from the start of the program to its first score, and its memory then: measured on copies of itself.
public struct StartUp: Codable, Sendable {
    /// From before the copy is started; its files are in the page cache.
    let milliseconds: Timing
    let kernels: String
    /// With one detector, after its first score.
    let residentBytes: Int
    /// Memory of one more stream, with its detector and its ring of audio.
    let streamBytes: Int

    private static let trials = 5

    /// - Parameters:
    ///   - kernels: the instruction set that `arguments` choose.
    ///   - arguments: with which the program prints a ``FirstScore`` and ends.
    /// - Throws: ``BenchmarkError`` where a copy cannot be started or gives no score, as when Ctrl-C ends it too.
    public init(kernels: String, arguments: [String]) throws(BenchmarkError) {
        self.kernels = kernels
        var times: [Double] = []
        var memory: [FirstScore] = []
        // The first brings the files into the page cache, and does not count.
        for trial in 0...Self.trials {
            let start = Clock.raw
            let score = try Self.spawn(arguments)
            guard trial > 0 else { continue }
            times.append(Double(score.nanoseconds - start.nanoseconds) / 1e6)
            memory.append(score)
        }
        guard let timing = Timing(times), let last = memory.last else {
            throw .startUp("the start-up was not measured")
        }
        milliseconds = timing
        residentBytes = last.residentBytes
        streamBytes = last.streamBytes
    }

    private static func spawn(_ arguments: [String]) throws(BenchmarkError) -> FirstScore {
        let environment = ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }
        let output: [UInt8]
        do throws(SystemError) {
            output = try runOwnCopy(arguments, environment: environment)
        } catch {
            throw .startUp("cannot start a copy of the program: \(error)")
        }
        guard let score = try? JSONDecoder().decode(FirstScore.self, from: Data(output)) else {
            throw .startUp("a copy of the program, started to time it, ended without a score")
        }
        return score
    }
}

/// What a copy of the program measures for ``StartUp``.
public struct FirstScore: Codable, Sendable {
    /// When it had scored, on ``Clock/raw``.
    public let nanoseconds: Int64
    public let residentBytes: Int
    public let streamBytes: Int

    /// Scores a second of sound with one stream, then with many.
    ///
    /// - Throws: `AudioError` where there is no memory for a ring.
    public init(_ recipe: DetectorRecipe) throws {
        let sound = HopWork.sound(recipe.model)
        let work = try HopWork(recipe, sound: sound)
        work.run()
        nanoseconds = Clock.raw.nanoseconds
        residentBytes = Self.resident
        // Many streams: the growth by one alone would be lost in what the heap holds in reserve.
        let count = 32
        let others = try (0..<count).map { _ in try HopWork(recipe, sound: sound) }
        for other in others { other.run() }
        streamBytes = max(0, Self.resident - residentBytes) / count
        withExtendedLifetime((work, others)) {}
    }

    /// Resident memory of this process, in bytes.
    private static var resident: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
