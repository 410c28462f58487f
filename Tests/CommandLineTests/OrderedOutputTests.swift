import Synchronization
import System
import Testing

@testable import CommandLineTool

struct OrderedOutputTests {
    @Test func `output waits for its turn`() {
        let printed = Printed()
        let output = OrderedOutput(OrderedOutput.Sink { piece in printed.add(piece.text) })
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
        let output = OrderedOutput(OrderedOutput.Sink { piece in printed.add(piece.text) })
        output.begin(header: "H")
        output.put("!", isError: true, file: 0)
        #expect(printed.text == "!")
        output.put("b", file: 1)
        output.finish(file: 0)
        output.put("c", file: 1)
        #expect(printed.text == "!Hbc")
    }
}

extension OrderedOutputTests {
    @Test func `a file too far ahead waits for the first unfinished one`() throws {
        let printed = Printed()
        let sink = OrderedOutput.Sink(put: { printed.add($0.text) }, end: { printed.add("(\($0.name))") })
        let output = OrderedOutput(sink, limits: OrderedOutput.Limits(files: 3, bytes: 4))
        for file in 0..<3 { output.begin(file: file) }
        output.put("bbbb", file: 1)
        let ahead = Atomic<Int>(0)
        let threads = try [
            SystemThreadBox {
                output.begin(file: 3)
                ahead.add(1, ordering: .relaxed)
            },
            SystemThreadBox {
                output.put("c", file: 2)
                ahead.add(1, ordering: .relaxed)
            },
        ]
        // The head never waits, whatever others have put.
        for _ in 0..<50 { output.put("a", file: 0) }
        #expect(ahead.load(ordering: .relaxed) == 0)
        output.finish(file: 0, OrderedOutput.Ended(name: "0", hasFailed: false))
        for thread in threads { thread.join() }
        output.finish(file: 1, OrderedOutput.Ended(name: "1", hasFailed: true))
        output.finish(file: 2)
        #expect(printed.text == String(repeating: "a", count: 50) + "(0)bbbb(1)c")
    }

    @Test func `after Ctrl-C nobody waits`() throws {
        let output = OrderedOutput(OrderedOutput.Sink { _ in }, limits: OrderedOutput.Limits(files: 1, bytes: 0))
        output.begin(file: 0)
        let thread = try SystemThreadBox {
            output.begin(file: 1)
            output.put("b", file: 1)
        }
        output.release()
        thread.join()
    }
}

private final class SystemThreadBox {
    private var thread: SystemThread?

    init(_ body: @escaping @Sendable () -> Void) throws {
        thread = try SystemThread(name: "test", stackSize: 512 << 10, or: { $0 }, body)
    }

    func join() { if let thread = thread.take() { thread.join() } }
}

private final class Printed: Sendable {
    private let state = Mutex("")
    var text: String { state.withLock { $0 } }
    func add(_ more: String) { state.withLock { $0 += more } }
}
