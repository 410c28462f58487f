private import Core
private import Glibc
private import System

/// Writes one file's label track as it grows.
final class TrackWriter {
    private let path: String
    private let descriptor: Int32
    /// What the first write that failed ran into.
    private var failure: Int32 = 0

    init(path: String) throws {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw problem(errno) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func write(_ text: String) {
        if failure == 0, !writeAll(Array(text.utf8), to: descriptor) { failure = errno }
    }

    /// - Throws: where not all of it could be written.
    func finish() throws {
        if failure != 0 { throw problem(failure) }
    }

    private func problem(_ number: Int32) -> Failure {
        let name = printable(path)
        let reason = SystemError.text(number)
        return Failure("\(name): cannot write the label track (\(reason)); check the folder given to --output")
    }
}
