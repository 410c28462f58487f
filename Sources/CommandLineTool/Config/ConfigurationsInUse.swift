import Configuration
private import Glibc
private import System

extension ConfigurationFile {
    /// The configuration that `beckon listen` reads, and those of the instances, which share the words; for root, who teaches the system's
    /// services too, also those of the system.
    static var inUse: [String] {
        let environment = OwnEnvironment.variables
        var paths = find(environment: environment).map { [$0] } ?? []
        for path in InstanceConfiguration.all(environment: environment).map(\.path)
        where !paths.contains(path) && (geteuid() == 0 || !path.hasPrefix(systemFolder + "/")) {
            paths.append(path)
        }
        return paths
    }
}
