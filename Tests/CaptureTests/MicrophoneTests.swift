import Core
import Foundation
import System
import TestSupport
import Testing

@testable import Audio
@testable import Capture

struct MicrophoneTests {
    /// Whether a file is mapped; the fake card maps the file that it plays while it is open.
    static func isOpen(_ path: String) throws -> Bool {
        let maps = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/maps")).readToEnd() ?? Data()
        return String(decoding: maps, as: UTF8.self).contains(path)
    }

    @Test func `mute closes the device, and unmute opens it again`() throws {
        let folder = try TestFolder()
        let file = try FaultTests.noise(in: folder)
        let card = try FakeCard(playing: file, in: folder, "rate 16000 loop on")
        let microphone = try card.microphone()
        #expect(microphone.status.state == .waiting)
        try microphone.start()
        #expect(FakeCardTests.blocks(2, of: microphone).count == 2)
        #expect(try Self.isOpen(file))

        microphone.mute()
        #expect(eventually { microphone.status.state == .muted })
        #expect(try eventually { try !Self.isOpen(file) })
        // No block from before is left.
        #expect(!microphone.nextBlock(until: Clock.now + .milliseconds(150)) { _, _ in })

        let unmuted = Clock.now
        microphone.unmute()
        var first: AudioBlock?
        #expect(microphone.nextBlock(until: unmuted + .seconds(2)) { _, block in first = block })
        #expect(first?.continues == false && first?.filled == 1)
        #expect(first.map { $0.time >= unmuted } == true)
        #expect(microphone.status.counts == .init())

        microphone.stop()
        #expect(try !Self.isOpen(file))
        #expect(microphone.status.state == .stopped)
        #expect(FaultTests.changes(microphone).map(\.kind) == [.running, .muted, .unmuted, .running])
    }

    @Test func `device and channels change without a restart`() throws {
        let folder = try TestFolder()
        // Two cards with two channels of constants each: 1/16 and 2/16, and 3/16 and 4/16.
        let cards = try [1, 3].map { first in
            let frames = [Int16](repeating: 0, count: 16_000).indices.map { Int16((first + $0 % 2) << 11) }
            let bytes = frames.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
            let file = try folder.write("\(first).raw", bytes: bytes)
            return try FakeCard(playing: file, in: folder, "rate 16000 channels 2 loop on")
        }
        let microphone = try cards[0].microphone()
        try microphone.start()
        defer { microphone.stop() }
        func hears(_ value: Float) -> Bool {
            let blocks = FakeCardTests.blocks(2, of: microphone)
            return blocks.count == 2 && blocks.joined().allSatisfy { abs($0 - value / 16) < 1e-3 }
        }
        #expect(hears(1.5))
        for (choice, value) in [
            (InputSelection(device: .named(cards[0].name), mix: .channel(1)), Float(2)),
            (InputSelection(device: .named(cards[1].name), mix: .channel(1)), 4),
        ] {
            let before = Clock.now
            microphone.select(choice)
            // Earlier blocks are flushed, and the next block starts a new window.
            var first: AudioBlock?
            while first.map({ $0.filled > 1 }) ?? true {
                guard microphone.nextBlock(until: before + .seconds(5), { first = $1 }) else { break }
            }
            #expect(first?.continues == false && first?.filled == 1 && first.map { $0.time > before } == true)
            #expect(hears(value))
            microphone.select(choice)
        }
        microphone.mute()
        #expect(eventually { microphone.status.state == .muted })
        microphone.select(InputSelection(device: .named(cards[0].name)))
        #expect(!microphone.nextBlock(until: Clock.now + .milliseconds(150)) { _, _ in })
        microphone.unmute()
        #expect(hears(1.5) && microphone.status.device == cards[0].name)
        #expect(microphone.status.counts == .init(gaps: 2))
        let told = FaultTests.changes(microphone).map(\.kind)
        #expect(
            told == [.running, .selectionChanged, .running, .selectionChanged, .running, .muted, .unmuted, .running]
        )
    }

    @Test func `started muted, it opens nothing; stopped, it starts again`() throws {
        let folder = try TestFolder()
        let file = try FaultTests.noise(in: folder)
        let card = try FakeCard(playing: file, in: folder, "rate 16000 loop on")
        let microphone = try card.microphone()
        microphone.mute()
        try microphone.start()
        #expect(eventually { microphone.status.state == .muted })
        #expect(try !Self.isOpen(file))
        microphone.stop()
        try microphone.start()
        #expect(FakeCardTests.blocks(1, of: microphone).count == 1)
        // The first stop ends the thread; the second does nothing.
        microphone.stop()
        microphone.stop()
        #expect(!microphone.nextBlock(until: Clock.now + .seconds(10)) { _, _ in })
    }

    @Test func `each block tells when it was captured, how loud it was, and whether it continues`() throws {
        let folder = try TestFolder()
        // A tone of peak 0.5 at 400 Hz.
        let tone = (0..<16_000).map { Float(sin(Double($0) * 2 * .pi / 40)) / 2 }
        let file = try folder.write("tone.wav", format: 0x10006, tone)
        let card = try FakeCard(playing: file, in: folder, "loop on")
        let microphone = try card.microphone()
        try microphone.start()
        defer { microphone.stop() }
        var blocks: [(block: AudioBlock, age: Duration)] = []
        while blocks.count < 12 {
            let found = microphone.nextBlock(until: Clock.now + .seconds(5)) { _, block in
                blocks.append((block, Clock.now - block.time))
            }
            guard found else { break }
        }
        #expect(blocks.map(\.block.sequence) == Array(0..<12))
        #expect(blocks.map(\.block.filled) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10])
        #expect(blocks.map(\.block.continues) == [false] + [Bool](repeating: true, count: 11))
        for (older, newer) in zip(blocks, blocks.dropFirst()) {
            // Jitter comes from load on the machine.
            #expect(abs((newer.block.time - older.block.time).milliseconds - 100) < 30)
        }
        let ages = blocks.map(\.age).sorted()
        #expect(ages.first.map { $0 >= .zero } == true && ages[6] < .milliseconds(200), "\(ages)")
        print(
            "age of a block when it is read: median \(ages[6].milliseconds) ms, worst \(ages.last?.milliseconds ?? 0) ms"
        )
        let status = microphone.status
        #expect(abs(status.peak - 0.5) < 1e-3 && abs(status.level - 0.5 / Float(2).squareRoot()) < 1e-3)
        #expect(status.format?.sample == .f32 && status.format?.rate == 16_000)
        #expect(status.format?.period == 320 && status.format?.buffer == 8_000)
    }

    @Test func `a device that holds no whole block is read in time`() throws {
        let folder = try TestFolder()
        let card = try FakeCard(playing: FaultTests.noise(in: folder), in: folder, "rate 16000 loop on")
        var settings = Microphone.Settings()
        settings.selection.device = .named(card.name)
        settings.realTimePriority = nil
        settings.wanted.bufferMilliseconds = 100
        let microphone = try Microphone(settings)
        try microphone.start()
        defer { microphone.stop() }
        let blocks = FakeCardTests.blocks(12, of: microphone)
        #expect(microphone.status.format?.buffer == 1_600)
        // Reading only whole blocks would overrun each time, as the buffer holds one. A busy machine may be late.
        #expect(blocks.count == 12 && microphone.status.counts.overruns <= 3)
    }

    @Test(arguments: [
        ("S16_LE", 44_100, 1), ("S24_LE", 48_000, 2), ("S24_3LE", 48_000, 6), ("S32_LE", 96_000, 2),
        ("FLOAT_LE", 32_000, 4), ("S16_LE", 8_000, 2),
    ])
    func `any format, rate and number of channels`(_ format: String, rate: Int, channels: Int) throws {
        let sample = try #require(PCM.formats.first { $0.sample.alsaName == format }?.sample)
        // Channel c holds a constant of (c + 1) / 16, which every format holds exactly.
        var bytes: [UInt8] = []
        for _ in 0..<rate / 4 {
            for channel in 1...channels {
                switch sample {
                case .f32: bytes += withUnsafeBytes(of: (Float(channel) / 16).bitPattern) { Array($0) }
                case .s24le32: bytes += withUnsafeBytes(of: Int32(channel) << 19) { Array($0) }
                case .s24: bytes += withUnsafeBytes(of: Int32(channel) << 19) { Array($0.prefix(3)) }
                case .s32: bytes += withUnsafeBytes(of: Int32(channel) << 27) { Array($0) }
                default: bytes += withUnsafeBytes(of: Int16(channel) << 11) { Array($0) }
                }
            }
        }
        let folder = try TestFolder()
        let file = try folder.write("constant.raw", bytes: bytes)
        let keys = "rate \(rate) channels \(channels) format \(format) loop on speed 4 patient on"
        let card = try FakeCard(playing: file, in: folder, keys)
        var mixes: [(ChannelMix, Float)] = [(.mix, Float(channels + 1) / 32), (.channel(0), 1 / 16)]
        if let set = ChannelSet([0, channels - 1]) { mixes.append((.channels(set), Float(channels + 1) / 32)) }
        for (mix, value) in mixes {
            let microphone = try card.microphone(mix: mix)
            try microphone.start()
            let blocks = FakeCardTests.blocks(2, of: microphone)
            microphone.stop()
            let format = microphone.status.format
            #expect(microphone.status.counts == .init())
            #expect(format?.rate == rate && format?.channels == channels && format?.sample == sample)
            // The first block contains the filters' transient.
            let heard = blocks.last ?? []
            #expect(heard.count == 1_600)
            #expect(heard.allSatisfy { abs($0 - value) < 1e-3 }, "\(mix): \(heard.first ?? .nan), not \(value)")
        }
    }

    @Test func `a channel that the device does not have is reported`() throws {
        let folder = try TestFolder()
        let card = try FakeCard(playing: FaultTests.noise(in: folder), in: folder, "rate 16000 channels 2")
        let microphone = try card.microphone(mix: .channel(2))
        try microphone.start()
        defer { microphone.stop() }
        #expect(eventually { !microphone.status.problem.isEmpty })
        #expect(microphone.status.problem.contains("has no channel 2 but channels 0 to 1"))
        #expect(microphone.status.state == .waiting)
    }

    @Test func `real-time priority is set, or its lack is reported once`() throws {
        let folder = try TestFolder()
        let card = try FakeCard(playing: FaultTests.noise(in: folder), in: folder, "rate 16000 loop on")
        var settings = Microphone.Settings()
        settings.selection.device = .named(card.name)
        let microphone = try Microphone(settings)
        try microphone.start()
        #expect(FakeCardTests.blocks(2, of: microphone).count == 2)
        let status = microphone.status
        microphone.stop()
        let told = FaultTests.changes(microphone).filter { $0.kind == .notRealTime }
        #expect(told.count == (status.isRealTime ? 0 : 1))
        print("real-time priority: \(status.isRealTime), memory locked: \(status.isMemoryLocked)")
    }

    @Test func `a device that is not there is waited for, with a line that says what to do`() throws {
        var settings = Microphone.Settings()
        settings.selection.device = .named("no-such-device")
        settings.realTimePriority = nil
        let microphone = try Microphone(settings)
        try microphone.start()
        defer { microphone.stop() }
        #expect(eventually { !microphone.status.problem.isEmpty })
        #expect(
            microphone.status.problem
                == "audio device 'no-such-device': snd_pcm_open: No such file or directory; alsa-lib: Unknown PCM "
                + "no-such-device; is it plugged in? 'beckon devices' lists what is there"
        )
        #expect(FaultTests.changes(microphone, atLeast: 1).map(\.kind) == [.unavailable])
    }
}
