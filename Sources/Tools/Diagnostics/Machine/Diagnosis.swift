/// The result of one check, and what to do about it.
public struct Diagnosis: Equatable, Sendable {
    public enum Grade: String, Sendable {
        case ok, warning, error
    }

    public let grade: Grade
    /// Name of the check for programs, such as `devices` or `level`.
    public let check: String
    /// What was found and what it means, in one line.
    public let text: String
    /// What to do; empty where nothing is to be done.
    public let remedy: String

    public init(_ grade: Grade, _ check: String, _ text: String, _ remedy: String = "") {
        self.grade = grade
        self.check = check
        self.text = text
        self.remedy = remedy
    }
}
