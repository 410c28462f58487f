private import Core
private import Glibc
private import System

/// The check that each line of a journal begins with: a hash of the line and of all lines before it, so that no line can change, be
/// missing, come twice or in another order without being noticed. Journals of version 1 have none.
struct JournalChain {
    static let digits = 16

    let isChecked: Bool
    private var hash: UInt64 = 0

    /// - Parameter heading: the first line, without its end.
    init(isChecked: Bool, heading: [UInt8]) {
        self.isChecked = isChecked
        hash = Shard.hash(heading)
    }

    /// The next line for a text, with its check and its end.
    mutating func line(_ text: [UInt8]) -> [UInt8] {
        guard isChecked else { return text + [10] }
        let check = next(text)
        return check + [32] + text + [10]
    }

    /// The text of the next line, without its end; nil if the check is wrong.
    mutating func text(of line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard isChecked else { return line }
        let text = line.dropFirst(Self.digits + 1)
        guard line.count > Self.digits, line.dropFirst(Self.digits).first == 32,
            line.prefix(Self.digits).elementsEqual(next(Array(text)))
        else { return nil }
        return text
    }

    private mutating func next(_ text: [UInt8]) -> [UInt8] {
        hash = Shard.hash(withUnsafeBytes(of: hash.littleEndian) { Array($0) } + text)
        let digits = String(hash, radix: 16)
        return Array((String(repeating: "0", count: Self.digits - digits.count) + digits).utf8)
    }
}

/// What a journal says: its first line is a heading, each other one a check, the length of the results, `done` or `failed`, and a name.
struct JournalContents {
    private(set) var names = DoneNames()
    private(set) var failures = 0
    /// Length of the results at the end of the last file.
    private(set) var resultBytes = 0
    /// Length of the journal up to its last whole line.
    private(set) var journalBytes = 0
    /// The checks of the lines so far.
    private(set) var chain: JournalChain
    private let heading: [UInt8]
    private var line = 0

    private static let longestLine = 64 << 10
    private static let mark = Array("beckon-journal ".utf8)

    /// - Parameter heading: what the results depend on.
    init(heading: String) {
        self.heading = Self.escaped(heading)
        chain = JournalChain(isChecked: true, heading: [])
    }

    /// The first line of a version, without its end. Version 1 had no checks; its journals are resumed as they are.
    private func heading(version: Int) -> [UInt8] { Self.mark + Array("\(version) ".utf8) + heading }

    /// Begins a new journal. Returns its first line.
    mutating func begin() -> [UInt8] {
        let first = heading(version: 2)
        chain = JournalChain(isChecked: true, heading: first)
        return first + [10]
    }

    /// Whether a file is empty, or begins as a journal does, as far as it goes: else it is not this program's.
    static func isOwn(_ descriptor: Int32) -> Bool {
        var start = [UInt8](repeating: 0, count: mark.count)
        let count = pread(descriptor, &start, start.count, 0)
        return count >= 0 && start.prefix(count).elementsEqual(mark.prefix(count))
    }

    /// Reads a journal.
    ///
    /// - Parameter length: bytes of the results.
    mutating func read(
        _ descriptor: Int32,
        path: String,
        results: String,
        length: Int
    ) throws(ResultsFileError) {
        var rest: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(descriptor, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw ResultsFileError("\(printable(path)) cannot be read: \(SystemError.text(errno))")
            }
            if count == 0 { break }
            try take(&rest, part[..<count], path: path, results: results)
        }
        guard resultBytes <= length else {
            throw ResultsFileError(
                "\(printable(results)) has \(length) bytes, but had \(resultBytes) when its last file ended; it was changed: "
                    + "remove it and its journal, or choose another --output"
            )
        }
    }

    /// Takes the whole lines of what was read, and keeps the rest.
    mutating func take(
        _ rest: inout [UInt8],
        _ part: ArraySlice<UInt8>,
        path: String,
        results: String
    ) throws(ResultsFileError) {
        rest += part
        var start = 0
        while let end = rest[start...].firstIndex(of: 10) {
            line += 1
            switch take(rest[start..<end]) {
            case .fine: journalBytes += end + 1 - start
            case .otherHeading:
                throw ResultsFileError(
                    "\(printable(results)) was begun with other options, another model or another version; give the same, "
                        + "or choose another --output"
                )
            case .damaged: throw damaged(path)
            }
            start = end + 1
        }
        rest.removeFirst(start)
        guard rest.count <= Self.longestLine else { throw damaged(path) }
    }

    private enum Verdict { case fine, otherHeading, damaged }

    private mutating func take(_ bytes: ArraySlice<UInt8>) -> Verdict {
        guard line > 1 else {
            for version in 1...2 where bytes.elementsEqual(heading(version: version)) {
                chain = JournalChain(isChecked: version > 1, heading: Array(bytes))
                return .fine
            }
            return .otherHeading
        }
        guard let text = chain.text(of: bytes) else { return .damaged }
        let fields = text.split(separator: 32, maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count == 3, let end = Int(digits: fields[0]), end >= resultBytes,
            fields[1].elementsEqual("done".utf8) || fields[1].elementsEqual("failed".utf8)
        else { return .damaged }
        if fields[1].elementsEqual("failed".utf8) { failures += 1 }
        resultBytes = end
        names.add(escaped: fields[2])
        return .fine
    }

    private func damaged(_ path: String) -> ResultsFileError {
        ResultsFileError(
            "\(printable(path)), line \(line): this journal is damaged; remove it and its results, or choose another --output"
        )
    }

    /// A name without spaces and control characters: these and `%` become `%` and two digits.
    static func escaped(_ name: String) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return FileName.bytes(name).flatMap { byte in
            byte > 32 && byte != 37 && byte != 127 ? [byte] : [37, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }
}
