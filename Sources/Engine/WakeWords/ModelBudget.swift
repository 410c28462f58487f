/// What the reading of one model may take in all: bytes of memory, and steps of work. Whatever a file makes the program read, copy or compute
/// is taken from here before it is done, so that a small file that claims much, or claims it often, is refused at once.
///
/// Nothing is given back: a copy that is freed counts, too. A head of 10 MB whose weights are transposed takes less than three quarters of it,
/// and the networks of microWakeWord less than a tenth; openWakeWord's own heads have up to 1.3 MB.
final class ModelBudget {
    enum Limits {
        static let bytes = 44 << 20
        /// Some nanoseconds each.
        static let steps = 1 << 24
    }

    private(set) var bytes = 0
    private(set) var steps = 0

    /// Takes memory for `count` values of `size` bytes, and a step for each.
    ///
    /// - Throws: `WakeWordError.size` if there is not as much left.
    func take(_ count: Int, of size: Int = 1) throws(WakeWordError) {
        guard count >= 0, count <= (Limits.bytes - bytes) / size else {
            throw .size.saying(
                "to read it takes more than \(Limits.bytes >> 20) MB of memory, more than any wake word needs; is this a wake-word model?"
            )
        }
        bytes += count * size
        try step(count)
    }

    /// Takes steps.
    ///
    /// - Throws: `WakeWordError.size` if there are not as many left.
    func step(_ count: Int = 1) throws(WakeWordError) {
        guard count <= Limits.steps - steps else {
            throw .size.saying("to read it takes far more work than any wake word needs; is this a wake-word model?")
        }
        steps += count
    }

    /// What an array or a text on the heap takes besides its content.
    static let object = 64

    /// The product of numbers that are not negative; `Int.max` where it is larger.
    static func product(_ factors: some Sequence<Int>) -> Int {
        factors.reduce(1) { product, factor in
            let (next, overflow) = product.multipliedReportingOverflow(by: factor)
            return overflow ? .max : next
        }
    }
}

/// The first numbers of a list, for messages.
func listed(_ numbers: some Collection<Int>) -> String {
    "[" + numbers.prefix(8).map(String.init).joined(separator: ", ") + (numbers.count > 8 ? ", …]" : "]")
}
