private import CSystem
import Glibc

/// What this process was started with.
public enum OwnEnvironment {
    /// The environment variables by name; of two with one name the first.
    public static var variables: [String: String] {
        var variables: [String: String] = [:]
        guard var next = CSystem_environment() else { return variables }
        while let entry = next.pointee {
            let text = String(cString: entry)
            if let sign = text.firstIndex(of: "=") {
                let name = String(text[..<sign])
                if variables[name] == nil { variables[name] = String(text[text.index(after: sign)...]) }
            }
            next += 1
        }
        return variables
    }

    /// The working directory; empty if it has no name.
    public static var folder: String {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard getcwd(&path, path.count) != nil else { return "" }
        return String(decoding: path.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The file of the program; nil if the system does not say.
    public static var program: String? {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &path, path.count)
        return length > 0 ? String(decoding: path.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
    }

    /// The number of processors that this process may use, at least 1.
    public static var processors: Int { max(1, Int(CSystem_processors())) }
}
