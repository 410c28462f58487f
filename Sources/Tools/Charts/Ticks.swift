private import Glibc

/// A marked value of an axis.
public struct Tick: Sendable, Equatable {
    public let value: Double
    public let label: String

    public init(_ value: Double, _ label: String) {
        self.value = value
        self.label = label
    }
}

extension Scale {
    /// Round values between the ends, about `count` of them.
    public func ticks(atMost count: Int) -> [Tick] {
        switch kind {
        case .linear: linearTicks(count)
        case .time: timeTicks(count)
        case .log: logTicks(count)
        case .probit: probitTicks(count)
        }
    }

    private func linearTicks(_ count: Int) -> [Tick] {
        let decade = pow(10, floor(log10((upper - lower) / Double(max(1, count)))))
        let steps = [1, 2, 5, 10].map { $0 * decade }
        return multiples(of: steps.first { fits($0, count) } ?? 20 * decade) { short($0, places: 12) }
    }

    /// Steps of 1, 2 or 5 up to a second, then of clock times; from a minute on written as minutes and seconds.
    private func timeTicks(_ count: Int) -> [Tick] {
        let clock = [1.0, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400]
        guard fits(1, count) || upper - lower > 1, let step = clock.first(where: { fits($0, count) }) else {
            return linearTicks(count)
        }
        if upper - lower <= 4, step == 1 { return linearTicks(count) }
        return multiples(of: step) { upper < 60 ? short($0) : tickText($0) }
    }

    private func tickText(_ seconds: Double) -> String {
        let whole = Int(abs(seconds).rounded())
        let (minutes, rest) = (whole / 60, whole % 60)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let text = minutes < 60 ? "\(minutes):\(two(rest))" : "\(minutes / 60):\(two(minutes % 60)):\(two(rest))"
        return (seconds < 0 ? "−" : "") + text
    }

    private func fits(_ step: Double, _ count: Int) -> Bool {
        floor(upper / step + 1e-9) - ceil(lower / step - 1e-9) + 1 <= Double(max(1, count))
    }

    private func multiples(of step: Double, label: (Double) -> String) -> [Tick] {
        let first = ceil(lower / step - 1e-9)
        let last = floor(upper / step + 1e-9)
        guard last >= first, last - first < 1000 else { return [] }
        return (0...Int(last - first)).map { index in
            let value = (first + Double(index)) * step
            return Tick(value, label(value))
        }
    }

    /// Decades, with 2 and 5 between them where there is room; every second or third decade where there is not.
    private func logTicks(_ count: Int) -> [Tick] {
        let first = Int(floor(log10(lower) + 1e-9))
        let last = Int(floor(log10(upper) + 1e-9))
        let range = lower * (1 - 1e-9)...upper * (1 + 1e-9)
        func ticks(_ digits: [Double], every: Int) -> [Tick] {
            var ticks: [Tick] = []
            for exponent in stride(from: first, through: last, by: every) {
                for digit in digits {
                    let value: Double = digit * pow(10, Double(exponent))
                    if range.contains(value) { ticks.append(Tick(value, logLabel(value))) }
                }
            }
            return ticks
        }
        let fine = ticks([1, 2, 5], every: 1)
        if fine.count <= count { return fine }
        for every in 1...max(1, last - first + 1) {
            let coarse = ticks([1], every: every)
            if coarse.count <= max(1, count) { return coarse }
        }
        return []
    }

    private func logLabel(_ value: Double) -> String {
        if value >= 1e-4, value < 1e6 { return short(value, places: 6) }
        let exponent = Int(floor(log10(value) + 1e-9))
        let digit = Int((value / pow(10, Double(exponent))).rounded())
        return "\(digit)e\(exponent)"
    }

    /// The usual ticks of DET curves in per cent, as many as there is room for.
    private func probitTicks(_ count: Int) -> [Tick] {
        let usual = [
            0.001, 0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 40, 60, 80, 90, 95, 98, 99, 99.5, 99.8, 99.9, 99.99, 99.999,
        ]
        var ticks: [Tick] = []
        var end = -1.0
        for percent in usual {
            let value = percent / 100
            guard value >= lower * (1 - 1e-9), value <= upper * (1 + 1e-9), let place = position(of: value),
                place - end >= 0.6 / Double(max(1, count))
            else { continue }
            ticks.append(Tick(value, short(percent, places: 4) + " %"))
            end = place
        }
        return ticks
    }
}
