import Core
import Events
import Foundation
import JSON
import System
import TestSupport
import Testing

@testable import Actions

/// Real programs, started in the same way as by an action.
struct ProgramTests {
    @Test func `it gets the event, its own group, and nothing else`() throws {
        let folder = try TestFolder()
        let leak = open("/dev/null", O_RDONLY)  // Without close-on-exec, as a careless library opens it.
        defer { close(leak) }
        signal(SIGUSR2, SIG_IGN)
        defer { signal(SIGUSR2, SIG_DFL) }
        let environment = ["PATH=/usr/bin", "BECKON_WORD=left"]
        for (source, name) in [("environ", "environ"), ("status", "status"), ("stat", "stat")] {
            let copy = Actions.Program(
                ["/bin/cp", "/proc/self/\(source)", folder.file(name)],
                environment: environment
            )
            #expect(try copy.finish().end == ProgramEnd(reason: .exited(0), errorTail: ""))
        }
        let variables = String(decoding: try folder.bytes("environ"), as: UTF8.self).split(separator: "\0")
        #expect(variables == ["PATH=/usr/bin", "BECKON_WORD=left"])
        let status = String(decoding: try folder.bytes("status"), as: UTF8.self).split(separator: "\n")
        for mask in ["SigBlk", "SigIgn"] {
            let signals = status.first { $0.hasPrefix(mask) }?.split(separator: "\t").last.flatMap {
                UInt64($0, radix: 16)
            }
            // Signals 32 and 33 are internal to the C library, which leaves them ignored in spawned programs.
            #expect(signals.map { $0 & ~0x1_8000_0000 } == 0, "\(mask)")
        }
        // After the name in brackets: state, parent, group …; the scheduling policy is field 39 from there.
        let stat = String(decoding: try folder.bytes("stat"), as: UTF8.self).split(separator: ") ").last?.split(
            separator: " "
        )
        let fields = try #require(stat)
        let own = String(decoding: try folder.bytes("stat"), as: UTF8.self).split(separator: " ").first
        #expect(fields[2] == own, "leader of its own group")
        #expect(fields[38] == "0", "ordinary scheduling")

        // Descriptor 3 is the folder that cp lists; `leak` must not be among the others.
        try Actions.Program(["/bin/cp", "-rP", "/proc/self/fd", folder.file("fd")]).run(stop: nil) { _ in }
        let open = try FileManager.default.contentsOfDirectory(atPath: folder.file("fd")).compactMap { Int($0) }
        #expect(Set([0, 1, 2]).isSubset(of: open) && open.allSatisfy { $0 <= 4 }, "\(open)")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.file("fd/1")) == "/dev/null")

        try Actions.Program(["/usr/bin/dd", "of=\(folder.file("in"))", "status=none"]).run(stop: nil) { _ in }
        #expect(String(decoding: try folder.bytes("in"), as: UTF8.self) == DetectionEvent.sample.json.line)
    }

    @Test func `it begins in its folder`() throws {
        let folder = try TestFolder()
        let program = Actions.Program(
            arguments: ["/bin/mkdir", "here"],
            directory: folder.path,
            environment: [],
            input: [],
            timeout: 5
        )
        #expect(try program.finish().end.isSuccess)
        #expect(FileManager.default.fileExists(atPath: folder.file("here")))
    }

    @Test func `a failure is reported with exit status and standard error`() throws {
        let missing = try Actions.Program(["/bin/ls", "/no/such/file"], environment: ["LC_ALL=C"]).finish().end
        #expect(
            missing.description
                == "exit status 2; it said: /bin/ls: cannot access '/no/such/file': No such file or directory"
        )
        let killed = try Actions.Program(["/bin/sh", "-c", "kill -SEGV $$"]).finish().end
        #expect(killed.reason == .signalled(11))
        #expect(killed.description == "ended by signal 11 (Segmentation fault)")
        // Of endless output on standard error, the last 1 KiB is kept.
        let talker = try Actions.Program(["/bin/sh", "-c", "seq 100000 >&2; exit 7"]).finish().end
        #expect(talker.reason == .exited(7))
        #expect(talker.errorTail.hasPrefix("…") && talker.errorTail.hasSuffix("/ 99999 / 100000"))
        #expect(talker.errorTail.utf8.count < 1600)
    }

    @Test func `a program that cannot be started is reported at once`() throws {
        let folder = try TestFolder()
        let plain = try folder.write("plain", bytes: [65])
        for (path, says) in [
            ("/no/such/program", "No such file"), (plain, "Permission denied"), (folder.path, "Permission"),
        ] {
            let error = #expect(throws: ActionError.program) { try Actions.Program([path]).finish() }
            #expect(
                error?.description.contains("cannot start \(path)") == true && error?.description.contains(says) == true
            )
        }
        let nowhere = Actions.Program(
            arguments: ["/bin/true"],
            directory: "/nowhere",
            environment: [],
            input: [],
            timeout: 1
        )
        #expect(throws: ActionError.program) { try nowhere.finish() }
    }

    @Test func `a program that does not read its input does not block`() throws {
        let (end, seconds) = try Actions.Program(["/bin/true"]).finish()
        #expect(end.isSuccess && seconds < 1)
    }

    @Test func `after the timeout its whole process group is gone`() throws {
        let folder = try TestFolder()
        // find starts sleep and waits for it; both get SIGTERM and end.
        let tree = ["/usr/bin/find", "/", "-maxdepth", "0", "-exec", "/bin/sleep", "100", ";"]
        let (end, seconds) = try Actions.Program(tree, timeout: 0.08).finish()
        #expect(end.reason == .timedOut(seconds: 0.08))
        #expect(seconds >= 0.08 && seconds < 2, "\(seconds)")
        #expect(end.description.hasPrefix("took longer than 0.08 s and was ended"))

        // The same with SIGTERM ignored; each process first writes its group to a file.
        let deaf =
            ["/usr/bin/env", "--ignore-signal=TERM"] + [
                "/bin/sh", "-c", "echo $$ > \(folder.file("group")); sleep 100; :",
            ]
        let begun = ContinuousClock.now
        let stubborn = try Actions.Program(deaf, timeout: 0.08, grace: 0.06).finish()
        #expect(stubborn.end.reason == .timedOut(seconds: 0.08))
        #expect(begun.duration(to: .now) >= .milliseconds(140))
        let group = Int32(String(decoding: try folder.bytes("group"), as: UTF8.self).split(separator: "\n").first ?? "")
        let leader = try #require(group)
        #expect(comesTrue { members(ofGroup: leader) == [] })
    }

    /// A machine that is too busy, or a disk that does not answer, delays even SIGKILL.
    @Test func `a program that takes longer to end than it is waited for leaves no zombie`() throws {
        let folder = try TestFolder()
        let deaf =
            ["/usr/bin/env", "--ignore-signal=TERM"] + [
                "/bin/sh", "-c", "echo $$ > \(folder.file("group")); sleep 100; :",
            ]
        var seen = 0
        for _ in 0..<20 {
            try folder.write("group", bytes: [])
            let (end, _) = try Actions.Program(deaf, timeout: 0.08, grace: 0).finish()
            #expect(end.reason == .timedOut(seconds: 0.08))
            let text = try String(contentsOfFile: folder.file("group"), encoding: .utf8)
            // A busy machine may end the program before it has written anything.
            guard let leader = Int32(text.split(separator: "\n").first ?? "") else { continue }
            seen += 1
            #expect(comesTrue { kill(leader, 0) != 0 })
        }
        #expect(seen > 0)
    }

    @Test func `background processes of a program run until the timeout`() throws {
        let folder = try TestFolder()
        let script = "sleep 100 & echo $! > \(folder.file("left")); exit 0"
        var told: ContinuousClock.Instant?
        let begun = ContinuousClock.now
        try Actions.Program(["/bin/sh", "-c", script], timeout: 0.3).run(stop: nil) { end in
            #expect(end.isSuccess)
            told = .now
            let left = Int32(
                (try? String(contentsOfFile: folder.file("left"), encoding: .utf8))?.split(separator: "\n").first ?? ""
            )
            #expect(left.map { kill($0, 0) } == 0, "it still runs when the program itself has ended")
        }
        let end = try #require(told)
        #expect(begun.duration(to: end) < .milliseconds(280))
        #expect(begun.duration(to: .now) >= .milliseconds(300))
        let left = try #require(
            Int32(String(decoding: try folder.bytes("left"), as: UTF8.self).split(separator: "\n").first ?? "")
        )
        // Its parent has ended, so init has to reap it.
        #expect(comesTrue { kill(left, 0) != 0 || isDead(left) })
    }

    private func isDead(_ pid: Int32) -> Bool {
        let stat = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ") Z"
        return stat.split(separator: ") ").last?.hasPrefix("Z") == true
    }

    @Test func `a service that stops ends its programs`() throws {
        let wakeUp = try EventFD(or: { $0 })
        wakeUp.signal()
        let (end, seconds) = try Actions.Program(["/bin/sleep", "100"]).finish(stop: wakeUp)
        #expect(end.reason == .stopped && end.isSuccess)
        #expect(seconds < 1)
    }
}
