private import Core
private import System

/// The label track of one file, written as a whole when it is complete. What lies in the folder under its name is replaced, and a link there is
/// not followed.
struct TrackWriter {
    private let path: String
    private var text = ""

    init(path: String) { self.path = path }

    mutating func write(_ text: String) { self.text += text }

    /// Writes the file.
    func finish() throws(Failure) {
        do throws(SystemError) {
            try replaceFile(path, mode: nil, durable: false, Array(text.utf8))
        } catch {
            let reason = SystemError.text(error.number)
            throw Failure(
                "\(printable(path)): cannot write the label track (\(reason)); check the folder given to --output"
            )
        }
    }
}
