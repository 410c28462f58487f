/// A number with a fixed number of decimals and a decimal point, in every locale; `0` if not finite or from 1e12 on.
public func decimal(_ value: Double, _ places: Int) -> String {
    var scale = 1
    for _ in 0..<places { scale *= 10 }
    guard value.isFinite, abs(value) < 1e12 else { return "0" }
    let scaled = Int((abs(value) * Double(scale)).rounded())
    let sign = value < 0 && scaled > 0 ? "-" : ""
    guard places > 0 else { return sign + String(scaled) }
    return "\(sign)\(scaled / scale).\(padded(scaled % scale, places))"
}

/// A number that is not negative, with zeros before it up to a width.
public func padded(_ number: some BinaryInteger, _ width: Int, radix: Int = 10) -> String {
    let digits = String(number, radix: radix)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

/// A number of things in words: `1 word`, `2 words`, `0 words`.
///
/// - Parameter many: the plural, where it is not the singular with an s.
public func counted(_ count: some BinaryInteger, _ one: String, _ many: String? = nil) -> String {
    "\(count) \(count == 1 ? one : many ?? one + "s")"
}

/// A confidence from 0 to 1 as a percentage, such as `97 %`.
public func percent(_ confidence: Float) -> String { percent(Double(confidence)) }

/// A share from 0 to 1, likewise.
public func percent(_ share: Double) -> String { decimal(share * 100, 0) + " %" }

/// Text from outside as one line that is safe on a terminal: what ``isHidden(_:)`` finds becomes `?`, and bytes of a file's name that are
/// not UTF-8 become U+FFFD, as in ``FileName/shown(_:)``.
///
/// File names may contain newlines and escape sequences, but a message must stay one line, and show what it names.
public func printable(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isHidden) else { return text }
    var cleaned = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        cleaned.append(FileName.isRawByte(scalar) ? "\u{FFFD}" : isHidden(scalar) ? "?" : scalar)
    }
    return String(cleaned)
}

/// A name from a file in quotes, as one printable line of at most 60 characters.
public func quoted(_ name: String) -> String {
    let isLong = name.unicodeScalars.count > 60
    return "“" + printable(String(name.unicodeScalars.prefix(60))) + (isLong ? "…" : "") + "”"
}

/// Whether a scalar moves the cursor, breaks the line, or changes how its neighbours are shown: control characters, line and
/// paragraph separators, format characters such as U+202E, which reverses the text after it, and bytes that are not UTF-8.
///
/// The joiners U+200C and U+200D are not among them: Persian, Indic scripts and emoji are written with them.
public func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.value < 0x7F { return scalar.value < 0x20 }
    // First, as U+10FFFE and U+10FFFF are no characters of private use, but none at all.
    if FileName.isRawByte(scalar) { return true }
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: return true
    case .format: return !isJoiner(scalar)
    default: return false
    }
}

private func isJoiner(_ scalar: Unicode.Scalar) -> Bool { scalar.value == 0x200C || scalar.value == 0x200D }

/// Whether a name shows all that it consists of: nothing that ``isHidden(_:)`` finds, and joiners only where scripts need
/// them, between characters beyond ASCII.
public func isReadableName(_ name: String) -> Bool {
    let scalars = Array(name.unicodeScalars)
    return scalars.indices.allSatisfy { index in
        guard isJoiner(scalars[index]) else { return !isHidden(scalars[index]) }
        return index > 0 && index + 1 < scalars.count && !scalars[index - 1].isASCII && !scalars[index + 1].isASCII
    }
}

/// A duration in its two largest units, rounded down: `12 s`, `3 min 5 s`, `2 h 5 min`, `3 d 4 h`.
public func durationText(_ seconds: Double) -> String {
    let whole = seconds.isFinite ? Int(max(0, min(seconds, 1e12))) : 0
    let units = [("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)]
    let first = units.firstIndex { whole >= $0.1 } ?? units.count - 1
    let rest = whole % units[first].1
    let second =
        first + 1 < units.count && rest >= units[first + 1].1
        ? " \(rest / units[first + 1].1) \(units[first + 1].0)" : ""
    return "\(whole / units[first].1) \(units[first].0)\(second)"
}

/// A number as its shortest text, without decimals if it is whole: `2`, `0.5`.
public func shortest(_ number: Double) -> String {
    guard let whole = Int(exactly: number), whole.magnitude < 1 << 53 else { return "\(number)" }
    return String(whole)
}

/// The first line of a text file, without a byte-order mark and without its end, LF or CRLF.
public func firstLine(of text: String) -> String {
    let scalars = text.unicodeScalars.drop { $0 == "\u{FEFF}" }
    return String(String.UnicodeScalarView(scalars.prefix { $0 != "\n" && $0 != "\r" }))
}
