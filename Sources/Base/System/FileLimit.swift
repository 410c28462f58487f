import Glibc

/// The process's limit on open files (RLIMIT_NOFILE).
public enum FileLimit {
    /// Raises the limit where it is lower, as far as the system allows.
    ///
    /// - Returns: the limit, if it is still too low; nil if it is high enough.
    public static func raise(to count: Int) -> Int? {
        var limit = rlimit()
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(kind, &limit) == 0 else { return nil }
        guard limit.rlim_cur < UInt(count) else { return nil }
        limit.rlim_cur = min(UInt(count), limit.rlim_max)
        guard setrlimit(kind, &limit) == 0, getrlimit(kind, &limit) == 0 else { return Int(clamping: limit.rlim_cur) }
        return limit.rlim_cur < UInt(count) ? Int(clamping: limit.rlim_cur) : nil
    }
}
