private import Core
private import FoundationEssentials
private import Inference

/// `beckon generate manual PAGE`: prints the manual page with its lists of options made anew from the commands' declarations.
/// `beckon generate models`: prints the names of the models that came with the program, one a line, for the shells' completions.
///
/// `beckon help` does not list it: `make generate` calls it, and a test compares the committed page with its output.
struct Generate {
    /// Nil for the names of models.
    private let page: String?

    init(_ words: some Collection<String>) throws(UsageError) {
        if Array(words) == ["models"] {
            page = nil
            return
        }
        guard words.first == "manual", words.count == 2, let page = words.dropFirst().first else {
            throw UsageError("generate takes manual and the page to renew; for a shell see beckon completions")
        }
        self.page = page
    }

    /// Prints the page or the names. Returns the exit status.
    func run() throws -> Int32 {
        guard let page else {
            Output.write(ModelFolder.names.map { printable($0) + "\n" }.joined())
            return 0
        }
        guard let data = FileManager.default.contents(atPath: page) else {
            throw Failure("\(printable(page)): cannot read this page")
        }
        Output.write(try ManualLists(CommandLineTool.declarations).renew(String(decoding: data, as: UTF8.self)))
        return 0
    }
}
