private import Core
private import FoundationEssentials

/// `beckon generate manual PAGE`: prints the manual page with its lists of options made anew from the commands' declarations.
///
/// `beckon help` does not list it: `make generate` calls it, and a test compares the committed page with its output.
struct Generate {
    private let page: String

    init(_ words: some Collection<String>) throws(UsageError) {
        guard words.first == "manual", words.count == 2, let page = words.dropFirst().first else {
            throw UsageError("generate takes manual and the page to renew; for a shell see beckon completions")
        }
        self.page = page
    }

    /// Prints the page. Returns the exit status.
    func run() throws -> Int32 {
        guard let data = FileManager.default.contents(atPath: page) else {
            throw Failure("\(printable(page)): cannot read this page")
        }
        Output.write(try ManualLists(CommandLineTool.declarations).renew(String(decoding: data, as: UTF8.self)))
        return 0
    }
}
