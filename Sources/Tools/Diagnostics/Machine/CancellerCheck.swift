/// Whether the microphone is a source of PipeWire or PulseAudio from which the sound server has removed the echo.
public enum CancellerCheck {
    /// - Parameters:
    ///   - device: ALSA's name.
    ///   - removesEcho: whether Beckon removes it.
    ///   - pactl: runs `pactl` with these arguments in the C locale, and returns its output; nil if that fails.
    /// - Returns: nil for a device that is not of a sound server, and where `pactl` tells nothing.
    public static func diagnosis(
        device: String,
        removesEcho: Bool,
        pactl: (_ arguments: [String]) -> String?
    ) -> Diagnosis? {
        guard let named = source(of: device), let sources = pactl(["list", "sources"]) else { return nil }
        let name = named ?? pactl(["get-default-source"])?.split(separator: "\n").first.map(String.init) ?? ""
        guard let isCanceller = isCanceller(name, in: sources) else { return nil }
        let check = "echo"
        switch (isCanceller, removesEcho) {
        case (true, false):
            let text = "the sound server removes the echo of what is played: \(name) is its canceller's"
            return Diagnosis(.ok, check, text)
        case (true, true):
            let text = "the echo is removed twice: \(name) is the sound server's canceller's, and echo.reference is set"
            return Diagnosis(.warning, check, text, "set echo.reference to null, or listen to the microphone itself")
        case (false, true):
            return Diagnosis(.ok, check, "\(name) is not of the sound server's canceller; Beckon removes it")
        case (false, false):
            let text = "\(name) is not of the sound server's canceller: what a loudspeaker near it plays hides words"
            return Diagnosis(.ok, check, "\(text); docs/echo.md tells how to remove it")
        }
    }

    /// The source that a device of ALSA's plug-ins captures; nil inside for the default one, and nil for other devices.
    static func source(of device: String) -> String?? {
        let parts = device.split(separator: ":", maxSplits: 1).map(String.init)
        switch parts.first {
        case "default", "pulse", "pipewire", "sysdefault": break
        default: return nil
        }
        guard parts.count > 1 else { return .some(nil) }
        let arguments = parts[1].split(separator: ",").map(String.init)
        for key in ["DEVICE=", "NODE="] {
            if let found = arguments.first(where: { $0.hasPrefix(key) }) { return String(found.dropFirst(key.count)) }
        }
        return parts[0] == "pulse" ? parts[1] : .some(nil)
    }

    /// Whether a source of `pactl list sources` is a canceller's; nil if it is not there.
    static func isCanceller(_ name: String, in sources: String) -> Bool? {
        var isFound = false
        for line in sources.split(separator: "\n") {
            let text = line.drop { $0 == " " || $0 == "\t" }
            if text.hasPrefix("Name: ") {
                if isFound { return false }
                isFound = text.dropFirst(6) == name
            }
            // PulseAudio's module, or the group of PipeWire's.
            let isPipeWire = ["node.group", "node.link-group"].contains { text.hasPrefix("\($0) = \"echo-cancel-") }
            if isFound, isPipeWire || text.hasPrefix("Driver: module-echo-cancel") { return true }
        }
        return isFound ? false : nil
    }
}
