import Core

/// Which device to capture from.
public enum DeviceChoice: Equatable, Sendable, CustomStringConvertible {
    /// `default` if it leads to a running sound server, else the first card that captures, USB cards before others; without a card the
    /// first device that ALSA's configuration names and that opens, `default` before others.
    case auto
    /// By ALSA's name.
    case named(String)

    /// `auto`, or a name as ALSA knows it.
    public init(_ text: String) { self = text == "auto" ? .auto : .named(text) }

    public var description: String {
        switch self {
        case .auto: "auto"
        case .named(let name): name
        }
    }
}

/// Finds the device to open, at the start and after each loss.
///
/// `auto` waits ten seconds for a lost device, so that a device that is plugged in again is used again; after that it
/// takes another one.
final class DeviceFinder {
    /// How long `auto` waits for a lost device.
    static let maxAge = Duration.seconds(10)

    let choice: DeviceChoice
    private var last: String?
    private var missedSince: Instant?

    init(_ choice: DeviceChoice) { self.choice = choice }

    func find(at now: Instant) throws(CaptureError) -> String {
        if case .named(let name) = choice { return name }
        if let last, now - (missedSince ?? now) < DeviceFinder.maxAge { return last }
        return try DeviceList.automatic()
    }

    func found(_ name: String) { (last, missedSince) = (name, nil) }

    func missed(at now: Instant) { missedSince = missedSince ?? now }
}
