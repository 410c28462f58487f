private import Core

/// The text formats of metrics. (prometheus.io/docs/instrumenting/exposition_formats; OpenMetrics 1.0.0)
public enum MetricsFormat: Equatable, Sendable {
    /// Version 0.0.4 of Prometheus.
    case prometheus
    case openMetrics

    /// The format for a request: OpenMetrics only where the header `Accept` asks for it by name.
    ///
    /// - Parameter accept: the header; nil without one.
    public init(accept: String?) {
        let wanted = (accept ?? "").lowercased().split(separator: ",").contains { part in
            let parameters = part.split(separator: ";").map { $0.filter { !$0.isWhitespace } }
            guard parameters.first == "application/openmetrics-text" else { return false }
            let version = parameters.first { $0.hasPrefix("version=") }?.dropFirst(8)
            let quality = parameters.first { $0.hasPrefix("q=") }.flatMap { Double(decimal: $0.dropFirst(2)) }
            return (version == nil || version == "1.0.0" || version == "\"1.0.0\"") && quality != 0
        }
        self = wanted ? .openMetrics : .prometheus
    }

    public var contentType: String {
        switch self {
        case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }

    /// All families as one text that ends in a newline. A family without samples is left out.
    public func text(_ families: [MetricFamily]) -> String {
        var text = ""
        for family in families where !family.samples.isEmpty { write(family, to: &text) }
        if self == .openMetrics { text += "# EOF\n" }
        return text
    }

    private func write(_ family: MetricFamily, to text: inout String) {
        let (ending, kind) =
            switch family.kind {
            case .counter: ("_total", "counter")
            case .gauge: ("", "gauge")
            case .information: ("_info", self == .openMetrics ? "info" : "gauge")
            case .histogram: ("", "histogram")
            }
        // OpenMetrics names the family, the older format the samples.
        let name = self == .openMetrics ? family.name : family.name + ending
        text += "# HELP \(name) \(Self.escaped(family.help, quotes: self == .openMetrics))\n"
        text += "# TYPE \(name) \(kind)\n"
        if self == .openMetrics, let unit = family.unit { text += "# UNIT \(name) \(unit)\n" }
        for sample in family.samples {
            let labels = sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value, quotes: true))\"" }
            text += family.name + ending + sample.suffix
            if !labels.isEmpty { text += "{\(labels.joined(separator: ","))}" }
            text += " \(Self.number(sample.value))\n"
        }
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// A number as both formats write it: `3`, `0.25`, `+Inf`, `NaN`.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        guard value.isFinite else { return value < 0 ? "-Inf" : "+Inf" }
        if value == value.rounded(), abs(value) < 1e15 { return String(Int64(value)) }
        return value.description
    }
}
