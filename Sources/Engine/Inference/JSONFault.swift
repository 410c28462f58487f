private import JSON

/// Where a text is not the JSON that was expected, and why.
struct JSONFault {
    /// For the end of a file's name: `:3:14: key “hopSamples” is not a whole number`.
    let text: String

    /// - Parameters:
    ///   - error: what decoding has thrown.
    ///   - json: the text.
    init(_ error: any Error, in json: [UInt8]) {
        guard let whole = String(validating: json, as: UTF8.self) else {
            text = ": not UTF-8 text"
            return
        }
        do throws(JSONError) {
            let node = Self.node(error, in: try JSONNode.parse(whole))
            text = ":\(node.place): \(explain(error))"
        } catch {
            text = ":\(error.place): \(error.reason)"
        }
    }

    /// The value that the error is about, or the nearest one that holds it.
    private static func node(_ error: any Error, in whole: JSONNode) -> JSONNode {
        var node = whole
        for key in (error as? DecodingError)?.path ?? [] {
            let inner =
                if let index = key.intValue {
                    node.elements.indices.contains(index) ? node.elements[index] : nil
                } else {
                    node[key.stringValue]
                }
            guard let inner else { break }
            node = inner
        }
        return node
    }
}

extension DecodingError {
    fileprivate var path: [any CodingKey] {
        switch self {
        case .keyNotFound(_, let context), .typeMismatch(_, let context), .valueNotFound(_, let context),
            .dataCorrupted(let context):
            context.codingPath
        @unknown default: []
        }
    }
}
