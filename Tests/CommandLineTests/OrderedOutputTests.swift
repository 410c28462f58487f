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
}

private final class Printed: Sendable {
    private let state = Mutex("")
    var text: String { state.withLock { $0 } }
    func add(_ more: String) { state.withLock { $0 += more } }
}
