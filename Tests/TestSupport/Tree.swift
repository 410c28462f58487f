public import Foundation
public import FoundationXML

/// The elements of an XML source. A tree exists only if the source is well-formed.
public final class Tree: NSObject, XMLParserDelegate {
    public final class Element {
        public let name: String
        public let attributes: [String: String]
        public fileprivate(set) var text = ""

        fileprivate init(_ name: String, _ attributes: [String: String]) {
            self.name = name
            self.attributes = attributes
        }
    }

    /// In the order of their start tags.
    public private(set) var elements: [Element] = []
    private var open: [Element] = []

    public init(_ source: String) throws {
        super.init()
        let parser = XMLParser(data: Data(source.utf8))
        parser.delegate = self
        guard parser.parse() else {
            throw TreeError(line: parser.lineNumber, reason: "\(parser.parserError, default: "?")")
        }
    }

    public func all(_ name: String) -> [Element] { elements.filter { $0.name == name } }

    public func texts(_ name: String) -> [String] { all(name).map(\.text) }

    public func parser(
        _ parser: XMLParser,
        didStartElement name: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String]
    ) {
        let element = Element(name, attributes)
        elements.append(element)
        open.append(element)
    }

    public func parser(_ parser: XMLParser, foundCharacters text: String) { open.last?.text += text }

    public func parser(_ parser: XMLParser, didEndElement: String, namespaceURI: String?, qualifiedName: String?) {
        _ = open.popLast()
    }
}

/// The source is not well-formed XML.
public struct TreeError: Error {
    public let line: Int
    public let reason: String
}
