/// A number with a fixed count of decimals, always with a point.
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

/// A confidence as people read it, such as `97 %`.
public func percent(_ confidence: Float) -> String { decimal(Double(confidence) * 100, 0) + " %" }

/// A name as one line of plain text: file names may hold line ends and escape sequences.
public func printable(_ name: String) -> String {
    String(String.UnicodeScalarView(name.unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : $0 }))
}

/// A number without a fraction where it has none: `2`, `0.5`.
public func shortest(_ number: Double) -> String {
    guard let whole = Int(exactly: number), whole.magnitude < 1 << 53 else { return "\(number)" }
    return String(whole)
}
