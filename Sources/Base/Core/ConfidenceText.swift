/// What a confidence may have meant that a person wrote in another way: as a percentage, or with a decimal comma.
public enum ConfidenceText {
    /// The confidence between 0 and 1 that a text stands for, such as `0.8` for `80`, `80%` and `0,8`; nil for any other text.
    public static func meant(by text: String) -> String? {
        let number = text.replacing(",", with: ".").replacing("%", with: "").replacing(" ", with: "")
        guard let value = Double(decimal: number) else { return nil }
        if Float(value) > 0, Float(value) < 1, !text.contains("%") { return number }
        return percentage(value, from: text.contains("%") ? 1 : lowestPercentage)
    }

    /// The confidence that a number stands for that is too large for one, such as 0.8 for 80; nil for any other number.
    public static func meant(by number: Double) -> String? { percentage(number, from: lowestPercentage) }

    /// A number below it is rather a mistake than a percentage.
    private static let lowestPercentage = 10.0

    private static func percentage(_ number: Double, from lowest: Double) -> String? {
        guard number >= lowest, number < 100 else { return nil }
        return shortest((number * 100).rounded() / 10_000)
    }
}
