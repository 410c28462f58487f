private import Audio
import CALSA
import CALSAMessages
import Glibc
private import System

/// The capture devices of this machine.
public enum DeviceList {
    /// The capture devices of all cards, and the devices that ALSA's configuration names.
    ///
    /// Free devices are opened, queried and closed; none is started.
    ///
    /// - Throws: ``CaptureError/noDevice`` with the places that were searched, if there is none.
    public static func scan() throws(CaptureError) -> [Device] {
        CALSAMessages_install()
        let found = cardDevices()
        let cards = found.map { found in
            let holder = { Device.Holder(card: found.card, device: found.device) }
            return Device(
                name: found.name,
                description: found.description,
                driver: found.driver,
                condition: found.isBusy ? .busy(holder()) : .init(of: found.name, holder: holder)
            )
        }
        let named = namedDevices(isAlone: found.isEmpty)
        var devices = cards + named
        guard !devices.isEmpty else { throw .noDevice(nothingFound()) }
        let automatic = automatic(among: found) ?? preferred(named: named)
        for index in devices.indices { devices[index].isAutomatic = devices[index].name == automatic }
        return devices
    }

    /// The device that `auto` selects now.
    ///
    /// - Throws: ``CaptureError/noDevice``.
    static func automatic() throws(CaptureError) -> String {
        CALSAMessages_install()
        if let name = automatic(among: cardDevices()) { return name }
        // Opening them takes time, which only a machine without a card spends.
        guard let name = preferred(named: namedDevices(isAlone: true)) else { throw .noDevice(nothingFound()) }
        return name
    }

    /// Checks that a device and its channels can be captured, without starting it.
    ///
    /// A device that is in use passes: it may be the caller's own, under another name.
    ///
    /// - Throws: ``CaptureError`` with the reason and what to do.
    public static func check(_ selection: InputSelection) throws(CaptureError) {
        do throws(CaptureError) {
            try checkOnce(selection)
        } catch {
            // ALSA caches its configuration, including the names of cards that were there before.
            snd_config_update_free_global()
            try checkOnce(selection)
        }
    }

    private static func checkOnce(_ selection: InputSelection) throws(CaptureError) {
        CALSAMessages_install()
        let name: String =
            switch selection.device {
            case .auto: try automatic()
            case .named(let name): name
            }
        let channels: Int
        do throws(CaptureError) {
            channels = try Device.Abilities(of: name).channels.upperBound
        } catch {
            guard error.number != EBUSY else { return }
            throw error
        }
        if let highest = selection.mix.highest, highest >= channels {
            throw .unsupported(name, "it has no channel \(highest) but 0 to \(channels - 1); choose one of these")
        }
    }

    private static func automatic(among cards: [CardDevice]) -> String? {
        defaultIsServer() ? "default" : preferred(cards)?.name
    }

    /// USB cards first, because a user plugged them in; loopbacks last.
    static func preferred(_ devices: [CardDevice]) -> CardDevice? {
        func rank(_ device: CardDevice) -> Int {
            switch device.driver {
            case "USB-Audio": 0
            case "Loopback": 2
            default: 1
            }
        }
        // `min` returns the first of equals.
        return devices.min { rank($0) < rank($1) }
    }

    // MARK: Names

    /// Whether ALSA's `default` leads to a sound server that is running.
    private static func defaultIsServer() -> Bool {
        var top: OpaquePointer?
        guard snd_config_update_ref(&top) >= 0, let top else { return false }
        defer { snd_config_unref(top) }
        var definition: OpaquePointer?
        guard snd_config_search_definition(top, "pcm", "default", &definition) >= 0, let definition else {
            return false
        }
        defer { snd_config_delete(definition) }
        var entry: OpaquePointer?
        var type: UnsafePointer<CChar>?
        guard snd_config_search(definition, "type", &entry) >= 0, snd_config_get_string(entry, &type) >= 0 else {
            return false
        }
        let folder = OwnEnvironment.variables["XDG_RUNTIME_DIR"] ?? "/run"
        let socket: String
        switch text(type) {
        case "pipewire": socket = "pipewire-0"
        case "pulse": socket = "pulse/native"
        default: return false
        }
        return ["\(folder)/\(socket)", "/run/\(socket)"].contains { fileExists($0) }
    }

    // MARK: Nothing

    private static func nothingFound() -> String {
        let nodes = namesInFolder("/dev/snd")
        let advice: String
        if !fileExists("/proc/asound/cards") {
            advice =
                "the kernel's sound drivers are not loaded, and no device of ALSA's configuration opens; in a container or VM give it a sound device, else load "
                + "the card's module (modprobe snd-usb-audio), or start PipeWire or PulseAudio"
        } else if nodes.contains(where: { $0.hasPrefix("pcm") && $0.hasSuffix("c") }) {
            advice = "/dev/snd has capture devices, but they do not open; add the user to the group 'audio'"
        } else {
            advice = "no card here captures; plug in a microphone, or start PipeWire or PulseAudio"
        }
        return "no capture device (looked at /proc/asound/cards, /dev/snd and ALSA's named devices): \(advice)"
    }
}
