import CALSA
private import Core

extension DeviceList {
    /// A capture device of a card, before it is opened.
    struct CardDevice {
        let card: Int
        let device: Int
        let name: String
        let description: String
        let driver: String
        let isBusy: Bool
    }

    static func cardDevices() -> [CardDevice] {
        var devices: [CardDevice] = []
        var card: Int32 = -1
        while snd_card_next(&card) >= 0, card >= 0 {
            var control: OpaquePointer?
            guard snd_ctl_open(&control, "hw:\(card)", 0) >= 0, let control else { continue }
            devices += captureDevices(of: card, control)
            snd_ctl_close(control)
        }
        return devices
    }

    private static func captureDevices(of card: Int32, _ control: OpaquePointer) -> [CardDevice] {
        var cardRoom: OpaquePointer?
        var deviceRoom: OpaquePointer?
        guard snd_ctl_card_info_malloc(&cardRoom) >= 0, let cardInfo = cardRoom else { return [] }
        defer { snd_ctl_card_info_free(cardInfo) }
        guard snd_pcm_info_malloc(&deviceRoom) >= 0, let info = deviceRoom else { return [] }
        defer { snd_pcm_info_free(info) }
        guard snd_ctl_card_info(control, cardInfo) >= 0 else { return [] }
        let identifier = text(snd_ctl_card_info_get_id(cardInfo))
        var devices: [CardDevice] = []
        var device: Int32 = -1
        while snd_ctl_pcm_next_device(control, &device) >= 0, device >= 0 {
            snd_pcm_info_set_device(info, UInt32(device))
            snd_pcm_info_set_subdevice(info, 0)
            snd_pcm_info_set_stream(info, SND_PCM_STREAM_CAPTURE)
            guard snd_ctl_pcm_info(control, info) >= 0 else { continue }
            devices.append(
                CardDevice(
                    card: Int(card),
                    device: Int(device),
                    name: "hw:CARD=\(identifier),DEV=\(device)",
                    description: "\(text(snd_ctl_card_info_get_name(cardInfo))), \(text(snd_pcm_info_get_name(info)))",
                    driver: text(snd_ctl_card_info_get_driver(cardInfo)),
                    isBusy: snd_pcm_info_get_subdevices_avail(info) == 0
                )
            )
        }
        return devices
    }

    static func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }

    /// The program that has the device of this name open; nil if that is unknown.
    static func holder(of name: String) -> Device.Holder? {
        guard let (card, device) = place(of: name) else { return nil }
        let index = snd_card_get_index(card)
        return index < 0 ? nil : Device.Holder(card: Int(index), device: device)
    }

    /// The card, by number or name, and the device number in names such as `hw:CARD=Device,DEV=0` and `plughw:1,0`.
    static func place(of name: String) -> (card: String, device: Int)? {
        guard let colon = name.firstIndex(of: ":"), ["hw", "plughw", "dsnoop"].contains(name[..<colon]) else {
            return nil
        }
        var values = ["CARD": "0", "DEV": "0"]
        let arguments = name[name.index(after: colon)...].split(separator: ",")
        for (argument, key) in zip(arguments, ["CARD", "DEV"]) {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            if parts.count == 2 { values[parts[0]] = parts[1] } else { values[key] = parts.first }
        }
        guard let card = values["CARD"], let device = values["DEV"].flatMap({ Int(digits: $0) }) else { return nil }
        return (card, device)
    }
}
