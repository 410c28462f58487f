private import Glibc

/// Finds the model's folder.
public enum ModelFolder {
    /// The folder named by the user, else by `BECKON_MODEL`, else the `commands` model that came with the program: beside an
    /// installed binary (`../share/beckon/models`), or up from a binary built in a checkout (`Models`).
    ///
    /// - Returns: nil where there is none.
    public static func find(_ named: String?) -> String? {
        if let named { return named }
        if let value = getenv("BECKON_MODEL"), value.pointee != 0 { return String(cString: value) }
        guard var folder = binary else { return nil }
        for _ in 0..<6 {
            guard let slash = folder.lastIndex(of: "/") else { return nil }
            folder = String(folder[..<slash])
            for place in ["share/beckon/models/commands", "Models/commands"] {
                let candidate = "\(folder)/\(place)"
                if access(candidate + "/model.json", F_OK) == 0 { return candidate }
            }
        }
        return nil
    }

    private static var binary: String? {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &path, path.count)
        guard length > 0 else { return nil }
        return String(decoding: path.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
