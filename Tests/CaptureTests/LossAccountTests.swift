import Core
import Glibc
import TestSupport
import Testing

@testable import Audio
@testable import Capture

/// The account of a microphone's audio: what was read and what was lost adds up to the time since the first frame.
struct LossAccountTests {
    private static func at(_ milliseconds: Int) -> Instant { Instant(nanoseconds: Int64(milliseconds) * 1_000_000) }

    /// An account that has read a second of audio, up to 1 s.
    private static func reading() -> LossAccount {
        var account = LossAccount()
        for end in stride(from: 100, through: 1_000, by: 100) {
            #expect(account.frames(.milliseconds(100), until: at(end)) == nil)
        }
        return account
    }

    @Test func `each cause is counted by itself`() {
        let lost = LostAudio()
        for (number, cause) in LostAudio.Cause.allCases.enumerated() { lost.note(cause, .milliseconds(1 + number)) }
        for (number, cause) in LostAudio.Cause.allCases.enumerated() {
            #expect(lost[cause] == .milliseconds(1 + number), "\(cause)")
        }
    }

    @Test func `a gap reaches from frame to frame, whenever it is noticed`() {
        var account = Self.reading()
        // The process was stopped for 20 s, and the overrun is noticed afterwards.
        #expect(account.begin(.overrun, at: Self.at(21_000)) == nil)
        #expect(account.gap == LossAccount.Gap(cause: .overrun, since: Self.at(1_000)))
        let loss = account.frames(.milliseconds(10), until: Self.at(21_050))
        #expect(loss == LossAccount.Loss(cause: .overrun, duration: .milliseconds(20_040)))
        #expect(account.gap == nil && account.first == Self.at(0) && account.newest == Self.at(21_050))
    }

    @Test func `each cause gets its part`() {
        var account = Self.reading()
        #expect(account.begin(.overrun, at: Self.at(1_100)) == nil)
        #expect(account.begin(.overrun, at: Self.at(1_200)) == nil)
        let first = account.begin(.device, at: Self.at(1_500))
        #expect(first == LossAccount.Loss(cause: .overrun, duration: .milliseconds(500)))
        let second = account.begin(.muted, at: Self.at(4_000))
        #expect(second == LossAccount.Loss(cause: .device, duration: .milliseconds(2_500)))
        let third = account.frames(.milliseconds(100), until: Self.at(5_000))
        #expect(third == LossAccount.Loss(cause: .muted, duration: .milliseconds(900)))
    }

    @Test func `before the first frame nothing is lost`() {
        var account = LossAccount()
        #expect(account.begin(.device, at: Self.at(500)) == nil && account.gap == nil)
        #expect(account.frames(.milliseconds(100), until: Self.at(900)) == nil && account.first == Self.at(800))
    }

    @Test func `a driver that hangs in a read does not make the frames newer`() {
        var account = Self.reading()
        // The read returns six seconds late, and with the frames from before.
        #expect(account.frames(.milliseconds(100), until: Self.at(7_100)) == nil)
        #expect(account.begin(.overrun, at: Self.at(7_100)) == nil)
        let loss = account.frames(.milliseconds(100), until: Self.at(7_300))
        #expect(loss?.cause == .overrun && abs(((loss?.duration ?? .zero) - .milliseconds(6_100)).milliseconds) < 1)
    }

    @Test func `a first read that was late is corrected by the next ones`() {
        var account = Self.reading()
        _ = account.begin(.device, at: Self.at(1_000))
        let loss = account.frames(.milliseconds(100), until: Self.at(3_300))
        #expect(loss == LossAccount.Loss(cause: .device, duration: .milliseconds(2_200)))
        let correction = account.frames(.milliseconds(100), until: Self.at(3_200))
        #expect(correction == LossAccount.Loss(cause: .device, duration: .milliseconds(-200)))
        #expect(account.newest == Self.at(3_200))
    }

    @Test func `a slow card's frames stay as new as they are`() {
        var account = LossAccount()
        _ = account.frames(.milliseconds(100), until: Self.at(101))
        // 1 % slow, for 100 s: without the drift they would seem to be 0.9 s old.
        for count in 2...1_000 {
            _ = account.frames(.milliseconds(100), until: Self.at(101 * count), drift: 11_000)
        }
        #expect(account.newest == Self.at(101_000))
    }

    @Test(arguments: [
        ScriptedSource.Answer.fails(EPIPE, mending: []), .fails(ESTRPIPE, mending: [EAGAIN, EAGAIN]),
        .fails(ENODEV, mending: []), .fails(EPIPE, mending: [ENODEV]), .silence, .lost(4_800), .short(50),
    ])
    func `read and lost audio adds up`(_ trouble: ScriptedSource.Answer) throws {
        let script = [.periods(25), trouble, .missing([ENOENT, EBUSY]), .periods(24), trouble, .periods(133)]
        let status = try CaptureLoopTests.run(script).status
        let never = status.lost.reduce(Duration.zero) { $1.key == .incomplete ? $0 : $0 + $1.value }
        let difference = (status.elapsed - status.read - never).milliseconds
        // Missing frames are known up to a thousandth; a short read lacks less than a period.
        #expect(abs(difference) < 15, "\(status.lost)")
        let inBlock = status.read - AudioFormat.hopDuration * Int(status.blocks) - (status.lost[.incomplete] ?? .zero)
        #expect((-1..<100).contains(inBlock.milliseconds), "\(inBlock)")
    }

    @Test func `the fake card's own account is that of the microphone`() throws {
        let folder = try TestFolder()
        let ledger = try folder.write("ledger", bytes: [UInt8](repeating: 0, count: 32 + 24 * 100))
        let keys = "rate 16000 loop on live on ledger \"\(ledger)\""
        let card = try FakeCard(playing: FaultTests.noise(in: folder), in: folder, keys)
        let microphone = try card.microphone()
        try microphone.start()
        defer { microphone.stop() }
        for fault in ["xrun", "gone", "skip 8000"] {
            #expect(FakeCardTests.blocks(3, of: microphone).count == 3)
            try card.fail(fault)
            if fault == "gone" {
                #expect(eventually { microphone.status.state == .lost })
                usleep(300_000)
                try card.fail("")
            }
            #expect(eventually { microphone.status.counts.gaps == ["xrun": 1, "gone": 2, "skip 8000": 3][fault] })
        }
        microphone.mute()
        #expect(eventually { microphone.status.state == .muted })
        let status = microphone.status
        let words = try folder.bytes("ledger").withUnsafeBytes { Array($0.bindMemory(to: UInt64.self)) }
        let count = Int(words[2])
        #expect(count == 4 && status.frames == words[1])
        var (delivered, notDelivered) = (UInt64(0), UInt64(0))
        for index in 0..<count {
            let (begin, end) = (words[4 + 3 * index], words[5 + 3 * index])
            delivered += end - begin
            if index > 0 { notDelivered += begin - words[5 + 3 * (index - 1)] }
        }
        #expect(delivered == words[1])
        var lost = Duration.zero
        for cause in [LostAudio.Cause.overrun, .device, .missing] { lost += status.lost[cause] ?? .zero }
        #expect(abs(lost.seconds - Double(notDelivered) / 16_000) < 0.15, "\(status.lost)")
        #expect(status.lost[.missing].map { abs($0.seconds - 0.5) < 0.05 } == true)
    }
}
