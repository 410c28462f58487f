private import FoundationEssentials

/// Where the model is.
enum ModelFolder {
    /// The folder named by the user, else by `BECKON_MODEL`, else the `commands` model that came with the program: beside an
    /// installed binary (`../share/beckon/models`), or up from a binary built in a checkout (`Models`).
    static func find(_ named: String?) -> String? {
        if let named { return named }
        if let fromEnvironment = ProcessInfo.processInfo.environment["BECKON_MODEL"], !fromEnvironment.isEmpty {
            return fromEnvironment
        }
        guard let binary = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
            return nil
        }
        var folder = URL(fileURLWithPath: binary).deletingLastPathComponent()
        for _ in 0..<6 {
            for place in ["share/beckon/models/commands", "Models/commands"] {
                let candidate = folder.appendingPathComponent(place).path
                if FileManager.default.fileExists(atPath: candidate + "/model.json") { return candidate }
            }
            folder.deleteLastPathComponent()
        }
        return nil
    }
}
