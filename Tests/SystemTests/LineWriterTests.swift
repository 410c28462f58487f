import Core
import Foundation
import Glibc
import TestSupport
import Testing

@testable import System

/// Lines for a reader that may stall.
struct LineWriterTests {
    private func writer(_ descriptor: Int32, _ change: (inout LineWriter.Settings) -> Void = { _ in }) throws
        -> LineWriter
    {
        var settings = LineWriter.Settings()
        change(&settings)
        return try LineWriter(descriptor, name: "test-writer", settings: settings)
    }

    private func soon(_ milliseconds: Int) -> Instant { Clock.now + .milliseconds(milliseconds) }

    @Test func `lines arrive whole and in order`() throws {
        let folder = try TestFolder()
        let file = open(folder.file("out"), O_CREAT | O_WRONLY, 0o600)
        defer { close(file) }
        let writer = try writer(file) { $0.bytes = 1 << 24 }
        let long = String(repeating: "x", count: 100_000)
        let lines = (0..<500).map { "\($0)\n" } + ["\(long)\n", "end\n"]
        for line in lines { #expect(writer.write(line)) }
        #expect(writer.finish(until: soon(5000)))
        #expect(String(decoding: try folder.bytes("out"), as: UTF8.self) == lines.joined())
        #expect(writer.counts == LineWriter.Counts(written: 502, dropped: 0))
        #expect(!writer.write("late\n") && writer.counts.dropped == 1)
    }

    @Test func `a reader that stalls costs lines, which are counted and reported in their place`() throws {
        let pipe = try StalledPipe()
        let writer = try writer(pipe.writing) { settings in
            settings.lines = 10
            settings.resumed = { "\($0) lines were dropped\n" }
        }
        // The thread takes the first line and waits with it.
        #expect(writer.write("first\n"))
        #expect(comesTrue { writer.write("probe\n") && writer.counts.dropped == 0 })
        usleep(50_000)
        let taken = (0..<100).filter { writer.write("\($0)\n") }
        #expect(writer.counts.dropped == 100 - taken.count && taken == Array(0..<taken.count) && taken.count <= 10)
        var text = pipe.read()
        let report = "\(100 - taken.count) lines were dropped\n"
        #expect(
            comesTrue {
                text += pipe.read()
                return text.hasSuffix(report)
            }
        )
        #expect(text.hasSuffix("probe\n" + taken.map { "\($0)\n" }.joined() + report))
        #expect(writer.write("after\n"))
        #expect(writer.finish(until: soon(5000)))
        #expect(pipe.read() == "after\n")
    }

    @Test func `too many bytes are dropped too, but one long line is taken`() throws {
        let pipe = try StalledPipe()
        let writer = try writer(pipe.writing) { $0.bytes = 1000 }
        #expect(writer.write("first\n"))
        // Until the thread has taken the first line, it counts too.
        let long = String(repeating: "x", count: 5000) + "\n"
        #expect(comesTrue { writer.write(long) })
        #expect(!writer.write("more\n"))
        writer.finish(until: soon(50))
        #expect(writer.finish(until: soon(5000)), "the thread has given up before the pipe is closed")
    }

    @Test func `the end waits no longer than it is told, and counts what was not written`() throws {
        let pipe = try StalledPipe()
        let writer = try writer(pipe.writing)
        for number in 0..<20 { #expect(writer.write("\(number)\n")) }
        let begun = Clock.now
        writer.finish(until: soon(100))
        #expect(Clock.now - begun < .seconds(1))
        #expect(writer.finish(until: soon(5000)), "the thread has given up before the pipe is closed")
        #expect(writer.counts == LineWriter.Counts(written: 0, dropped: 20))
    }

    @Test func `a full disk and a reader that has gone are told, and cost only their lines`() throws {
        let failures = Lines()
        let full = open("/dev/full", O_WRONLY)
        defer { close(full) }
        let disk = try writer(full) { $0.failed = { failures.add("\($0)") } }
        disk.write("a\n")
        disk.write("b\n")
        #expect(disk.finish(until: soon(5000)))
        #expect(failures.all == ["\(ENOSPC)", "\(ENOSPC)"] && disk.counts.dropped == 2)

        let pipe = try StalledPipe()
        let writer = try writer(pipe.writing) { $0.failed = { failures.add("\($0)") } }
        writer.write("a\n")
        pipe.hangUp()
        #expect(comesTrue { failures.all.last == "\(EPIPE)" })
        #expect(writer.finish(until: soon(5000)))
    }

    @Test func `a frame makes what is written, with lines and without`() throws {
        let folder = try TestFolder()
        let file = open(folder.file("out"), O_CREAT | O_WRONLY, 0o600)
        defer { close(file) }
        let writer = try writer(file) {
            $0.frame = { text, isEnding in isEnding ? "end" : text.isEmpty ? "." : "(\(text))" }
        }
        func text() -> String { (try? folder.bytes("out")).map { String(decoding: $0, as: UTF8.self) } ?? "" }
        #expect(comesTrue { text().hasPrefix("..") })
        writer.write("left\n")
        writer.flush(until: soon(5000))
        #expect(text().contains(".(left\n)"))
        #expect(writer.finish(until: soon(5000)))
        #expect(text().hasSuffix("end"))
    }
}
