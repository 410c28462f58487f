public import Configuration

/// A change of settings while the daemon runs. It may come from a signal, the control socket or a changed file.
public enum SettingsChange: Equatable, Sendable {
    /// Reads the configuration again, and all files that it names: SIGHUP, `beckon reload`.
    case configuration
    /// Reads the file of the user's taught words again, because it has changed. No client asks for it alone: a reload does it, too.
    case words
    /// Sets other thresholds: `beckon set`.
    case thresholds(ThresholdChange)
    /// Closes (true) or opens (false) the microphone.
    case mute(Bool)
}
