import Audio
import Core
import System
import TestSupport
import Testing

@testable import Input

struct FileSourceTests {
    @Test func `blocks come every 100 ms, then one second of silence, then the end`() throws {
        let folder = try TestFolder()
        let samples = (0..<4000).map { Float($0) / 8000 }
        let file = try FileSource(path: folder.write("ramp.wav", format: 0x10006, samples), mix: .mix)
        let start = Clock.now
        var blocks: [(time: Instant, read: Instant, sequence: UInt64, continues: Bool, last: Float)] = []
        while !file.hasEnded {
            _ = file.next(until: Clock.now + .seconds(1)) { window, block in
                blocks.append((block.time, Clock.now, block.sequence, block.continues, window[14_400]))
            }
        }
        // 2.5 blocks of sound and ten of silence.
        #expect(blocks.count == 13 && blocks.map(\.sequence) == Array(0..<13))
        #expect(blocks.map(\.continues) == [false] + [Bool](repeating: true, count: 12))
        for (index, block) in blocks.enumerated() {
            // Never before its last sample would have been captured; how late it is depends on the machine's load.
            #expect(block.read >= start + AudioFormat.hopDuration * (index + 1) && block.read >= block.time)
            #expect(block.last == (index < 3 ? Float(index * 1600) / 8000 : 0))
        }
        for (one, next) in zip(blocks, blocks.dropFirst()) {
            let step = next.time - one.time
            // Only a reader that is late by more than a block moves the next ones.
            let isMoved = step > AudioFormat.hopDuration && next.read - next.time >= AudioFormat.hopDuration
            #expect(step == AudioFormat.hopDuration || isMoved)
        }
        #expect(file.problem == nil)
    }

    @Test func `a reader that gives up before the block is due gets none, and loses none`() throws {
        let folder = try TestFolder()
        let file = try FileSource(
            path: folder.write("a.wav", format: 0x10006, [Float](repeating: 0.5, count: 1600)),
            mix: .mix
        )
        let start = Clock.now
        #expect(!file.next(until: start + .milliseconds(20)) { _, _ in })
        #expect(Clock.now - start < .milliseconds(900))
        var first: UInt64?
        #expect(file.next(until: start + .seconds(1)) { _, block in first = block.sequence })
        #expect(first == 0)
    }

    @Test func `after a pause of its reader it goes on where it is, at its pace`() throws {
        let folder = try TestFolder()
        let samples = (0..<8).flatMap { [Float](repeating: Float($0) / 8, count: 1600) }
        let file = try FileSource(path: folder.write("steps.wav", format: 0x10006, samples), mix: .mix)
        var blocks: [(age: Duration, time: Instant, first: Float)] = []
        while blocks.count < 8 {
            if blocks.count == 3 { Clock.sleep(until: Clock.now + .milliseconds(800)) }
            let asked = Clock.now
            #expect(
                file.next(until: asked + .seconds(1)) { window, block in
                    blocks.append((asked - block.time, block.time, window[14_400]))
                }
            )
        }
        #expect(blocks.map(\.first) == (0..<8).map { Float($0) / 8 })
        // No block is older than one, when it is asked for, so that none is too late.
        #expect(blocks.allSatisfy { $0.age <= AudioFormat.hopDuration }, "\(blocks)")
        #expect(blocks[3].time - blocks[2].time >= .milliseconds(700))
        for (one, next) in zip(blocks, blocks.dropFirst()) { #expect(next.time - one.time >= AudioFormat.hopDuration) }
    }
}
