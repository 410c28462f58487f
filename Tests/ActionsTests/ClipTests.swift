import Audio
import Configuration
import Events
import Foundation
import Glibc
import System
import TestSupport
import Testing

@testable import Actions
@testable import Spotting

/// Saved clips: their samples, their permissions, and which of them are kept.
struct ClipTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func event(_ sequence: UInt64, word: String = "left", seconds: Double = 0) -> DetectionEvent {
        let sample = DetectionEvent.sample
        return DetectionEvent(
            Detection(kind: .word, index: 0, confidence: 0.9, start: sample.start, end: sample.end, time: sample.time),
            sequence: sequence,
            name: word,
            date: sample.date.adding(seconds: seconds),
            device: "mic"
        )
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    @Test func `a clip has the audio of the detection`() throws {
        let store = ClipStore(folder: folder.path, keep: 10, quota: 1_000_000)
        let samples: [Float] = [0, 0.5, -0.5, 1, -1, 2, -2, 1e-5, .nan, .infinity, 0.25]
        let before = umask(0)
        let path = try store.save(samples, of: event(7))
        umask(before)
        #expect(path == folder.file("beckon-20260301T123004.650Z-1-left.wav"))
        var status = stat()
        #expect(lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(status.st_size == 44 + 2 * 11)
        // Read back with libsndfile.
        let top: Float = 32_767 / 32_768
        #expect(try Voices.samples(at: path) == [0, 0.5, -0.5, top, -1, top, -1, 0, 0, top, 0.25])
        #expect(try names == ["beckon-20260301T123004.650Z-1-left.wav"], "nothing unfinished is left")
    }

    @Test func `the oldest make room, by number and by bytes`() throws {
        let second = [Float](repeating: 0.1, count: 16_000)
        try folder.write("other.wav", bytes: [1])
        try folder.write("beckon-notes.txt", bytes: [1])
        try folder.write(".beckon-unfinished-1-1", bytes: [1])
        let few = ClipStore(folder: folder.path, keep: 3, quota: 1_000_000)
        for number in 1...5 { try few.save(second, of: event(UInt64(number), seconds: Double(number))) }
        func numbers() throws -> [String] {
            try names.filter { $0.hasPrefix("beckon-2") }.compactMap {
                $0.split(separator: "-").dropFirst(2).first.map(String.init)
            }
        }
        #expect(try numbers() == ["3", "4", "5"])
        // A clip has a header of 44 bytes and 32,000 bytes of samples, so two clips have 64,088 bytes.
        let small = ClipStore(folder: folder.path, keep: 100, quota: 64_100)
        try small.save(second, of: event(6, seconds: 6))
        #expect(try numbers() == ["5", "6"])
        let tiny = ClipStore(folder: folder.path, keep: 100, quota: 10)
        try tiny.save(second, of: event(7, seconds: 7))
        #expect(try numbers() == ["7"])
        #expect(try names.filter { !$0.hasPrefix("beckon-2") } == ["beckon-notes.txt", "other.wav"])
    }

    @Test func `a wall clock that was ahead once does not make new clips go first`() throws {
        let day = 86_400.0
        let store = ClipStore(folder: folder.path, keep: 3, quota: 1_000_000)
        func numbers() throws -> [Int] {
            try names.compactMap { $0.split(separator: "-").dropFirst(2).first.flatMap { Int($0) } }.sorted()
        }
        // Three clips by a clock that is a day ahead, then by the right one; and a service that counts from 1 again.
        for number in 1...3 { try store.save([0.5], of: event(UInt64(number), seconds: day + Double(number))) }
        for number in 4...5 { try store.save([0.5], of: event(UInt64(number), seconds: Double(number))) }
        #expect(try numbers() == [3, 4, 5])
        let again = ClipStore(folder: folder.path, keep: 3, quota: 1_000_000)
        for number in 1...2 { try again.save([0.5], of: event(UInt64(number), seconds: -day + Double(number))) }
        #expect(try numbers() == [5, 6, 7], "those that were saved last")
    }

    @Test func `every clip is counted: saved, failed, or dropped at the stop`() throws {
        var clips = Configuration.Clips()
        clips.dir = folder.file("clips")
        let reports = Lines()
        let history = AudioHistory()
        let saver = ClipSaver(clips, history: history, log: ServiceLog { _, text in reports.add(text) })
        let window = [Float](repeating: 0.1, count: 16_000)
        for _ in 0..<140 { history.add(window.span) }
        saver.receive(event(1))
        #expect(comesTrue { saver.counts.failed == 1 })
        try FileManager.default.createDirectory(atPath: folder.file("clips"), withIntermediateDirectories: false)
        saver.receive(event(2))
        #expect(comesTrue { saver.counts.saved == 1 })
        for number in 3...5 { saver.receive(event(UInt64(number))) }
        saver.stop()
        let counts = saver.counts
        #expect(counts.saved + counts.failed + counts.dropped == 5 && counts.dropped >= 2)
        #expect(reports.all.last == "\(counts.dropped) clips were not saved, as the service is stopping")
    }

    @Test func `file names contain no path`() throws {
        #expect(
            ClipStore.name(of: event(1, word: "../go left\n\u{e9}"), number: 1)
                == "beckon-20260301T123004.650Z-1-___go_left__.wav"
        )
        let long = ClipStore.name(of: event(1, word: String(repeating: "a", count: 500)), number: 1)
        #expect(long.utf8.count < 100)
    }

    @Test func `a failed write is reported and leaves no file`() throws {
        let none = ClipStore(folder: folder.file("none"), keep: 1, quota: 1000)
        let error = #expect(throws: ActionError.clip) { try none.save([0], of: event(1)) }
        #expect(error?.description.contains("open: No such file or directory") == true)
        // The unfinished clip's path is a link to a device that is always full; the store must not write through it.
        symlink("/dev/full", folder.file(temporaryName(ClipStore.name(of: event(1), number: 1))))
        let store = ClipStore(folder: folder.path, keep: 1, quota: 1000)
        #expect(try store.save([0.5], of: event(1)) == folder.file(ClipStore.name(of: event(1), number: 1)))
        #expect(try names.count == 1)
        var clips = Configuration.Clips()
        #expect(ClipStore(clips) == nil, "off by default")
        clips.dir = folder.path
        #expect(ClipStore(clips)?.folder == folder.path)
    }
}
