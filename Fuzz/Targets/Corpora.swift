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

/// The journal of a file of results.
func fuzzJournal(_ bytes: [UInt8]) {
    var ends: (Int32, Int32) = (-1, -1)
    let result = withUnsafeMutablePointer(to: &ends) { pair in
        pair.withMemoryRebound(to: Int32.self, capacity: 2) { pipe($0) }
    }
    guard result == 0 else { return }
    // At most 4096 bytes, which a pipe takes at once.
    let journal = Array(("beckon-journal 1 x\n").utf8) + bytes.prefix(4000)
    write(ends.1, journal, journal.count)
    close(ends.1)
    defer { close(ends.0) }
    var contents = JournalContents(heading: "beckon-journal 1 x\n")
    guard (try? contents.read(ends.0, path: "j", results: "r", length: 1000)) != nil else { return }
    check((0...1000).contains(contents.resultBytes), "results of \(contents.resultBytes) bytes")
    check((19...journal.count).contains(contents.journalBytes), "a journal of \(contents.journalBytes) bytes")
    check(journal[contents.journalBytes - 1] == 10, "a torn line is kept")
    check(contents.names.count == journal[..<contents.journalBytes].count { $0 == 10 } - 1, "names are missing")
}
