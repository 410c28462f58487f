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
