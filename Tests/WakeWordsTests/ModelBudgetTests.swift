import TestSupport
import Testing

@testable import WakeWords

/// Small files that claim much, or claim it often.
struct ModelBudgetTests {
    private typealias Writer = ONNXWriter

    private static func refusal(_ bytes: [UInt8]) -> WakeWordError? {
        do throws(WakeWordError) {
            _ = try HeadNetwork(bytes: bytes)
            return nil
        } catch {
            return error
        }
    }

    /// Heads of some kilobytes, by what they do.
    private static let heads: [String: [UInt8]] = {
        let large = Writer.repeated("c", 1 << 22)
        let middle = Writer.repeated("c", 1 << 20)
        func many(_ count: Int, _ node: (Int) -> [UInt8]) -> [[UInt8]] { (0..<count).map(node) }
        let ends = [Writer.integers("a", [1], [0]), Writer.integers("b", [1], [1 << 20])]
        let inner = Writer.graph([Writer.node("Identity", ["n0"], ["r"])], output: "r")
        let names = (0..<2000).map { Writer.integers("n\($0)", [1], [1]) }
        return [
            "constants": Writer.head(
                many(100) { _ in large.node }.enumerated().map { index, _ in
                    let value = Writer.attribute("value", tensor: Writer.integers("", [1], [1]))
                    return Writer.node("ConstantOfShape", ["cs"], ["c\(index)"], value)
                },
                [large.constant]
            ),
            "a constant joined to itself": Writer.head(
                [
                    large.node,
                    Writer.node("Concat", [String](repeating: "c", count: 100), ["j"], Writer.attribute("axis", 0)),
                ],
                [large.constant]
            ),
            "constants joined again and again": Writer.head(
                [middle.node]
                    + many(20) {
                        let name = $0 == 0 ? "c" : "j\($0 - 1)"
                        return Writer.node("Concat", [name, name], ["j\($0)"], Writer.attribute("axis", 0))
                    },
                [middle.constant]
            ),
            "sums of integers": Writer.head(
                [middle.node] + many(20) { Writer.node("Add", ["c", "c"], ["s\($0)"]) },
                [middle.constant]
            ),
            "slices of integers": Writer.head(
                [middle.node] + many(20) { Writer.node("Slice", ["c", "a", "b"], ["s\($0)"]) },
                [middle.constant] + ends
            ),
            "a number that is repeated": Writer.head(
                many(20) { Writer.node("Expand", ["one", "e"], ["s\($0)"]) },
                [Writer.integers("one", [1], [1]), Writer.integers("e", [2], [1024, 1024])]
            ),
            "branches among many tensors": Writer.head(
                many(2000) {
                    let (then, other) = (
                        Writer.attribute("then_branch", graph: inner), Writer.attribute("else_branch", graph: inner)
                    )
                    return Writer.node("If", ["n0"], ["s\($0)"], then, other)
                },
                names
            ),
            "inputs of a node": Writer.head([
                [UInt8](([[UInt8]](repeating: Writer.field(1, "x"), count: 1_000_000)).joined()) + Writer.field(2, "s")
                    + Writer.field(4, "Add")
            ]),
            "nodes of graphs that nothing runs": Writer.head(
                many(40) { index in
                    let empty = [UInt8]([[UInt8]](repeating: [0x0A, 0], count: 2000).joined())
                    return [UInt8](
                        [[UInt8]](repeating: Writer.field(5, Writer.field(1, "g") + Writer.field(6, empty)), count: 20)
                            .joined()
                    ) + Writer.field(1, "x") + Writer.field(2, "s\(index)") + Writer.field(4, "Relu")
                }
            ),
        ]
    }()

    @Test(arguments: heads.keys.sorted()) func `a head that takes too much is refused`(name: String) throws {
        let bytes = try #require(Self.heads[name])
        let error = try #require(Self.refusal(bytes))
        #expect(error == .size, "\(error)")
        #expect(error.message.contains("any wake word needs; is this a wake-word model?"), "\(error)")
    }

    @Test(arguments: [
        (10, 16384, 8, 2048), (9000, 16384, 8, 2048), (16384, 1, 8, 1), (1, 16384, 1, 2048), (16384, 16384, 1, 1),
        (300, 8192, 8, 1), (16384, 100, 1, 100),
    ])
    func `lists that tables share count each time`(tensors: Int, numbers: Int, graphs: Int, operators: Int) throws {
        let bytes = FlatBufferWriter.shared(tensors: tensors, numbers: numbers, graphs: graphs, operators: operators)
        #expect(Self.refusal(bytes) == .size)
        #expect(throws: WakeWordError.size) { try StreamingNetwork(bytes: bytes) }
        // The same tables, once each, are read.
        let small = FlatBufferWriter.shared(tensors: 1, numbers: 1, graphs: 1, operators: 1)
        #expect(throws: Never.self) { try TFLiteFile(small) }
    }

    @Test func `a head of ten megabytes takes three quarters of the budget`() throws {
        let budget = ModelBudget()
        let bytes = Writer.head(hidden: 1650)
        #expect(bytes.count > 10_000_000)
        _ = try HeadNetwork(bytes: bytes, budget)
        #expect(budget.bytes < ModelBudget.Limits.bytes * 3 / 4, "\(budget.bytes)")
        #expect(budget.steps < ModelBudget.Limits.steps * 3 / 4, "\(budget.steps)")
    }

    @Test(arguments: Fixture.names + ["elements"]) func `a network takes a tenth of the budget`(name: String) throws {
        let budget = ModelBudget()
        let bytes = try name == "elements" ? Fixture.bytes("elements.tflite") : Fixture.model(name)
        _ = try StreamingNetwork(bytes: bytes, budget)
        #expect(budget.bytes < ModelBudget.Limits.bytes / 10, "\(budget.bytes)")
        #expect(budget.steps < ModelBudget.Limits.steps / 10, "\(budget.steps)")
    }

    @Test func `a budget never overflows`() throws {
        let budget = ModelBudget()
        for (count, size) in [(Int.max, 8), (-1, 1), (Int.max, 1), (ModelBudget.Limits.bytes + 1, 1)] {
            #expect(throws: WakeWordError.size) { try budget.take(count, of: size) }
        }
        #expect(budget.bytes == 0 && budget.steps == 0)
        #expect(ModelBudget.product([1 << 40, 1 << 40]) == .max && ModelBudget.product([6, 7]) == 42)
        #expect(throws: WakeWordError.size) { try budget.step(.max) }
    }

    /// Attributes that no operator may have, as far as their number fits.
    @Test(arguments: [Int.min, .max, -1, 1 << 31, 1 << 40, 1025])
    func `numbers of windows that are not usual are refused`(number: Int) {
        for (kernel, pads, strides) in [
            (3, [number, 0], 1), (3, [0, number], 1), (number, [0, 0], 1), (3, [0, 0], number),
            (3, [number, number], number),
        ] {
            let pool = Writer.node(
                "MaxPool",
                ["x"],
                ["p"],
                Writer.attribute("kernel_shape", [kernel]),
                Writer.attribute("pads", pads),
                Writer.attribute("strides", [strides])
            )
            #expect(Self.refusal(Writer.head([pool])) != nil, "\(kernel) \(pads) \(strides)")
        }
    }
}
