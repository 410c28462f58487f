public import Foundation

/// A copy of the shipped model with thresholds of its own: ``balanced`` in `command` mode, and those of sensitivities.
public enum ModelCopy {
    /// Thresholds by sensitivity and mode; each applies to all words.
    public typealias Thresholds = [String: [String: Double]]

    /// Strict and eager in both modes, and `balanced` in `spot` mode other than in `command` mode.
    public static let complete: Thresholds = [
        "strict": ["command": 0.995, "spot": 0.996], "balanced": ["spot": 0.9925],
        "eager": ["command": 0.5, "spot": 0.6],
    ]

    /// The threshold of every word, which is that of `balanced` in `command` mode.
    public static let balanced = 0.93

    /// The bytes of `model.json`.
    public static func description(_ thresholds: Thresholds) throws -> Data {
        let data = try Data(contentsOf: URL(fileURLWithPath: Checkout.model + "/model.json"))
        var json = try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
        let words = (json["thresholds"] as? [String: Any] ?? [:]).keys
        json["thresholds"] = Dictionary(uniqueKeysWithValues: words.map { ($0, balanced) })
        var confirm = json["confirm"] as? [String: Any]
        confirm?["thresholds"] = nil
        confirm?["sensitivities"] = nil
        json["confirm"] = confirm
        json["sensitivities"] = thresholds.mapValues { modes in
            modes.mapValues { threshold in
                ["thresholds": Dictionary(uniqueKeysWithValues: words.map { ($0, threshold) })]
            }
        }
        return try JSONSerialization.data(withJSONObject: json)
    }

    /// Writes the small model with confirming networks into a folder of `folder`, and returns that folder's path.
    ///
    /// Its weights are random, and its streaming network always says `go`. The labels of the confirming networks are exchanged, so that they
    /// look at it: of the recorded voices' words, the first look gives `no` 0.3 to 0.5, and the next ones less than 0.2.
    public static func confirming(in folder: TestFolder) throws -> String {
        let path = folder.file("confirming")
        try FileManager.default.copyItem(atPath: Checkout.confirmingModel, toPath: path)
        let file = URL(fileURLWithPath: path + "/model.json")
        var json = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any] ?? [:]
        var confirm = json["confirm"] as? [String: Any] ?? [:]
        var networks = confirm["networks"] as? [[String: Any]] ?? []
        for (index, labels) in [["seven", "other", "go", "no"], ["no", "go", "other"]].enumerated() {
            networks[index]["labels"] = labels
        }
        confirm["networks"] = networks
        json["confirm"] = confirm
        try JSONSerialization.data(withJSONObject: json).write(to: file)
        return path
    }

    /// Writes the model into a folder of `folder`, and returns that folder's path.
    public static func write(_ name: String, _ thresholds: Thresholds, in folder: TestFolder) throws -> String {
        let path = try folder.folder(name)
        try description(thresholds).write(to: URL(fileURLWithPath: path + "/model.json"))
        for file in ["model.safetensors", "confirm.safetensors", "background.safetensors"] {
            try FileManager.default.createSymbolicLink(
                atPath: "\(path)/\(file)",
                withDestinationPath: "\(Checkout.model)/\(file)"
            )
        }
        return path
    }
}
