import Core
import System

/// An error of an audio file, the sample-rate converter or an audio buffer.
///
/// Compare it with the constants: errors of the same kind are equal, also with different messages. ``description`` is
/// one line: what was tried, what happened and what to do next.
public struct AudioError: Error, Equatable, Sendable, CustomStringConvertible {
    private enum Code {
        case notFound, unreadable, notRegularFile, emptyFile, notAudio, undecodable, unsupported, noAudio
        case truncated, leftover, notFinite, noSuchChannel, converter, memory, unwritable, library
    }

    private let code: Code
    public let description: String

    private init(_ code: Code, _ description: String = "") {
        self.code = code
        self.description = description
    }

    public static func == (left: AudioError, right: AudioError) -> Bool { left.code == right.code }

    /// There is no file at this path.
    public static let notFound = AudioError(.notFound, "no such audio file")
    /// The system refused to open or read the file.
    public static let unreadable = AudioError(.unreadable, "audio file cannot be read")
    /// The path names a directory, a pipe or a device.
    public static let notRegularFile = AudioError(.notRegularFile, "not a regular file")
    /// The file has 0 bytes.
    public static let emptyFile = AudioError(.emptyFile, "empty file")
    /// libsndfile does not recognise the bytes as audio.
    public static let notAudio = AudioError(.notAudio, "not an audio file")
    /// The format is known, but the header or the encoded data is damaged.
    public static let undecodable = AudioError(.undecodable, "damaged audio file")
    /// The sample rate or the number of channels is outside the accepted range.
    public static let unsupported = AudioError(.unsupported, "unsupported audio")
    /// The header is valid, but no audio follows it.
    public static let noAudio = AudioError(.noAudio, "no audio in the file")
    /// The file holds less audio than its header declares.
    public static let truncated = AudioError(.truncated, "audio file ends early")
    /// The file holds bytes that are not audio, chunk, tag or padding.
    public static let leftover = AudioError(.leftover, "bytes in the file are not audio")
    /// A sample is NaN, infinite or far too large.
    public static let notFinite = AudioError(.notFinite, "sample is not a usable number")
    /// The audio does not have the selected channel.
    public static let noSuchChannel = AudioError(.noSuchChannel, "no such channel")
    /// A call of libsamplerate failed, or a rate is outside the accepted range.
    public static let converter = AudioError(.converter, "sample rate converter failed")
    /// An audio file cannot be written.
    public static let unwritable = AudioError(.unwritable, "audio file cannot be written")
    /// A library that is loaded when it is needed is not installed.
    public static let library = AudioError(.library, "a library is missing")
    /// The system gave no memory for a ring.
    public static let memory = AudioError(.memory, "no memory for audio")

    /// Standard input cannot be read.
    ///
    /// - Parameter number: the errno.
    public static func unreadableInput(_ number: Int32) -> AudioError {
        unreadable.saying("cannot read the audio on standard input: \(SystemError.text(number))")
    }

    /// The same kind of error with another message.
    ///
    /// - Parameter message: What was tried, what happened and what to do next; made safe to print on one line.
    func saying(_ message: String) -> AudioError {
        AudioError(code, printable(message))
    }

    /// A path in quotes, safe to print.
    static func quoted(_ path: String) -> String { "'\(printable(path))'" }
}
