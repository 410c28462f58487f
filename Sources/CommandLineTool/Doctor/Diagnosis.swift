private import Core

/// One thing that was looked at, how it is, and what to do about it.
struct Diagnosis: Equatable {
    enum Grade: String {
        case ok, warning, error
    }

    let grade: Grade
    /// What was looked at, for programs: `device`, `level`.
    let check: String
    /// What was found and what it means, in one line.
    let text: String
    /// What to do; empty where nothing is to be done.
    let remedy: String

    init(_ grade: Grade, _ check: String, _ text: String, _ remedy: String = "") {
        self.grade = grade
        self.check = check
        self.text = text
        self.remedy = remedy
    }

    /// For people: the finding, and on a line of its own what to do.
    var lines: String {
        let first = "\(pad(grade.rawValue, 7))  \(pad(check, 13))  \(printable(text))\n"
        return first + (remedy.isEmpty ? "" : pad("", 24) + "→ \(printable(remedy))\n")
    }

    /// One JSON object on a line.
    var json: String {
        """
        {"check": \(jsonString(check)), "grade": "\(grade.rawValue)", "text": \(jsonString(text)), \
        "remedy": \(remedy.isEmpty ? "null" : jsonString(remedy))}

        """
    }
}
