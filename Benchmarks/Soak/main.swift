// Runs hours of audio through the whole capture side as fast as possible: the real libasound with the fake card at
// 48 kHz, the capture thread, the resampler, the ring and its reader. Exits with status 1 if a block is lost, doubled
// or wrong, or if memory grows.
//
//     swift run -c release soak [HOURS]

import Audio
import Capture
import Core
import Foundation
import System

/// Prints a line without buffering, also to a pipe.
func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

/// One second of noise, which the card repeats: each block must equal the one ten blocks before.
func writeNoise(to path: String) throws {
    var state: UInt64 = 1
    let samples = (0..<48_000).map { _ -> Int16 in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int16(truncatingIfNeeded: state >> 48) / 4
    }
    try samples.withUnsafeBytes { try Data($0).write(to: URL(fileURLWithPath: path)) }
}

/// Resident memory in KiB.
func residentMemory() -> Int {
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
    return pages.flatMap { $0.count > 1 ? Int($0[1]) : nil }.map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) / 1024 } ?? 0
}

func fail(_ text: String) -> Never {
    FileHandle.standardError.write(Data("soak: \(text)\n".utf8))
    exit(1)
}

guard let hours = CommandLine.arguments.count > 1 ? Double(CommandLine.arguments[1]) : 24, hours > 0, hours < 10_000
else {
    fail("usage: soak [HOURS]")
}
let total = UInt64(hours * 36_000)
let folder = FileManager.default.temporaryDirectory.appendingPathComponent("beckon-soak-\(getpid())")
let library = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    .appendingPathComponent("libFakeCard.so").path
do {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try writeNoise(to: folder.path + "/noise.raw")
    let configuration = """
        pcm_type.fake { lib "\(library)" }
        pcm.soak { type fake file "\(folder.path)/noise.raw" loop on speed 0 }
        """
    try Data(configuration.utf8).write(to: folder.appendingPathComponent("asound.conf"))
    setenv("ALSA_CONFIG_PATH", folder.path + "/asound.conf", 1)
    try soak()
} catch {
    fail("\(error)")
}

func soak() throws {
    var settings = Microphone.Settings()
    settings.selection.device = .named("soak")
    settings.realTimePriority = nil
    // The card does not wait for the reader, so the ring has room for a second without CPU time.
    settings.ringBlocks = 2_000
    let microphone = try Microphone(settings)
    var pattern = [Float](repeating: 0, count: 10 * AudioFormat.hopSamples)
    var (read, jumps, worst) = (UInt64(0), 0, Float(0))
    var (early, next) = (0, total / 10)
    let start = Clock.now
    try microphone.start()
    while read < total {
        let found = microphone.nextBlock(until: Clock.now + .seconds(10)) { window, block in
            if !block.continues, read > 0 { jumps += 1 }
            let newest = window.extracting(last: AudioFormat.hopSamples)
            let place = Int(block.sequence % 10) * AudioFormat.hopSamples
            // The first second contains the filters' transient; all later ones must equal the second one.
            if (10..<20).contains(block.sequence) {
                for index in newest.indices { pattern[place + index] = newest[index] }
            } else if block.sequence >= 20 {
                for index in newest.indices { worst = max(worst, abs(newest[index] - pattern[place + index])) }
            }
            read = block.sequence + 1
        }
        guard found else { fail("no block for ten seconds; \(microphone.status)") }
        if read == next {
            let memory = residentMemory()
            early = early == 0 ? memory : early
            let seconds = (Clock.now - start).seconds
            say("\(Double(read) / 36_000) h of audio in \(Int(seconds)) s, \(memory) KiB")
            next += total / 10
        }
    }
    let seconds = (Clock.now - start).seconds
    microphone.stop()
    let (status, late) = (microphone.status, residentMemory())
    say(
        "\(read) blocks in \(Int(seconds)) s (\(Int(Double(read) / 10 / seconds)) times real time), \(status.droppedBlocks) "
            + "dropped, \(jumps) out of step, \(status.counts.gaps) gaps; greatest difference \(worst); "
            + "memory \(early) KiB after a tenth, \(late) KiB at the end"
    )
    guard read == total, status.droppedBlocks == 0, jumps == 0, status.counts.gaps == 0, worst < 1e-5,
        late - early < 1024
    else { fail("this is not as it should be") }
}
