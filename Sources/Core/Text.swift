/// A number with a fixed number of decimals and a decimal point, in every locale; `0` if not finite or from 1e12 on.
public func decimal(_ value: Double, _ places: Int) -> String {
    var scale = 1
    for _ in 0..<places { scale *= 10 }
    guard value.isFinite, abs(value) < 1e12 else { return "0" }
    let scaled = Int((abs(value) * Double(scale)).rounded())
    let sign = value < 0 && scaled > 0 ? "-" : ""
    guard places > 0 else { return sign + String(scaled) }
    let fraction = String(scaled % scale)
    let zeros = String(repeating: "0", count: places - fraction.count)
    return "\(sign)\(scaled / scale).\(zeros)\(fraction)"
}

/// A confidence from 0 to 1 as a percentage, such as `97 %`.
public func percent(_ confidence: Float) -> String { decimal(Double(confidence) * 100, 0) + " %" }

/// Text from outside as one line that is safe on a terminal: control characters and line separators become `?`.
///
/// File names may contain newlines and escape sequences, but a message must stay one line.
public func printable(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: breaksLine) else { return text }
    var cleaned = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { cleaned.append(breaksLine(scalar) ? "?" : scalar) }
    return String(cleaned)
}

private func breaksLine(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: false
    }
}

/// A number as its shortest text, without decimals if it is whole: `2`, `0.5`.
public func shortest(_ number: Double) -> String {
    guard let whole = Int(exactly: number), whole.magnitude < 1 << 53 else { return "\(number)" }
    return String(whole)
}
