import Core
private import Glibc
private import Inference
private import JSON
public import Spotting
private import System

/// Time from program start to first score, and resident memory then, measured on copies of this program.
public struct StartUp: Codable, Sendable {
    /// Time from just before the copy starts to its first score; the program's files are in the page cache.
    let milliseconds: Timing
    /// Instruction set of the kernels.
    let kernels: String
    /// Resident memory with one detector, after its first score.
    let residentBytes: Int
    /// Memory of one more stream, with its detector and its audio ring.
    let streamBytes: Int

    private static let trials = 5

    /// - Parameters:
    ///   - kernels: the instruction set that `arguments` choose.
    ///   - arguments: command line that makes the program print a ``FirstScore`` as JSON and exit.
    /// - Throws: ``BenchmarkError`` where a copy cannot be started or gives no score, for example because of Ctrl-C.
    public init(kernels: String, arguments: [String]) throws(BenchmarkError) {
        self.kernels = kernels
        var times: [Double] = []
        var memory: [FirstScore] = []
        // The first run loads the files into the page cache and is not counted.
        for trial in 0...Self.trials {
            let start = Clock.raw
            let score = try Self.spawn(arguments)
            guard trial > 0 else { continue }
            times.append(Double(score.nanoseconds - start.nanoseconds) / 1e6)
            memory.append(score)
        }
        guard let timing = Timing(times), let last = memory.last else {
            throw BenchmarkError("the start-up was not measured")
        }
        milliseconds = timing
        residentBytes = last.residentBytes
        streamBytes = last.streamBytes
    }

    private static func spawn(_ arguments: [String]) throws(BenchmarkError) -> FirstScore {
        let environment = OwnEnvironment.variables.map { "\($0)=\($1)" }
        let output: [UInt8]
        do throws(SystemError) {
            output = try runOwnCopy(arguments, environment: environment)
        } catch {
            throw BenchmarkError("cannot start a copy of the program: \(error)")
        }
        guard let score = try? FirstScore(json: output) else {
            throw BenchmarkError("a copy of the program, started to time it, ended without a score")
        }
        return score
    }
}

/// What a copy of the program measures for ``StartUp``.
public struct FirstScore: Codable, Sendable {
    /// Time of the first score, on ``Clock/raw``.
    public let nanoseconds: Int64
    /// Resident memory of the process at that time.
    public let residentBytes: Int
    /// Memory of one more stream.
    public let streamBytes: Int

    /// Scores one hop with one stream, then with 32 more.
    ///
    /// - Throws: `AudioError` where there is no memory for a ring.
    public init(_ settings: DetectorSettings) throws {
        let sound = HopWork.sound(settings.vocabulary.model)
        let work = try HopWork(settings, sound: sound)
        work.run()
        nanoseconds = Clock.raw.nanoseconds
        residentBytes = residentMemory ?? 0
        // 32 streams, because free memory of the heap would hide the growth by a single one.
        let count = 32
        let others = try (0..<count).map { _ in try HopWork(settings, sound: sound) }
        for other in others { other.run() }
        streamBytes = max(0, (residentMemory ?? 0) - residentBytes) / count
        withExtendedLifetime((work, others)) {}
    }
}
