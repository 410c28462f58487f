private import Core
private import FoundationEssentials

/// `beckon generate`: prints the files of this repository that are generated from the commands' declarations.
///
/// `beckon help` does not list it: `make generate` calls it, and a test compares the committed files with its output.
struct Generate {
    private enum Product: String, CaseIterable { case bash, zsh, fish, manual }

    private let product: Product
    private let page: String?

    init(_ words: some Collection<String>) throws(UsageError) {
        let names = Product.allCases.map(\.rawValue).joined(separator: ", ")
        guard let product = words.first.flatMap(Product.init), words.count == (product == .manual ? 2 : 1) else {
            throw UsageError("generate takes one of \(names), and for the manual the page to renew")
        }
        self.product = product
        page = words.dropFirst().first
    }

    /// Prints the file. Returns the exit status.
    func run() throws -> Int32 {
        let commands = CommandLineTool.declarations
        switch product {
        case .bash: Output.write(BashCompletion(commands).text)
        case .zsh: Output.write(ZshCompletion(commands).text)
        case .fish: Output.write(FishCompletion(commands).text)
        case .manual:
            guard let page, let data = FileManager.default.contents(atPath: page) else {
                throw Failure("\(printable(page ?? "")): cannot read this page")
            }
            Output.write(try ManualLists(commands).renew(String(decoding: data, as: UTF8.self)))
        }
        return 0
    }
}

/// The words offered by completions: those of the model that comes with the program.
let completionWords = ["yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go"]
