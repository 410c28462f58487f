import Testing

@testable import CommandLineTool

struct ProgressTests {
    @Test func `the progress bar stays within the terminal`() {
        let line = Progress.line(done: 3, of: 10, part: 0.5, name: String(repeating: "x", count: 200), width: 80)
        #expect(line.count < 80 && line.contains("35 %") && line.contains("3/10"))
    }
}
