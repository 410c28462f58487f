import Core
public import JSON

/// Counts that are declared once: for the status, for metrics, and for the sum over several threads.
public protocol Counted: Sendable {
    /// In the order of the status; those of one metric follow each other.
    static var counters: [Counter<Self>] { get }
}

/// One of several counts: its key in the status, where it lies, and its metric, if it has one.
public struct Counter<Counts>: Sendable {
    let key: String
    let json: @Sendable (Counts) -> JSON
    var value: @Sendable (Counts) -> Double = { _ in 0 }
    var add: @Sendable (inout Counts, Counts) -> Void = { _, _ in }
    var family: MetricFamily?
    var labels: [MetricFamily.Label] = []

    /// A member of the status that is not a count.
    public init(_ key: String, _ json: @escaping @Sendable (Counts) -> JSON) {
        (self.key, self.json) = (key, json)
    }

    public init<Number: BinaryInteger & SendableMetatype>(
        _ key: String,
        _ path: any WritableKeyPath<Counts, Number> & Sendable
    ) {
        self.init(key) { .number($0[keyPath: path]) }
        value = { Double($0[keyPath: path]) }
        add = { $0[keyPath: path] += $1[keyPath: path] }
    }

    /// A time, in seconds.
    public init(_ key: String, _ path: any WritableKeyPath<Counts, Duration> & Sendable) {
        self.init(key) { .number($0[keyPath: path].seconds, places: 3) }
        value = { $0[keyPath: path].seconds }
        add = { $0[keyPath: path] += $1[keyPath: path] }
    }

    /// Whether something is so; 1 in metrics.
    public init(_ key: String, _ path: any KeyPath<Counts, Bool> & Sendable) {
        self.init(key) { .bool($0[keyPath: path]) }
        value = { $0[keyPath: path] ? 1 : 0 }
    }

    /// The same count as a metric; with a label, one of those of the metric's name.
    public func metric(_ family: MetricFamily, _ label: MetricFamily.Label? = nil) -> Counter {
        var counter = self
        (counter.family, counter.labels) = (family, label.map { [$0] } ?? [])
        return counter
    }

    /// The same count as a metric that only grows.
    public func counter(_ name: String, _ help: String, unit: String? = nil) -> Counter {
        metric(.counters(name, help, unit: unit))
    }

    /// The same count as a metric that goes up and down.
    public func gauge(_ name: String, _ help: String) -> Counter { metric(.gauges(name, help)) }
}

extension Counted {
    /// The members of the status.
    public var members: [JSON.Member] { Self.counters.map { JSON.Member($0.key, $0.json(self)) } }

    public var json: JSON { .object(members) }

    public var metrics: [MetricFamily] {
        var families: [MetricFamily] = []
        for counter in Self.counters {
            guard let family = counter.family else { continue }
            if families.last?.name != family.name { families.append(family) }
            families[families.count - 1].add(counter.labels, counter.value(self))
        }
        return families
    }

    /// Adds the counts of another thread.
    public mutating func add(_ other: Self) {
        for counter in Self.counters { counter.add(&self, other) }
    }
}
