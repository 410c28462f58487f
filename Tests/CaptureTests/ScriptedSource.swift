import Core
import Glibc

@testable import Capture

/// A device of a test's own: what each call of the system returns is scripted, and its clock runs only while it waits.
struct ScriptedSource: CaptureSource, ~Copyable {
    /// What reading gives.
    enum Answer {
        /// Periods of frames, one each time the device is waited for.
        case periods(Int)
        /// A read that gives fewer frames than were there.
        case short(Int)
        /// A period of frames after frames were lost.
        case lost(Int)
        /// An errno from `readi`, and this from the call that mends it, as many times as it says.
        case fails(Int32, mending: [Int32])
        /// No frames until the loop gives up.
        case silence
        /// Openings that fail, after the device was closed.
        case missing([Int32])
    }

    /// What was called, in order; waits and reads that went well are left out.
    final class Log {
        var calls: [String] = []
        /// Frames handed out.
        var frames = 0
    }

    static let period = 160
    static let format = StreamFormat(rate: 16_000, channels: 1, sample: .float, period: period, buffer: 8_000)

    let log: Log
    private var script: [Answer]
    /// Of the answer at hand; a plain number, because arrays allocate where the optimiser does not run.
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

    /// A ramp, so that every sample tells its place.
    private func give(_ count: Int, _ frames: UnsafeMutableRawBufferPointer) -> Int {
        for index in 0..<count {
            frames.storeBytes(of: Float(log.frames + index), toByteOffset: index * 4, as: Float.self)
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

    /// The clock runs only while it waits.
    mutating func rest(until end: Instant) -> Bool { false }

    mutating func sleep(until end: Instant) {
        // Asleep for ever, it can only be woken by the test.
        if end == .distantFuture { ends() } else { time = end }
    }
}
