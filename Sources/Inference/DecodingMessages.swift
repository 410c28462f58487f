/// Says in a few words, without line breaks, what JSON decoding ran into and at which key.
func explain(_ error: any Error) -> String {
    guard let error = error as? DecodingError else { return "not valid JSON" }
    switch error {
    case .keyNotFound(let key, let context):
        return "\(place(context.codingPath + [key])) is missing"
    case .typeMismatch(let type, let context):
        return "\(place(context.codingPath)) is not \(kind(type))"
    case .valueNotFound(let type, let context):
        return "\(place(context.codingPath)) is null, not \(kind(type))"
    case .dataCorrupted(let context):
        if context.codingPath.isEmpty { return "not valid JSON" }
        return "\(place(context.codingPath)): \(oneLine(context.debugDescription))"
    @unknown default:
        return "not valid JSON"
    }
}

/// A path of keys as one reads it: `layers[3].kernel`.
private func place(_ path: [any CodingKey]) -> String {
    var text = ""
    for key in path.prefix(8) {
        if let index = key.intValue {
            text += "[\(index)]"
        } else {
            text += (text.isEmpty ? "" : ".") + key.stringValue
        }
    }
    return text.isEmpty ? "the whole" : "key " + quoted(text)
}

private func kind(_ type: any Any.Type) -> String {
    switch type {
    case is String.Type: "text"
    case is Bool.Type: "true or false"
    case is Int.Type: "a whole number"
    case is Double.Type, is Float.Type: "a number that fits"
    case is any Collection.Type: "a list or an object"
    default: "an object"
    }
}

private func oneLine(_ text: String) -> String {
    String(text.unicodeScalars.prefix(160).map { $0.value < 0x20 ? " " : Character($0) })
}
