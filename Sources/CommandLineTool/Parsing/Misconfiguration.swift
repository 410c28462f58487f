/// The configuration is invalid, or a model or word that it names does not exist; starting again does not help.
struct Misconfiguration: Error, CustomStringConvertible {
    /// EX_CONFIG of sysexits.h, for which systemd does not restart the service.
    static let status: Int32 = 78

    /// One line per mistake.
    let description: String

    /// Turns every error of `body` into this one.
    static func check<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            throw Misconfiguration(description: "\(error)")
        }
    }
}
