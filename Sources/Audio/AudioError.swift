import Core
import System

/// What went wrong with a file, a converter or a buffer of the audio room.
///
/// Compare with the constants: two errors are equal when they are of the same kind, whatever their messages say.
/// ``description`` is one line that names what was asked, what happened and what to do next.
public struct AudioError: Error, Equatable, Sendable, CustomStringConvertible {
    private enum Code {
        case notFound, unreadable, notRegularFile, emptyFile, notAudio, undecodable, unsupported, noAudio
        case truncated, notFinite, noSuchChannel, converter, memory, unwritable
    }

    private let code: Code
    public let description: String

    private init(_ code: Code, _ description: String = "") {
        self.code = code
        self.description = description
    }

    public static func == (left: AudioError, right: AudioError) -> Bool { left.code == right.code }

    /// No file has this path.
    public static let notFound = AudioError(.notFound, "no such audio file")
    /// The system refused to open or read the file.
    public static let unreadable = AudioError(.unreadable, "audio file cannot be read")
    /// The path names a directory, a pipe or a device.
    public static let notRegularFile = AudioError(.notRegularFile, "not a regular file")
    /// The file holds no bytes at all.
    public static let emptyFile = AudioError(.emptyFile, "empty file")
    /// libsndfile does not recognise the bytes as audio.
    public static let notAudio = AudioError(.notAudio, "not an audio file")
    /// The format is known, but the header or the coded data is damaged.
    public static let undecodable = AudioError(.undecodable, "damaged audio file")
    /// The sample rate or the number of channels lies outside what is accepted.
    public static let unsupported = AudioError(.unsupported, "unsupported audio")
    /// The header is sound, but no audio follows it.
    public static let noAudio = AudioError(.noAudio, "no audio in the file")
    /// The file ends before the audio that its header promises.
    public static let truncated = AudioError(.truncated, "audio file ends early")
    /// A sample is NaN or infinite.
    public static let notFinite = AudioError(.notFinite, "sample is not a finite number")
    /// The chosen channel is not in the audio.
    public static let noSuchChannel = AudioError(.noSuchChannel, "no such channel")
    /// libsamplerate refused a call, or a rate lies outside what is accepted.
    public static let converter = AudioError(.converter, "sample rate converter failed")
    /// A file of audio cannot be written.
    public static let unwritable = AudioError(.unwritable, "audio file cannot be written")
    /// The system gave no memory for a ring.
    public static let memory = AudioError(.memory, "no memory for audio")

    /// The same kind of error with a message of its own, kept to one line.
    ///
    /// - Parameter message: What was asked, what happened and what to do next.
    func saying(_ message: String) -> AudioError {
        AudioError(code, printable(message))
    }

    /// A path between quotes, safe to print.
    static func quoted(_ path: String) -> String { "'\(printable(path))'" }
}
