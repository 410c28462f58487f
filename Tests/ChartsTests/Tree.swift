import Foundation
import FoundationXML
import Testing

/// XML as its parser sees it; that there is a tree at all shows that the source is well-formed.
final class Tree: NSObject, XMLParserDelegate {
    final class Element {
        let name: String
        let attributes: [String: String]
        fileprivate(set) var text = ""

        fileprivate init(_ name: String, _ attributes: [String: String]) {
            self.name = name
            self.attributes = attributes
        }

        func number(_ attribute: String) -> Double? { attributes[attribute].flatMap(Double.init) }
    }

    /// In the order of their start tags.
    private(set) var elements: [Element] = []
    private var open: [Element] = []

    init(_ source: String) throws {
        super.init()
        let parser = XMLParser(data: Data(source.utf8))
        parser.delegate = self
        let parsed = parser.parse()
        try #require(parsed, "line \(parser.lineNumber): \(String(describing: parser.parserError))")
    }

    func all(_ name: String) -> [Element] { elements.filter { $0.name == name } }

    func texts(_ name: String) -> [String] { all(name).map(\.text) }

    func parser(
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

    func parser(_ parser: XMLParser, foundCharacters text: String) { open.last?.text += text }

    func parser(_ parser: XMLParser, didEndElement: String, namespaceURI: String?, qualifiedName: String?) {
        _ = open.popLast()
    }
}
