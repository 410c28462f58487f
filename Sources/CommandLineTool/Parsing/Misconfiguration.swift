/// The configuration is wrong, or the model or the words that it names: to start again changes nothing.
struct Misconfiguration: Error, CustomStringConvertible {
    /// EX_CONFIG of sysexits.h, by which a service manager knows not to try again.
    static let status: Int32 = 78

    /// A line for each mistake.
    let description: String

    /// Gives everything that goes wrong in `body` this meaning.
    static func check<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            throw Misconfiguration(description: "\(error)")
        }
    }
}
