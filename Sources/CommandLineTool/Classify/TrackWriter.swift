private import Core
private import Glibc
private import System

/// Writes the label track of one file, detection by detection.
final class TrackWriter {
    private let path: String
    private let descriptor: Int32
    /// The errno of the first failed write; 0 for none.
    private var failure: Int32 = 0

    init(path: String) throws {
        self.path = path
        descriptor = open(FileName.cString(path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw problem(errno) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func write(_ text: String) {
        if failure == 0, !writeAll(Array(text.utf8), to: descriptor) { failure = errno }
    }

    /// - Throws: a ``Failure`` if a write failed.
    func finish() throws {
        if failure != 0 { throw problem(failure) }
    }

    private func problem(_ number: Int32) -> Failure {
        let name = printable(path)
        let reason = SystemError.text(number)
        return Failure("\(name): cannot write the label track (\(reason)); check the folder given to --output")
    }
}
