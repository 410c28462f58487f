/// Colours by meaning; the style sheet defines them for light and dark mode.
public enum Colour: Sendable, Equatable {
    /// One of six colours that are distinct for the colour-blind too (Okabe and Ito 2008); from the seventh series on they
    /// repeat, and lines are dashed.
    case series(Int)
    /// Colour of text.
    case ink
    /// Colour of secondary text.
    case faint
    /// Colour of errors.
    case alarm

    static let seriesCount = 6

    var style: String {
        switch self {
        case .series(let number): "var(--series-\(Colour.wrapped(number) + 1))"
        case .ink: "var(--ink)"
        case .faint: "var(--faint)"
        case .alarm: "var(--alarm)"
        }
    }

    /// Dash pattern that distinguishes a series from earlier ones of the same colour.
    var dashes: String? {
        guard case .series(let number) = self, number >= Colour.seriesCount else { return nil }
        return ["7 3", "2 3", "9 3 2 3"][(number / Colour.seriesCount - 1) % 3]
    }

    private static func wrapped(_ number: Int) -> Int { ((number % seriesCount) + seriesCount) % seriesCount }
}
