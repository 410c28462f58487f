/// The configuration is invalid, or names a model or word that does not exist. A restart would not help.
struct Misconfiguration: Error, CustomStringConvertible {
    /// EX_CONFIG of sysexits.h; the systemd unit does not restart the service on this status.
    static let status: Int32 = 78

    /// One line per mistake.
    let description: String

    /// Rethrows every error of `body` as this one.
    static func check<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            throw Misconfiguration(description: "\(error)")
        }
    }
}
