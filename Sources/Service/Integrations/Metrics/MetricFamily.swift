/// One metric with its samples, as Prometheus knows it. A pure value; ``MetricsFormat`` writes it.
///
/// Names begin with `beckon_`, are in base units (seconds, bytes, ratios from 0 to 1), and hold no word: words are labels. The name of
/// a counter is given without `_total`, that of an information without `_info`.
/// (prometheus.io/docs/practices/naming)
public struct MetricFamily: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        /// Only grows while the program runs.
        case counter
        case gauge
        /// Always 1; its labels tell.
        case information
        case histogram
    }

    public struct Label: Equatable, Sendable {
        public let name: String
        public let value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    struct Sample: Equatable, Sendable {
        /// What follows the name, such as `_bucket`.
        var suffix = ""
        var labels: [Label]
        var value: Double
    }

    public let name: String
    public let help: String
    public let kind: Kind
    /// The end of the name, such as `seconds`; nil for a number of things.
    public let unit: String?
    private(set) var samples: [Sample]

    /// A value for each value of some labels.
    public typealias Values = [([Label], Double)]

    private init(_ name: String, _ help: String, _ kind: Kind, unit: String?, _ samples: [Sample]) {
        (self.name, self.help, self.kind, self.unit, self.samples) = (name, help, kind, unit, samples)
    }

    private init(_ name: String, _ help: String, _ kind: Kind, unit: String?, _ values: Values) {
        self.init(name, help, kind, unit: unit, values.map { Sample(labels: $0.0, value: $0.1) })
    }

    mutating func add(_ labels: [Label], _ value: Double) { samples.append(Sample(labels: labels, value: value)) }

    /// A count without labels.
    public static func counter(_ name: String, _ help: String, unit: String? = nil, _ value: Double) -> Self {
        counters(name, help, unit: unit, [([], value)])
    }

    /// A count for each value of some labels.
    public static func counters(_ name: String, _ help: String, unit: String? = nil, _ values: Values = []) -> Self {
        Self(name, help, .counter, unit: unit, values)
    }

    /// A value that goes up and down.
    public static func gauge(_ name: String, _ help: String, unit: String? = nil, _ value: Double) -> Self {
        gauges(name, help, unit: unit, [([], value)])
    }

    /// A value for each value of some labels.
    public static func gauges(_ name: String, _ help: String, unit: String? = nil, _ values: Values = []) -> Self {
        Self(name, help, .gauge, unit: unit, values)
    }

    /// Constant facts, such as a version.
    public static func information(_ name: String, _ help: String, _ labels: [Label]) -> MetricFamily {
        MetricFamily(name, help, .information, unit: nil, [Sample(labels: labels, value: 1)])
    }

    /// A distribution.
    ///
    /// - Parameters:
    ///   - bounds: upper bounds of the buckets, ascending, without that of the last, which has none.
    ///   - counts: how many values lie in each bucket and in no lower one; one more than bounds.
    ///   - sum: of all values.
    public static func histogram(
        _ name: String,
        _ help: String,
        unit: String? = nil,
        bounds: [Double],
        counts: [UInt64],
        sum: Double
    ) -> MetricFamily {
        var samples: [Sample] = []
        var total: UInt64 = 0
        for (bound, count) in zip(bounds + [.infinity], counts) {
            total += count
            let label = Label("le", MetricsFormat.number(bound))
            samples.append(Sample(suffix: "_bucket", labels: [label], value: Double(total)))
        }
        samples.append(Sample(suffix: "_sum", labels: [], value: sum))
        samples.append(Sample(suffix: "_count", labels: [], value: Double(total)))
        return MetricFamily(name, help, .histogram, unit: unit, samples)
    }
}
