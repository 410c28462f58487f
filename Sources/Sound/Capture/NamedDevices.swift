import CALSA
import Glibc

// Devices that are not cards.
extension DeviceList {
    /// Names in ALSA's own configuration that are converters, not devices.
    private static let converters: Set<String> = [
        "null", "jack", "oss", "lavrate", "samplerate", "speexrate", "speex", "upmix", "vdownmix",
    ]

    /// The device of ALSA's configuration that `auto` takes where there is no card: `default`, a sound server, else the first that opens.
    ///
    /// - Parameter devices: in ALSA's order.
    static func preferred(named devices: [Device]) -> String? {
        let free = devices.filter { if case .free = $0.condition { true } else { false } }
        let usual = ["default", "pipewire", "pulse"].first { name in free.contains { $0.name == name } }
        return usual ?? free.first?.name ?? devices.first { if case .busy = $0.condition { true } else { false } }?.name
    }

    /// Devices of ALSA's configuration that are not cards: sound servers, and devices that the user defined.
    ///
    /// - Parameter isAlone: whether there is no card: then also those that ALSA does not list, as their definition has no hint.
    static func namedDevices(isAlone: Bool) -> [Device] {
        let listed = listedDevices()
        return listed.isEmpty && isAlone ? unlistedDevices() : listed
    }

    private static func listedDevices() -> [Device] {
        var hints: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
        guard snd_device_name_hint(-1, "pcm", &hints) >= 0, let hints else { return [] }
        defer { snd_device_name_free_hint(hints) }
        var devices: [Device] = []
        var place = hints
        while let hint = place.pointee {
            place += 1
            let direction = value("IOID", of: hint)
            guard let name = value("NAME", of: hint), direction == nil || direction == "Input",
                !converters.contains(name), !name.contains("CARD=")
            else { continue }
            let description = value("DESC", of: hint) ?? ""
            let text = description.split(separator: "\n").joined(separator: ", ")
            if let device = device(named: name, text) { devices.append(device) }
        }
        return devices
    }

    /// Nil if it does not open: if its sound server does not run, the name is not a device.
    private static func device(named name: String, _ description: String) -> Device? {
        let condition = Device.Condition(of: name) { nil }
        if case .failed = condition { return nil }
        return Device(name: name, description: description, driver: nil, condition: condition)
    }

    /// The devices that ALSA's configuration defines under a name alone, without a hint: those of a `~/.asoundrc`.
    private static func unlistedDevices() -> [Device] {
        var top: OpaquePointer?
        guard snd_config_update_ref(&top) >= 0, let top else { return [] }
        defer { snd_config_unref(top) }
        var definitions: OpaquePointer?
        guard snd_config_search(top, "pcm", &definitions) >= 0, let definitions else { return [] }
        var names: [String] = []
        var place = snd_config_iterator_first(definitions)
        while let entry = place, entry != snd_config_iterator_end(definitions) {
            place = snd_config_iterator_next(entry)
            guard let definition = snd_config_iterator_entry(entry) else { continue }
            var (identifier, arguments): (UnsafePointer<CChar>?, OpaquePointer?) = (nil, nil)
            // One with arguments is a kind of device: hw, plughw, dsnoop.
            guard snd_config_get_id(definition, &identifier) >= 0,
                snd_config_get_type(definition) == SND_CONFIG_TYPE_COMPOUND,
                snd_config_search(definition, "@args", &arguments) < 0
            else { continue }
            let name = text(identifier)
            if !name.isEmpty, !converters.contains(name) { names.append(name) }
        }
        return names.compactMap { device(named: $0, "") }
    }

    private static func value(_ key: String, of hint: UnsafeMutableRawPointer) -> String? {
        guard let text = snd_device_name_get_hint(hint, key) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }
}
