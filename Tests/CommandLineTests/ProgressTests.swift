import Testing

@testable import CommandLineTool

struct ProgressTests {
    @Test func `the progress bar stays within the terminal`() {
        let name = String(repeating: "x", count: 200)
        var status = Progress.Status(done: 3, files: 10, share: 0.35, speed: 5210, left: 725, name: name)
        let line = Progress.line(status, width: 80)
        #expect(line.hasPrefix("███████░░░░░░░░░░░░░ 35 %  3/10  5210 × real time  12 min 5 s left  xxx"))
        for width in [0, 1, 20, 40, 80] { #expect(Progress.line(status, width: width).count <= max(0, width - 1)) }
        (status.files, status.share, status.left) = (nil, nil, nil)
        #expect(Progress.line(status, width: 60).hasPrefix("3 files  5210 × real time  xxx"))
    }
}
