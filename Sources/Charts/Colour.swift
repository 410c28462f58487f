/// Colours by meaning; a page defines them for its light and its dark style.
public enum Colour: Sendable, Equatable {
    /// Six colours that people with any kind of colour vision tell apart (Okabe and Ito 2008), over and over again; lines
    /// beyond the sixth are dashed too.
    case series(Int)
    /// As text.
    case ink
    /// As secondary text.
    case faint
    /// As the lines behind the data.
    case grid
    /// Something is wrong.
    case alarm

    static let seriesCount = 6

    var style: String {
        switch self {
        case .series(let number): "var(--series-\(Colour.wrapped(number) + 1))"
        case .ink: "var(--ink)"
        case .faint: "var(--faint)"
        case .grid: "var(--grid)"
        case .alarm: "var(--alarm)"
        }
    }

    /// Dashes that tell a series from those before it in the same colour.
    var dashes: String? {
        guard case .series(let number) = self, number >= Colour.seriesCount else { return nil }
        return ["7 3", "2 3", "9 3 2 3"][(number / Colour.seriesCount - 1) % 3]
    }

    private static func wrapped(_ number: Int) -> Int { ((number % seriesCount) + seriesCount) % seriesCount }
}
