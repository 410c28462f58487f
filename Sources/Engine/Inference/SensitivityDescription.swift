import Core

/// The thresholds of one sensitivity and mode in `model.json`, with what was measured at them.
public struct SensitivityDescription: Decodable, Sendable {
    /// What was measured at the thresholds; for people, the program only checks it.
    public struct Measured: Decodable, Sendable {
        public var falseAcceptsPerHour: Double
        /// Bounds of the 95 % confidence interval.
        public var falseAcceptsPerHourInterval: [Double]?
        /// Share of the words said that were detected, 0…1.
        public var recall: Double?
        /// Bounds of the 95 % confidence interval.
        public var recallInterval: [Double]?
        /// Hours of talk in which the false accepts were counted.
        public var hours: Double?
    }

    /// The threshold of each label that may fire.
    public var thresholds: [String: Double]
    public var measured: Measured?
}

extension ModelDescription {
    /// The thresholds of all sensitivities and modes that the model has, after validation.
    ///
    /// - Parameter isConfirmed: those of `confirm`, if it has some.
    /// - Returns: `[labels]` each; `balanced` has them in both modes.
    /// - Throws: a ``ModelError`` that names the key, also where a stricter sensitivity has a lower threshold.
    func validatedThresholds(isConfirmed: Bool, file: String) throws(ModelError) -> SensitivityTable<[Float]> {
        let plain = try validated(thresholds, sensitivities, prefix: "", file: file)
        guard isConfirmed, let confirm, confirm.thresholds != nil || confirm.sensitivities != nil else { return plain }
        let own = confirm.thresholds ?? thresholds
        try validate(own, key: "confirm.thresholds", file: file)
        return try validated(own, confirm.sensitivities, prefix: "confirm.", file: file)
    }

    /// - Parameter prefix: of the keys in error messages.
    private func validated(
        _ thresholds: [String: Double],
        _ sensitivities: [String: [String: SensitivityDescription]]?,
        prefix: String,
        file: String
    ) throws(ModelError) -> SensitivityTable<[Float]> {
        var table = SensitivityTable<[Float]>()
        let usual = labels.map { thresholds[$0].map(Float.init) ?? Self.defaultThreshold }
        for mode in DetectionMode.allCases { table[.balanced, mode] = usual }
        for (name, modes) in (sensitivities ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let sensitivity = Sensitivity(rawValue: name) else {
                let names = Sensitivity.allCases.map(\.rawValue).joined(separator: ", ")
                throw wrong(prefix + "sensitivities", "\(quoted(name)) is not one of \(names)", file)
            }
            for (modeName, part) in modes.sorted(by: { $0.key < $1.key }) {
                guard let mode = DetectionMode(rawValue: modeName) else {
                    throw wrong(
                        "\(prefix)sensitivities.\(name)",
                        "\(quoted(modeName)) is neither spot nor command",
                        file
                    )
                }
                let key = "\(prefix)sensitivities.\(name).\(modeName)"
                try validate(part.thresholds, key: key + ".thresholds", file: file)
                for label in Labels(labels).words where part.thresholds[label] == nil {
                    throw wrong(key + ".thresholds", "\(quoted(label)) is missing; every word needs one", file)
                }
                try validate(part.measured, key: key + ".measured", file: file)
                table[sensitivity, mode] = labels.map { Float(part.thresholds[$0] ?? 1) }
            }
        }
        for mode in DetectionMode.allCases { try checkOrder(table, mode, prefix: prefix, file: file) }
        return table
    }

    /// Checks that labels may fire and that their thresholds lie between 0 and 1.
    func validate(_ thresholds: [String: Double], key: String, file: String) throws(ModelError) {
        let words = Set(Labels(labels).words)
        for (label, threshold) in thresholds.sorted(by: { $0.key < $1.key }) {
            guard words.contains(label) else {
                throw wrong(key, "\(quoted(label)) is not a label that may fire", file)
            }
            guard threshold > 0, threshold < 1 else {
                throw wrong(key, "\(threshold) of \(quoted(label)) is not between 0 and 1", file)
            }
        }
    }

    private func validate(_ measured: SensitivityDescription.Measured?, key: String, file: String) throws(ModelError) {
        guard let measured else { return }
        func check(_ name: String, _ values: [Double], _ range: ClosedRange<Double>) throws(ModelError) {
            for value in values where !range.contains(value) {
                throw wrong("\(key).\(name)", "\(value) is not from \(range.lowerBound) to \(range.upperBound)", file)
            }
        }
        func check(_ name: String, interval: [Double]?, _ range: ClosedRange<Double>) throws(ModelError) {
            guard let interval else { return }
            try check(name, interval, range)
            guard interval.count == 2, interval[0] <= interval[1] else {
                throw wrong("\(key).\(name)", "an interval is two numbers, the lower one first", file)
            }
        }
        try check("falseAcceptsPerHour", [measured.falseAcceptsPerHour], 0...1e6)
        try check("falseAcceptsPerHourInterval", interval: measured.falseAcceptsPerHourInterval, 0...1e6)
        try check("recall", measured.recall.map { [$0] } ?? [], 0...1)
        try check("recallInterval", interval: measured.recallInterval, 0...1)
        try check("hours", measured.hours.map { [$0] } ?? [], 0...1e9)
    }

    /// Checks that no word fires more readily under a stricter sensitivity.
    private func checkOrder(
        _ table: SensitivityTable<[Float]>,
        _ mode: DetectionMode,
        prefix: String,
        file: String
    ) throws(ModelError) {
        let present = table.sensitivities(mode: mode)
        for (stricter, other) in zip(present, present.dropFirst()) {
            guard let high = table[stricter, mode], let low = table[other, mode] else { continue }
            for (index, label) in Labels(labels).words.enumerated() where high[index] < low[index] {
                // Balanced may stand in `thresholds`; the other one of the two is under `sensitivities`.
                let key = stricter == .balanced ? other : stricter
                throw wrong(
                    "\(prefix)sensitivities.\(key.rawValue).\(mode.rawValue).thresholds",
                    "\(quoted(label)) has a lower threshold at \(stricter.rawValue), \(high[index]), than at "
                        + "\(other.rawValue), \(low[index])",
                    file
                )
            }
        }
    }
}
