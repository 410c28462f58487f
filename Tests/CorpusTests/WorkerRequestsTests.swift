import TestSupport
import Testing

@testable import Corpus

struct WorkerRequestsTests {
    private typealias Part = WorkerRequests.Part

    /// The parts of some bytes that are taken in pieces, with the pieces of audio joined.
    private static func parts(_ bytes: [UInt8], cut: [Int] = []) -> [Part] {
        var requests = WorkerRequests()
        var parts: [Part] = []
        func add(_ part: Part) {
            if case .bytes(let more) = part, case .bytes(let before)? = parts.last {
                parts[parts.count - 1] = .bytes((before + more)[...])
            } else {
                parts.append(part)
            }
        }
        var start = 0
        for end in cut + [bytes.count] {
            requests.take(bytes[start..<end], add)
            start = end
        }
        if !requests.isBroken { requests.finish(add) }
        return parts
    }

    private static func parts(_ text: String) -> [Part] { parts(Array(text.utf8)) }

    @Test func `requests by name and with bytes`() {
        let text =
            "{\"file\": \"talks/one.wav\"}\n\n{\"name\":\"b\",\"bytes\":7}\n{\"a\":1}"
            + "{\"bytes\": 0, \"name\": \"c\", \"id\": 5}\r\n  \n{\"file\":\"\\u00e9\\n.wav\"}"
        #expect(
            Self.parts(text) == [
                .file("talks/one.wav"), .begin(name: "b", bytes: 7), .bytes(Array("{\"a\":1}".utf8)[...]), .end,
                .begin(name: "c", bytes: 0), .end, .file("é\n.wav"),
            ]
        )
    }

    @Test func `requests that cannot be served do not stop the next`() {
        let table: [(line: String, name: String?, says: String)] = [
            ("{}", nil, "needs either file, or name and bytes"), ("{\"name\": \"a\"}", "a", "needs either file"),
            ("{\"file\": \"a\", \"name\": \"b\"}", "b", "needs either file"),
            ("{\"bytes\": 3}\nabc", nil, "bytes of audio without one name"),
            ("{\"file\": \"a\", \"bytes\": 3}\nabc", "a", "bytes of audio without one name"),
        ]
        for (line, name, says) in table {
            let parts = Self.parts(line + "\n{\"file\": \"next\"}\n")
            guard parts.count == 2, case .refusal(let found, let reason) = parts[0] else {
                Issue.record("\(line): \(parts)")
                continue
            }
            // The audio has no newline after it; the empty line is left out.
            #expect(found == name && reason.contains(says) && parts[1] == .file("next"), "\(line): \(parts)")
        }
    }

    @Test func `what cannot be told from audio ends the worker`() {
        let table: [(text: String, says: String)] = [
            ("hello\n{\"file\": \"a\"}\n", "is not a request"), ("{\"file\": 5}\n", "is not a request"),
            ("{\"name\": \"a\", \"bytes\": -1}\n", "is not a request"),
            ("{\"name\": \"a\", \"bytes\": 1.5}\n", "is not a request"),
            ("{\"name\": \"a\", \"bytes\": 1e300}\n", "is not a request"), ("[1]\n", "is not a request"),
            ("\u{0}\n", "is not a request"), (String(repeating: "[", count: 60_000) + "\n", "is not a request"),
            (String(repeating: "x", count: 70_000), "more than 65536 bytes"),
            ("{\"name\": \"a\", \"bytes\": 9}\nabc", "6 bytes of the last request are missing"),
            ("{\"name\": \"a\", \"bytes\": 99999999999}\nabc", "bytes of the last request are missing"),
            ("{\"file\": ", "is not a request"),
        ]
        for (text, says) in table {
            let parts = Self.parts(text)
            guard case .breakdown(let reason)? = parts.last else {
                Issue.record("\(text.prefix(60)): \(parts)")
                continue
            }
            #expect(reason.contains(says), "\(reason)")
            #expect(!parts.contains(.file("a")))
        }
    }

    @Test func `the same bytes give the same parts, however they are cut`() {
        var random = SplitMix(seed: 7)
        let audio = (0..<500).map { _ in UInt8.random(in: 0...255, using: &random) }
        var bytes = Array("{\"file\": \"a\"}\n{\"name\": \"b\", \"bytes\": 500}\n".utf8) + audio
        bytes += Array("{\"name\": 1}".utf8)
        let expected = Self.parts(bytes)
        #expect(expected.count == 5)
        for _ in 0..<200 {
            let cut = (0..<Int.random(in: 0...20, using: &random)).map { _ in
                Int.random(in: 0...bytes.count, using: &random)
            }
            #expect(Self.parts(bytes, cut: cut.sorted()) == expected)
        }
    }
}
