import CSystem
import Glibc

/// Standard input, output and error of the program.
public enum StandardStreams {
    /// Opens those that are closed, so that no file opened later becomes one of them and is written over. Reading and writing
    /// fail with EBADF, as if they were still closed. Call it before anything is opened.
    public static func reserve() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free descriptor is this one. In the mode that its users do not need.
            let opened = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
            if opened > STDERR_FILENO { close(opened) }
        }
    }
}

/// The process's limit on open files (RLIMIT_NOFILE).
public enum FileLimit {
    /// What to do where it is too low.
    public static let remedy = "raise the limit on open files (ulimit -n, or LimitNOFILE= in systemctl edit beckon)"

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

/// The process's limit on its address space (RLIMIT_AS), as `ulimit -v` and `LimitAS=` set it.
///
/// A program in Swift cannot go on where it gets no memory. So what takes much asks first, where there is a limit.
public enum AddressSpace {
    /// The limit in bytes; nil if there is none.
    private static var limit: Int? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0 else { return nil }
        return limit.rlim_cur < UInt(Int.max) ? Int(limit.rlim_cur) : nil
    }

    /// Why there is no room for so many bytes, and what to do; nil if there is, or no limit.
    public static func shortage(for bytes: Int) -> String? {
        guard let limit else { return nil }
        let place = mmap(nil, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        guard place == MAP_FAILED else {
            munmap(place, bytes)
            return nil
        }
        let (most, wanted) = (limit >> 20, (limit + bytes) >> 20)
        return "the address space is limited to \(most) MiB, which is too little; "
            + "raise the limit to \(wanted) MiB (ulimit -v, or LimitAS=)"
    }
}

/// Memory that the C library keeps for later.
public enum FreeMemory {
    /// Lets all threads take memory from one heap. Else each that allocates reserves 64 MiB of the address space, and keeps what it frees
    /// for itself: 3.5 MB after loading a model. Call it before threads start.
    public static func share() { CSystem_share_heap() }

    /// Gives it back to the system, where whole pages are free. Takes milliseconds after much was freed; other threads that allocate may wait.
    public static func giveBack() { CSystem_trim() }
}

/// The shared library that this code is in.
public enum SharedLibrary {
    /// Its file, without links; nil where the code is in a program.
    public static var path: String? {
        guard let name = CSystem_image(#dsohandle), String(cString: name).contains(".so"),
            let path = realpath(name, nil)
        else { return nil }
        defer { free(path) }
        return String(cString: path)
    }
}
