import Synchronization
import Testing

@testable import CommandLineTool

struct OrderedOutputTests {
    @Test func `output waits for its turn`() {
        let printed = Printed()
        let output = OrderedOutput { piece in printed.add(piece.text) }
        output.put("b", file: 1)
        output.put("a", file: 0)
        output.finish(file: 1)
        #expect(printed.text == "a")
        output.put("A", file: 0)
        output.finish(file: 0)
        output.put("c", file: 2)
        #expect(printed.text == "aAbc")
        output.put("e", file: 4)
        output.flush()
        #expect(printed.text == "aAbce")
    }

    @Test func `a header comes before the first output, and not for errors alone`() {
        let printed = Printed()
        let output = OrderedOutput { piece in printed.add(piece.text) }
        output.begin(header: "H")
        output.put("!", isError: true, file: 0)
        #expect(printed.text == "!")
        output.put("b", file: 1)
        output.finish(file: 0)
        output.put("c", file: 1)
        #expect(printed.text == "!Hbc")
    }
}

private final class Printed: Sendable {
    private let state = Mutex("")
    var text: String { state.withLock { $0 } }
    func add(_ more: String) { state.withLock { $0 += more } }
}
