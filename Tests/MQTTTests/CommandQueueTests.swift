import Control
import Core
import Glibc
import TestSupport
import Testing

@testable import MQTT

struct CommandQueueTests {
    @Test func `of each topic the newest command is carried out last, and the others are counted`() {
        var queue = CommandQueue()
        queue.add(.mute, topic: "mute")
        let first = queue.next()
        #expect(first?.topic == "mute" && first?.command == .mute)
        for number in 0..<1_000 {
            queue.add(number % 2 == 0 ? .mute : .unmute, topic: "mute")
            queue.add(.reload, topic: "other")
        }
        // Another topic does not wait for the one under way.
        #expect(queue.next()?.topic == "other")
        #expect(queue.next() == nil && queue.replaced == 999 + 999)
        queue.finish("mute")
        #expect(queue.next()?.command == .unmute)
        queue.finish("mute")
        #expect(queue.next() == nil && queue.isEmpty)
    }

    @Test func `a command without room is tried again, unless a newer one has come`() {
        var queue = CommandQueue()
        queue.add(.mute, topic: "mute")
        _ = queue.next()
        queue.putBack(.mute, topic: "mute")
        #expect(queue.next()?.command == .mute)
        queue.add(.unmute, topic: "mute")
        queue.putBack(.mute, topic: "mute")
        #expect(queue.next()?.command == .unmute && queue.replaced == 1)
    }
}

struct RefusalLogTests {
    private static func at(_ seconds: Int) -> Instant { Instant(nanoseconds: 0) + .seconds(seconds) }

    @Test func `each topic is logged at once, and the rest at most every ten seconds, with a count`() {
        var log = RefusalLog()
        func note(_ topic: String, _ second: Int) -> String? {
            log.line(topic: topic, payload: Array("on\n\u{1b}[2J".utf8), "send ON or OFF", at: Self.at(second))
        }
        #expect(note("a/mute/set", 0) == "MQTT: a/mute/set: 'on??[2J' was not executed: send ON or OFF")
        #expect(note("b/mute/set", 0) != nil)
        for _ in 0..<500 { #expect(note("a/mute/set", 5) == nil) }
        #expect(
            note("a/mute/set", 10)?.hasSuffix("send ON or OFF (and 500 other messages since the last line)") == true
        )
        // Many topics are no way around it.
        let lines = (0..<10_000).count { note("topic \($0)", 11) != nil }
        #expect(lines <= 64)
    }
}

struct ReadingMarkerTests {
    @Test func `an end while reading is found by each process, until one begins anew`() throws {
        let folder = try TestFolder()
        let path = folder.file("state/mqtt.reading")
        var marker = ReadingMarker(path)
        #expect(marker?.hasFound == false)
        marker?.begin()
        marker?.end()
        marker = nil
        marker = ReadingMarker(path)
        #expect(marker?.hasFound == false)
        marker?.begin()
        // A second instance says nothing while the first runs.
        #expect(ReadingMarker(path) == nil)
        // As a kill does it: the memory is gone, the file stays.
        marker = nil
        marker = ReadingMarker(path)
        #expect(marker?.hasFound == true)
        marker = nil
        marker = ReadingMarker(path)
        #expect(marker?.hasFound == true)
        marker?.end()
        marker = nil
        marker = ReadingMarker(path)
        #expect(marker?.hasFound == false)
        marker = nil
    }

    @Test func `without a usable file there is none`() throws {
        let folder = try TestFolder()
        #expect(ReadingMarker(nil) == nil)
        #expect(ReadingMarker(folder.path) == nil)
        #expect(ReadingMarker("/proc/no/such/folder/mqtt.reading") == nil)
        // Another file under its name, by a link of either kind, is not written to.
        for isHard in [true, false] {
            let other = try folder.write("other", bytes: Array("mine".utf8))
            let path = folder.file("link")
            #expect((isHard ? link(other, path) : symlink(other, path)) == 0)
            #expect(ReadingMarker(path) == nil)
            #expect(try folder.bytes("other") == Array("mine".utf8) && unlink(path) == 0)
        }
    }
}
