import CSystem

/// Keeps the calling thread on the processor that it runs on now.
///
/// - Returns: the processor's number, nil where the system does not allow it.
public func pinThread() -> Int? {
    let number = CSystem_pin_thread()
    return number >= 0 ? Int(number) : nil
}
