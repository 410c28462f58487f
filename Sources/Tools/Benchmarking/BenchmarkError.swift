/// Why a measurement failed, or why its report cannot be read.
public struct BenchmarkError: Error, CustomStringConvertible, Sendable {
    /// One line: the object, what is wrong with it, what to do.
    public let description: String

    init(_ description: String) { self.description = description }
}
