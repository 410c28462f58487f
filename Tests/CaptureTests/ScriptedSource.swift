import Audio
import Core
import Glibc

@testable import Capture

/// A scripted device: the script gives the result of each system call, and the clock advances only during waits.
struct ScriptedSource: CaptureSource, ~Copyable {
    /// A step of the script.
    enum Answer {
        /// Periods of frames, one per wait.
        case periods(Int)
        /// A read that gives fewer frames than were there.
        case short(Int)
        /// A period of frames after frames were lost.
        case lost(Int)
        /// An errno from `readi`, then one result for each call that tries to recover from it.
        case fails(Int32, mending: [Int32])
        /// No frames until the loop gives up.
        case silence
        /// Errnos of the next attempts to open the device, after it was closed.
        case missing([Int32])
    }

    /// The calls in order, without successful waits and reads.
    final class Log {
        var calls: [String] = []
        /// Frames handed out.
        var frames = 0
    }

    static let period = 160
    /// A sample is the index of its frame in these: whole numbers would be taken for another scale of floats.
    static let unit: Float = 0x1p-20
    static let format = StreamFormat(rate: 16_000, channels: 1, sample: .f32, period: period, buffer: 8_000)

    let log: Log
    private var script: [Answer]
    /// Periods left of the current step; an integer, because arrays allocate in unoptimised builds.
    private var periods = 0
    private var mending: [Int32] = []
    private var openings: [Int32] = []
    private var time = Instant(nanoseconds: 1_000_000_000)
    private var ends: () -> Void

    /// - Parameter ends: Called when the script is at its end; the loop should be stopped then.
    init(_ script: [Answer], log: Log, ends: @escaping () -> Void) {
        self.script = script.reversed()
        self.log = log
        self.ends = ends
        takeOpenings()
    }

    var now: Instant { time }

    private mutating func takeOpenings() {
        if case .missing(let numbers)? = script.last {
            script.removeLast()
            openings = numbers.reversed()
        }
    }

    mutating func open(_ selection: InputSelection) throws(CaptureError) -> StreamFormat {
        takeOpenings()
        log.calls.append("open")
        if let number = openings.popLast() { throw .device("scripted", "snd_pcm_open", -number) }
        return ScriptedSource.format
    }

    mutating func close() { log.calls.append("close") }

    private mutating func mend(_ call: String) -> Int32 {
        log.calls.append(call)
        return -(mending.popLast() ?? 0)
    }

    mutating func restart() -> Int32 { mend("prepare") }

    mutating func resume() -> Int32 { mend("resume") }

    mutating func read(into frames: UnsafeMutableRawBufferPointer, count: Int) -> Int {
        if periods > 0 {
            periods -= 1
            return give(min(count, ScriptedSource.period), frames)
        }
        switch script.popLast() {
        case .short(let size)?: return give(min(count, size), frames)
        case .lost(let lost)?:
            time += .nanoseconds(lost * 62_500)
            log.frames += lost
            return give(min(count, ScriptedSource.period), frames)
        case .fails(let number, let mending)?:
            self.mending = mending.reversed()
            return -Int(number)
        case .periods?, .silence?, .missing?, nil: return -Int(EAGAIN)
        }
    }

    /// A ramp: the value of each sample is its position.
    private func give(_ count: Int, _ frames: UnsafeMutableRawBufferPointer) -> Int {
        for index in 0..<count {
            frames.storeBytes(of: Float(log.frames + index) * Self.unit, toByteOffset: index * 4, as: Float.self)
        }
        log.frames += count
        return count
    }

    mutating func waiting() -> Int { 0 }

    mutating func wait(until end: Instant) -> Int32 {
        if periods == 0, case .periods(let count)? = script.last {
            script.removeLast()
            periods = count
        }
        if periods > 0 {
            time += .milliseconds(10)
            return 1
        }
        switch script.last {
        case .short?, .lost?:
            time += .milliseconds(10)
            return 1
        case .fails?: return 1
        case .silence?:
            script.removeLast()
            time = end
            return 0
        case .periods?, .missing?, nil:
            ends()
            return 0
        }
    }

    /// Does not rest, because the clock advances only during waits.
    mutating func rest(until end: Instant) -> Bool { false }

    mutating func sleep(until end: Instant) {
        // Only the test can end a sleep without a limit.
        if end == .distantFuture { ends() } else { time = end }
    }
}
