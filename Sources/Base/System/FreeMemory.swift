private import CSystem

/// Memory that the C library keeps for later.
public enum FreeMemory {
    /// Gives it back to the system, where whole pages are free. Takes milliseconds after much was freed; other threads that allocate may wait.
    public static func giveBack() { CSystem_trim() }
}
