import Core
import Glibc

/// The name of this machine in the network; nil if the system gives none.
public func machineName() -> String? {
    var bytes = [CChar](repeating: 0, count: 256)
    guard gethostname(&bytes, bytes.count - 1) == 0 else { return nil }
    let name = String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    return name.isEmpty ? nil : name
}

/// The name of this machine as people and other programs read it; `beckon` where it has none that can be read.
public var readableMachineName: String { machineName().flatMap { isReadableName($0) ? $0 : nil } ?? "beckon" }
