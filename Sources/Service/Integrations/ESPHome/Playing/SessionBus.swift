import CSessionBus
import Core
import Glibc

/// Music players on the user's D-Bus, by MPRIS. Used by one thread; a player that does not answer is waited for.
struct SessionBus: ~Copyable {
    private static let prefix = "org.mpris.MediaPlayer2."
    /// Most players that are asked.
    private static let most = 16
    /// Microseconds that a player may take.
    private static let timeout: UInt64 = 500_000

    private let library: CSessionBus
    private let bus: OpaquePointer

    /// Why there is no bus.
    struct Problem: Error, Equatable, CustomStringConvertible {
        let description: String
    }

    init() throws(Problem) {
        var library = CSessionBus()
        guard CSessionBus_load(&library) else { throw Problem(description: "libsystemd0 is not installed") }
        var bus: OpaquePointer?
        let status = library.open?(&bus) ?? -ENOSYS
        guard status >= 0, let bus else {
            let reason = String(cString: strerror(-status))
            throw Problem(description: "no D-Bus of a user (\(reason)); a system's service has none")
        }
        (self.library, self.bus) = (library, bus)
        _ = library.set_timeout?(bus, Self.timeout)
    }

    deinit { _ = library.close?(bus) }

    /// The names of all players that run; nil if the bus does not answer.
    func players() -> [String]? {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        guard (library.list?(bus, &names, nil) ?? -1) >= 0, let names else { return nil }
        defer { free(names) }
        var players: [String] = []
        var place = 0
        while let name = names[place] {
            let text = String(cString: name)
            if text.hasPrefix(Self.prefix), players.count < Self.most { players.append(text) }
            free(name)
            place += 1
        }
        return players
    }

    func isPlaying(_ player: String) -> Bool {
        var state: UnsafeMutablePointer<CChar>?
        guard withUnsafePointer(to: library, { CSessionBus_state($0, bus, player, &state) }) >= 0, let state else {
            return false
        }
        defer { free(state) }
        return String(cString: state) == "Playing"
    }

    /// 1 is a player's usual volume; nil for one without.
    func volume(_ player: String) -> Double? {
        var volume = 0.0
        let status = withUnsafePointer(to: library) { CSessionBus_volume($0, bus, player, &volume) }
        return status >= 0 && volume.isFinite ? volume : nil
    }

    func set(volume: Double, _ player: String) {
        _ = withUnsafePointer(to: library) { CSessionBus_set_volume($0, bus, player, volume) }
    }

    func pause(_ player: String) { _ = withUnsafePointer(to: library) { CSessionBus_tell($0, bus, player, "Pause") } }

    func play(_ player: String) { _ = withUnsafePointer(to: library) { CSessionBus_tell($0, bus, player, "Play") } }
}
