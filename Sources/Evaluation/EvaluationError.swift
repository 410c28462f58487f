/// What can be wrong with what a measurement compares with.
public struct EvaluationError: Error, Equatable, CustomStringConvertible, Sendable {
    private enum Code: Equatable { case track, trackTooLong }

    private let code: Code
    /// One line: where, what is wrong, what to do.
    public let description: String

    /// Equality is on the kind of error alone.
    public static func == (left: EvaluationError, right: EvaluationError) -> Bool { left.code == right.code }

    /// A line of a label track that is none.
    public static func track(_ file: String, line: Int, _ problem: String) -> EvaluationError {
        EvaluationError(
            code: .track,
            description: "\(file), line \(line): \(problem); a label track has lines of "
                + "start, end (both in seconds) and label, with tabs between"
        )
    }

    /// A label that starts behind the end of the audio.
    public static func beyondEnd(_ file: String, start: Double, seconds: Double) -> EvaluationError {
        EvaluationError(
            code: .trackTooLong,
            description:
                "\(file): a label starts at \(milliseconds(start)) s, but the audio ends at \(milliseconds(seconds)) s; "
                + "is it the track of another recording?"
        )
    }

    /// A time to the millisecond.
    private static func milliseconds(_ seconds: Double) -> Double { (seconds * 1000).rounded() / 1000 }
}
