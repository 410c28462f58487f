public import Capture
private import Core
private import Glibc
private import System

/// The capture devices of this machine, and whether this user may use them.
public enum SoundSystem {
    /// - Parameters:
    ///   - device: the device to listen to; with `auto`, finding none is an error, else a warning.
    ///   - serviceDevice: the device that the service hears; nil if it hears none.
    public static func check(device: String, serviceDevice: String? = nil) -> [Diagnosis] {
        let found = Result { () throws(CaptureError) in try DeviceList.scan() }
        // Such as PipeWire's and PulseAudio's.
        let hasOthers = ((try? found.get()) ?? []).contains { found in
            if case .free = found.condition {
                found.driver == nil && (found.isAutomatic || found.name == device)
            } else {
                false
            }
        }
        guard let serviceDevice else {
            return [permissions(folder: "/dev/snd", hasOthers: hasOthers)] + devices(found, isNamed: device != "auto")
        }
        // What this user may open does not matter: the service has what it needs.
        return [Diagnosis(.ok, "permissions", "the service has the device open")]
            + describe((try? found.get()) ?? [], serviceDevice: serviceDevice)
    }

    /// Whether this user may use the capture devices of the kernel's cards.
    ///
    /// - Parameters:
    ///   - folder: folder of the device nodes, such as `/dev/snd`.
    ///   - hasOthers: whether the device that is listened to is not a card, but of a sound server, and opens.
    public static func permissions(folder: String, hasOthers: Bool = false) -> Diagnosis {
        let check = "permissions"
        let names = namesInFolder(folder)
        let nodes = names.filter { $0.hasPrefix("pcm") && $0.hasSuffix("c") }.sorted()
        if nodes.isEmpty, hasOthers {
            return Diagnosis(
                .ok,
                check,
                "no card is needed: ALSA's configuration names the device, which this user may use"
            )
        }
        guard !nodes.isEmpty else {
            return Diagnosis(
                .warning,
                check,
                "there is no capture device of a card in \(folder); only sound servers can be used",
                "plug in a microphone; a container or VM must be given the card"
            )
        }
        let closed = nodes.filter { access("\(folder)/\($0)", R_OK | W_OK) != 0 }
        guard let first = closed.first else {
            return Diagnosis(.ok, check, "this user may use \(nodes.joined(separator: ", "))")
        }
        let owner = (try? FileStatus(path: "\(folder)/\(first)")).flatMap { getgrgid($0.group)?.pointee.gr_name }
        let group = owner.map { String(cString: $0) } ?? "audio"
        return Diagnosis(
            .error,
            check,
            "this user may not use \(closed.joined(separator: ", "))",
            "add the user to the group \(group) (usermod -aG \(group) NAME) and log in again"
        )
    }

    /// Whether the capture thread has real-time priority and locked memory, without which a busy machine loses audio.
    public static func limits(isRealTime: Bool, isMemoryLocked: Bool) -> Diagnosis {
        let lacks = (isRealTime ? [] : ["real-time priority"]) + (isMemoryLocked ? [] : ["locked memory"])
        guard !lacks.isEmpty else {
            return Diagnosis(.ok, "limits", "capturing has real-time priority and locked memory")
        }
        return Diagnosis(
            .warning,
            "limits",
            "capturing may have no \(lacks.joined(separator: " and no ")): a busy machine may lose audio",
            "the service has both; for a user put '@audio - rtprio 20' and '@audio - memlock 65536' into "
                + "/etc/security/limits.d/audio.conf"
        )
    }

    private static func devices(_ found: Result<[Device], CaptureError>, isNamed: Bool) -> [Diagnosis] {
        switch found {
        case .success(let devices): return describe(devices)
        case .failure(let error):
            // The message ends with what to do.
            let parts = error.description.split(separator: ": ", maxSplits: 1).map(String.init)
            return [Diagnosis(isNamed ? .warning : .error, "devices", parts[0], parts.count > 1 ? parts[1] : "")]
        }
    }

    /// The devices by name, and a warning for each that is in use or does not open.
    ///
    /// - Parameter serviceDevice: the device that the service hears, which is in use for a good reason; nil if it hears none.
    public static func describe(_ devices: [Device], serviceDevice: String? = nil) -> [Diagnosis] {
        var names = devices.map { $0.isAutomatic ? "\($0.name) (auto)" : $0.name }
        if let serviceDevice, !devices.contains(where: { $0.name == serviceDevice }) {
            names.append("\(serviceDevice) (the service's)")
        }
        var found = [Diagnosis(.ok, "devices", names.joined(separator: ", "))]
        // Beside a service that hears its device, the others are of no interest.
        guard serviceDevice == nil else { return found }
        for device in devices {
            switch device.condition {
            case .free: break
            case .busy(let holder):
                let who = holder.map { "by \($0.name) (process \($0.process))" } ?? "by another program"
                let remedy = "end that program, or choose another device"
                found.append(Diagnosis(.warning, "devices", "\(device.name) is in use \(who)", remedy))
            case .failed(let why):
                let remedy = "try another device; dmesg may show the cause"
                found.append(Diagnosis(.warning, "devices", "\(device.name) does not open: \(why)", remedy))
            }
        }
        return found
    }
}
