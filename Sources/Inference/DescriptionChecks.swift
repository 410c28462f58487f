extension ModelDescription {
    /// Checks everything that does not depend on the layers.
    func check(file: String) throws(ModelError) {
        func wrong(_ key: String, _ what: String) -> ModelError {
            .description.saying("\(file): key “\(key)”: \(what); see Models/FORMAT.md")
        }
        func within(_ key: String, _ value: Int, _ range: ClosedRange<Int>) throws(ModelError) {
            guard range.contains(value) else {
                throw wrong(key, "\(value) is not from \(range.lowerBound) to \(range.upperBound)")
            }
        }
        guard format == "beckon-model" else { throw wrong("format", "\(quoted(format)), not “beckon-model”") }
        guard version == 1 else { throw wrong("version", "\(version); this program reads version 1") }

        guard (3...Limits.labels).contains(labels.count) else {
            throw wrong("labels", "\(labels.count) labels, not from 3 to \(Limits.labels)")
        }
        guard Array(labels.suffix(2)) == ["_unknown_", "_silence_"] else {
            throw wrong("labels", "the last two are not _unknown_ and _silence_")
        }
        var seen: Set<String> = []
        for label in labels {
            let plain = label.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F }
            guard !label.isEmpty, plain, label.utf8.count <= Limits.labelBytes else {
                throw wrong("labels", "\(quoted(label)) is empty, too long, or holds a space or control character")
            }
            guard seen.insert(label).inserted else { throw wrong("labels", "\(quoted(label)) stands there twice") }
        }
        for label in outputLabels where !seen.contains(label) {
            throw wrong("outputLabels", "\(quoted(label)) is not among the labels")
        }

        try within("sampleRate", sampleRate, 1_000...Limits.sampleRate)
        try within("windowSamples", windowSamples, 1...Limits.windowSamples)
        try within("hopSamples", hopSamples, 1...windowSamples)
        guard temperature.isFinite, temperature >= 1e-3, temperature <= 1e3 else {
            throw wrong("temperature", "\(temperature) is not from 0.001 to 1000")
        }
        if let clipShifts {
            guard clipShifts.count == outputLabels.count else {
                throw wrong("clipShifts", "\(clipShifts.count) numbers for \(outputLabels.count) outputs")
            }
            for shift in clipShifts where !(abs(shift) <= 50 * temperature) {
                throw wrong("clipShifts", "\(shift) is not from -50 to 50 times the temperature")
            }
        }
        let firing = seen.subtracting(["_unknown_", "_silence_"])
        for (label, threshold) in thresholds.sorted(by: { $0.key < $1.key }) {
            guard firing.contains(label) else {
                throw wrong("thresholds", "\(quoted(label)) is not a label that may fire")
            }
            guard threshold > 0, threshold < 1 else {
                throw wrong("thresholds", "\(threshold) of \(quoted(label)) is not between 0 and 1")
            }
        }
    }

    /// The ranges; what is louder than all that was heard for them is cut.
    func checkedRanges(_ network: Network, file: String) throws(ModelError) -> [String: Double] {
        let names = Set(network.tensors.map(\.name))
        for (name, range) in (ranges ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard names.contains(name) else {
                throw .description.saying("\(file): key “ranges”: no layer is called \(quoted(name))")
            }
            guard range >= 1e-6, range <= 1e6 else {
                throw .description.saying("\(file): key “ranges”: \(range) of \(quoted(name)) is not from 1e-6 to 1e6")
            }
        }
        return ranges ?? [:]
    }
}
