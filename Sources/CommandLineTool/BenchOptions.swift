/// What `beckon bench` was asked to measure, and on what.
struct BenchOptions {
    /// What can be measured; each is an option, and one of them is given.
    enum Kind: String, CaseIterable {
        case endToEnd = "--end-to-end"
    }

    let kind: Kind
    let listening: ListeningOptions
    let device: String
    /// The words that the device plays, as a label track.
    let track: String
    /// The program that tells when it was started.
    let stamp: String
    let json: Bool

    static let options: [Arguments.Option] =
        ListeningOptions.options.filter { $0.name != "--jobs" } + Kind.allCases.map { .init($0.rawValue) } + [
            .init("--device", short: "-d", takesValue: true), .init("--track", takesValue: true),
            .init("--stamp", takesValue: true), .init("--json"),
        ]

    init(_ arguments: Arguments) throws(UsageError) {
        if let operand = arguments.operands.first {
            throw UsageError("bench takes options only, not '\(operand)'")
        }
        let kinds = Kind.allCases.filter { arguments.has($0.rawValue) }
        let names = Kind.allCases.map(\.rawValue).joined(separator: ", ")
        guard let kind = kinds.first, kinds.count == 1 else { throw UsageError("bench measures one of \(names)") }
        self.kind = kind
        listening = try ListeningOptions(arguments, processors: 1)
        device = try Self.needed("--device", arguments, kind)
        track = try Self.needed("--track", arguments, kind)
        stamp = try Self.needed("--stamp", arguments, kind)
        guard stamp.hasPrefix("/") else { throw UsageError("--stamp takes a program's full path, not '\(stamp)'") }
        json = arguments.has("--json")
    }

    private static func needed(
        _ name: String,
        _ arguments: Arguments,
        _ kind: Kind
    ) throws(UsageError) -> String {
        guard let value = arguments.value(name) else { throw UsageError("bench \(kind.rawValue) needs \(name)") }
        return value
    }
}
