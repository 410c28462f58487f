private import Audio
import CALSA
import Core
import Glibc
import System

/// The capture source for sound cards and other ALSA devices.
struct CardSource: CaptureSource, ~Copyable {
    private var finder: DeviceFinder
    private let wanted: PCM.Wanted
    private let record: CaptureRecord
    /// Signalled when the target or the selection changes.
    private let wakeUp: EventFD
    private var pcm: PCM?
    /// The descriptor of `wakeUp`, then the device's own.
    private var polls = UnsafeMutableBufferPointer<pollfd>(start: nil, count: 0)

    init(wanted: PCM.Wanted, record: CaptureRecord, wakeUp: EventFD) {
        self.record = record
        finder = DeviceFinder(.auto)
        self.wanted = wanted
        self.wakeUp = wakeUp
    }

    deinit { polls.deallocate() }

    mutating func open(_ selection: InputSelection) throws(CaptureError) -> StreamFormat {
        pcm = nil
        if selection.device != finder.choice { finder = DeviceFinder(selection.device) }
        do throws(CaptureError) {
            let name = try finder.find(at: now)
            record.device = name
            let opened = try openCard(name, highestChannel: selection.mix.highest ?? 0)
            let result = opened.restart()
            guard result >= 0 else { throw .device(name, "snd_pcm_start", result) }
            polls.deallocate()
            polls = .allocate(capacity: opened.descriptors + 1)
            polls.initialize(repeating: pollfd())
            polls[0] = pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)
            finder.found(name)
            let format = opened.format
            pcm = consume opened
            return format
        } catch {
            finder.missed(at: now)
            record.problem = error.description
            // ALSA caches its configuration, including the names of cards that were there before.
            snd_config_update_free_global()
            throw error
        }
    }

    /// Opens a device; one chosen by `auto` may need ALSA's `plug` to convert its format.
    private func openCard(_ name: String, highestChannel: Int) throws(CaptureError) -> PCM {
        var wanted = wanted
        wanted.channels = max(wanted.channels, highestChannel + 1)
        do throws(CaptureError) {
            return try PCM(name: name, wanted: wanted)
        } catch {
            guard finder.choice == .auto, error == .unsupported, name.hasPrefix("hw:") else { throw error }
            return try PCM(name: "plug" + name, wanted: wanted)
        }
    }

    mutating func close() {
        pcm = nil
        finder.missed(at: now)
    }

    mutating func restart() -> Int32 { pcm?.restart() ?? -ENODEV }

    mutating func resume() -> Int32 { pcm?.resume() ?? -ENODEV }

    mutating func read(into frames: UnsafeMutableRawBufferPointer, count: Int) -> Int {
        pcm?.read(into: frames, count: count) ?? -Int(ENODEV)
    }

    mutating func waiting() -> Int { pcm?.waiting() ?? -Int(ENODEV) }

    // Not snd_pcm_wait: it may block longer than its timeout, and does not watch `wakeUp`.
    mutating func wait(until time: Instant) -> Int32 {
        // No slices or `last` here: in debug builds these generic calls allocate.
        guard let first = polls.baseAddress else { return -ENODEV }
        let own = UnsafeMutableBufferPointer(start: first + 1, count: polls.count - 1)
        while true {
            pcm?.describe(own)
            let count = poll(first, UInt(polls.count), Poll.milliseconds(until: time))
            if count < 0 { return errno == EINTR ? 0 : -errno }
            if first.pointee.revents != 0 {
                wakeUp.drain()
                return 0
            }
            let events = count == 0 ? 0 : pcm?.events(of: own) ?? -ENODEV
            // A poll may end without a meaningful event.
            if events != 0 || now >= time { return events }
        }
    }

    mutating func rest(until time: Instant) -> Bool { wakeUp.wait(until: time) }

    mutating func sleep(until time: Instant) { wakeUp.wait(until: time) }

    var now: Instant { Clock.now }
}
