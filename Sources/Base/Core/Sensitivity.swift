/// How readily words fire: a choice by name, in place of a threshold in numbers.
public enum Sensitivity: String, Sendable, CaseIterable {
    case strict, balanced, eager

    /// The most false accepts in an hour of other people's talk for which the thresholds of a taught word are chosen. A
    /// model says itself what was measured at its thresholds.
    public var falseAcceptsPerHour: Double {
        switch self {
        case .strict: 0.1
        case .balanced: 0.5
        case .eager: 5
        }
    }
}

/// Values by sensitivity and mode; any of them may be missing.
public struct SensitivityTable<Value> {
    private struct Key: Hashable {
        let sensitivity: Sensitivity
        let mode: DetectionMode
    }

    private var values: [Key: Value] = [:]

    public init() {}

    public subscript(sensitivity: Sensitivity, mode: DetectionMode) -> Value? {
        get { values[Key(sensitivity: sensitivity, mode: mode)] }
        set { values[Key(sensitivity: sensitivity, mode: mode)] = newValue }
    }

    public var isEmpty: Bool { values.isEmpty }

    /// The sensitivities that have a value in this mode, from the strictest on.
    public func sensitivities(mode: DetectionMode) -> [Sensitivity] {
        Sensitivity.allCases.filter { self[$0, mode] != nil }
    }
}

extension SensitivityTable: Equatable where Value: Equatable {}
extension SensitivityTable: Sendable where Value: Sendable {}
