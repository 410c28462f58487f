import System

/// Why a measurement failed, or why its report cannot be read.
public struct BenchmarkError: Error, Equatable, CustomStringConvertible, Sendable {
    private enum Code: Equatable { case report, endToEnd, startUp, resampler, wyoming }

    private let code: Code
    /// One line: the object, what is wrong with it, what to do.
    public let description: String

    private init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// Equality is on the kind of error alone.
    public static func == (left: BenchmarkError, right: BenchmarkError) -> Bool { left.code == right.code }

    /// A file that is not a report of `bench`.
    static func report(_ text: String) -> BenchmarkError { BenchmarkError(.report, text) }

    /// A label track, a device or a program cannot be used by ``EndToEnd``.
    static func endToEnd(_ text: String) -> BenchmarkError { BenchmarkError(.endToEnd, text) }

    /// A copy of the program did not start, or gave no score.
    static func startUp(_ text: String) -> BenchmarkError { BenchmarkError(.startUp, text) }

    /// For `SystemThread`.
    static func noThread(_ error: SystemError) -> BenchmarkError { BenchmarkError(.wyoming, "\(error)") }

    /// A server cannot be measured.
    static func wyoming(_ text: String) -> BenchmarkError { BenchmarkError(.wyoming, text) }

    /// The resampler stopped consuming input.
    static let resampler = BenchmarkError(.resampler, "the resampler stopped in the middle of its input")
}
