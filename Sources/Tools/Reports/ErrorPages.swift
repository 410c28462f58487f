private import Core
public import Evaluation

/// Which pages of `inspect` show the errors of a ``StreamReport``: a page shows one error, or several close to each other.
public struct ErrorPages: Sendable {
    /// A part of a recording with errors.
    public struct Part: Sendable, Equatable {
        public let path: String
        /// Index of the report's setting.
        public let setting: Int
        /// In seconds, whole hops.
        public fileprivate(set) var from: Double
        public fileprivate(set) var to: Double
        public fileprivate(set) var errors: [DetectionError]
        /// Name of the page within ``folder``; nil for one beyond the limit, which is not written.
        public fileprivate(set) var name: String?
    }

    /// Name of the folder of pages, beside the page of the report.
    public let folder: String
    /// Name of the report's page.
    public let report: String
    public private(set) var parts: [Part] = []
    /// The part of each error, `[settings × errors]`.
    private var places: [[Int]] = []

    /// Longest part of several errors, in seconds.
    private static let longest = 15.0

    /// - Parameters:
    ///   - page: path of the report's page; the folder beside it is named after it.
    ///   - limit: how many pages to write.
    public init(_ report: StreamReport, page: String, limit: Int) {
        self.report = page.split(separator: "/").last.map(String.init) ?? page
        folder = PathName(self.report).stem + "-errors"
        for (number, setting) in report.settings.enumerated() {
            var open: [String: Int] = [:]
            places.append(
                setting.errors.map { error in
                    let from = (max(0, min(error.time, error.start ?? error.time) - 2.5) * 10).rounded(.down) / 10
                    let to = ((max(error.time, error.end ?? error.time) + 1.5) * 10).rounded(.up) / 10
                    if let last = open[error.path], parts[last].to >= from, to - parts[last].from <= Self.longest {
                        parts[last].to = max(parts[last].to, to)
                        parts[last].from = min(parts[last].from, from)
                        parts[last].errors.append(error)
                        return last
                    }
                    parts.append(Part(path: error.path, setting: number, from: from, to: to, errors: [error]))
                    open[error.path] = parts.count - 1
                    return parts.count - 1
                }
            )
        }
        name(limit, of: report)
    }

    /// Names the parts to write: of each setting and kind of error alike, so that no kind takes all pages.
    private mutating func name(_ limit: Int, of report: StreamReport) {
        var queues: [[Int]] = []
        for setting in report.settings.indices {
            for kind in DetectionError.Kind.allCases {
                queues.append(
                    parts.indices.filter { parts[$0].setting == setting && parts[$0].errors.first?.kind == kind }
                )
            }
        }
        let deepest = queues.map(\.count).max() ?? 0
        let ordered = (0..<deepest).flatMap { depth in
            queues.compactMap { $0.indices.contains(depth) ? $0[depth] : nil }
        }
        for (number, part) in ordered.prefix(max(0, limit)).sorted().enumerated() {
            let mode = report.settings[parts[part].setting].mode
            let digits = "\(number + 1)"
            let padded = String(repeating: "0", count: max(0, 3 - digits.count)) + digits
            parts[part].name = "\(padded)-\(mode)-\(Self.plain(PathName(parts[part].path).stem)).html"
        }
    }

    /// The part that shows an error.
    func part(setting: Int, error: Int) -> Part? {
        guard places.indices.contains(setting), places[setting].indices.contains(error) else { return nil }
        let part = places[setting][error]
        return parts.indices.contains(part) ? parts[part] : nil
    }

    /// Address of a written page, relative to the report's page.
    func address(of part: Part) -> String? { part.name.map { Self.encoded(folder) + "/" + Self.encoded($0) } }

    /// Address of the report's page, relative to the pages in the folder.
    public var back: String { "../" + Self.encoded(report) }

    /// Whether any page is to be written.
    public var isEmpty: Bool { parts.allSatisfy { $0.name == nil } }

    /// At most 40 characters of a file's name that are plain everywhere.
    private static func plain(_ name: String) -> String {
        String(name.prefix(40).map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") ? $0 : "_" })
    }

    /// A file's name as part of a relative address (RFC 3986), also one whose bytes are not UTF-8.
    static func encoded(_ name: String) -> String {
        let digits = Array("0123456789ABCDEF")
        return FileName.bytes(name).map { byte in
            let scalar = Unicode.Scalar(byte)
            let isPlain = byte < 0x80 && (scalar.properties.isAlphabetic || scalar.properties.numericType == .decimal)
            return isPlain || "-._~".unicodeScalars.contains(scalar)
                ? String(scalar) : "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
        }.joined()
    }
}

extension InspectPage {
    /// Says above the charts which errors the page shows, and marks the words that were said.
    ///
    /// - Parameter pages: what the page belongs to; its link leads back to the report.
    public mutating func explain(_ part: ErrorPages.Part, of pages: ErrorPages) {
        back = ("back to the report", pages.back)
        remarks = part.errors.map(\.sentence)
        for error in part.errors {
            guard let word = error.said, let start = error.start, let end = error.end else { continue }
            said.append(Said(word: word, start: start, end: end))
        }
    }
}

extension DetectionError {
    /// The error in one sentence.
    fileprivate var sentence: String {
        let needed = threshold.map { "; it needs \(shareText($0))" } ?? ""
        switch kind {
        case .miss:
            return "Missed: “\(said ?? "")” is said at \(positionText(start ?? time)). Its score reached "
                + "\(shareText(score)) at \(positionText(time))\(needed)."
        case .wrongWord:
            return
                "Wrong word: “\(said ?? "")” is said at \(positionText(start ?? time)), but “\(heard ?? "")” was detected at "
                + "\(positionText(time)) with \(shareText(score))\(needed)."
        case .falseAccept:
            return
                "False accept: “\(heard ?? "")” was detected at \(positionText(time)) with \(shareText(score))\(needed), but is "
                + "not said there, or was detected before."
        }
    }
}
