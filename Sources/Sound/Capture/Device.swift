/// A capture device, as `beckon devices` lists it.
public struct Device: Equatable, Sendable {
    /// What a device supports.
    public struct Abilities: Equatable, Sendable {
        /// The common sample rates that it supports without conversion, in Hz.
        public var rates: [Int]
        public var channels: ClosedRange<Int>
        /// The supported sample formats, by ALSA's names.
        public var formats: [String]
    }

    /// A program that has a device open.
    public struct Holder: Equatable, Sendable {
        public var process: Int
        public var name: String
    }

    /// Whether a device can be used now.
    public enum Condition: Equatable, Sendable {
        case free(Abilities)
        /// In use; the holder is nil if it is unknown.
        case busy(Holder?)
        /// It cannot be opened; the system's error text.
        case failed(String)
    }

    /// ALSA's name, which does not change when other devices are plugged in: `hw:CARD=Device,DEV=0`.
    public var name: String
    /// The names of card and device, as the driver gives them.
    public var description: String
    /// The driver, such as `USB-Audio`; nil for a device that is not a card.
    public var driver: String?
    public var condition: Condition
    /// Whether ``DeviceChoice/auto`` selects this device now.
    public var isAutomatic = false
}
