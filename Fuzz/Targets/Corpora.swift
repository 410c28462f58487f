import Core
import Glibc

@testable import Corpus

/// Requests of an engine: the same parts, however the bytes are cut, and as much audio as was promised.
func fuzzWorker(_ bytes: [UInt8]) {
    func parts(pieces size: Int) -> [WorkerRequests.Part] {
        var requests = WorkerRequests()
        var parts: [WorkerRequests.Part] = []
        func add(_ part: WorkerRequests.Part) {
            if case .bytes(let more) = part, case .bytes(let before)? = parts.last {
                parts[parts.count - 1] = .bytes((before + more)[...])
            } else {
                parts.append(part)
            }
        }
        for start in stride(from: 0, to: bytes.count, by: size) {
            requests.take(bytes[start..<min(bytes.count, start + size)], add)
        }
        if !requests.isBroken { requests.finish(add) }
        return parts
    }
    let whole = parts(pieces: max(1, bytes.count))
    for size in [1, 7, 64] { check(parts(pieces: size) == whole, "other parts in pieces of \(size)") }
    var promised = 0
    for part in whole {
        switch part {
        case .begin(_, let count): promised = count
        case .bytes(let audio):
            promised -= audio.count
            check(promised >= 0, "more audio than promised")
        case .end: check(promised == 0, "\(promised) bytes of audio are missing")
        case .breakdown: check(part == whole.last, "parts after a breakdown")
        case .file, .refusal: break
        }
    }
}

/// The journal of a file of results: lines whose checks are made right by the target, so that what they say is read; and as they come.
func fuzzJournal(_ bytes: [UInt8]) {
    let lines = bytes.prefix(4000).split(separator: 10, omittingEmptySubsequences: false)
    var writer = JournalContents(heading: "x")
    let first = writer.begin()
    var chain = writer.chain
    let checked = first + lines.dropLast().flatMap { chain.line(Array($0)) } + (lines.last ?? [])
    readJournal(checked, first.count)
    let former = Array("beckon-journal 1 x\n".utf8)
    readJournal(former + bytes, former.count)
    // Any other line: nothing but the whole of it is taken.
    guard let names = readJournal(first + bytes, first.count) else { return }
    check(names == 0, "\(names) lines without checks are taken")
}

/// Returns the number of names; nil if the journal is refused.
@discardableResult
private func readJournal(_ journal: [UInt8], _ first: Int) -> Int? {
    var contents = JournalContents(heading: "x")
    var rest: [UInt8] = []
    for start in stride(from: 0, to: journal.count, by: 100) {
        let part = journal[start..<min(start + 100, journal.count)]
        guard (try? contents.take(&rest, part, path: "j", results: "r")) != nil else { return nil }
    }
    check(contents.resultBytes >= 0, "results of \(contents.resultBytes) bytes")
    check((first...journal.count).contains(contents.journalBytes), "a journal of \(contents.journalBytes) bytes")
    check(journal[contents.journalBytes - 1] == 10, "a torn line is kept")
    check(contents.names.count == journal[..<contents.journalBytes].count { $0 == 10 } - 1, "names are missing")
    return contents.names.count
}
