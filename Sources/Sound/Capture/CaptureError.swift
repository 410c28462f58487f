package import CALSA
import CALSAMessages
import Core
import Glibc
public import System

/// An error of capture, or of a device that plays.
///
/// Errors of the same kind are equal. ``description`` is one line: the device, the failed function, the system's text
/// and what to do next.
public struct CaptureError: RefusalError, Equatable, Sendable, CustomStringConvertible {
    private enum Code { case device, unsupported, noDevice, system }

    private let code: Code
    /// An errno, or 0.
    public let number: Int32
    public let description: String

    public static func == (left: CaptureError, right: CaptureError) -> Bool { left.code == right.code }

    /// A call to the device failed.
    public static let device = CaptureError(.device, 0, "audio device failed")
    /// The device has no sample format, rate or channels that are supported.
    public static let unsupported = CaptureError(.unsupported, 0, "unsupported audio device")
    /// There is no capture device.
    public static let noDevice = CaptureError(.noDevice, 0, "no capture device")
    /// The system gave no thread, memory or descriptor.
    public static let system = CaptureError(.system, 0, "the system refused")

    private init(_ code: Code, _ number: Int32, _ description: String) {
        self.code = code
        self.number = number
        self.description = description
    }

    /// A failed call of ALSA, with alsa-lib's message and what to do.
    ///
    /// - Parameters:
    ///   - result: ALSA's result, a negative errno.
    ///   - stream: whether it captures or plays.
    package static func device(
        _ name: String,
        _ call: String,
        _ result: Int32,
        _ stream: snd_pcm_stream_t = SND_PCM_STREAM_CAPTURE
    ) -> CaptureError {
        let message = CALSAMessages_last().map { String(cString: $0) } ?? ""
        let detail = message.isEmpty ? "" : "; alsa-lib: \(message)"
        let plays = stream == SND_PCM_STREAM_PLAYBACK
        let holder = -result == EBUSY && !plays ? DeviceList.holder(of: name) : nil
        let next =
            holder.map { "\($0.name) (process \($0.process)) holds it; end that first" }
            ?? advice(-result, list: plays ? "aplay -L" : "beckon devices")
        let what = "audio device '\(name)': \(call): \(SystemError.text(-result))\(detail); \(next)"
        return CaptureError(.device, -result, printable(what))
    }

    static func unsupported(_ name: String, _ what: String) -> CaptureError {
        unsupported("audio device '\(name)': \(what)")
    }

    static func unsupported(_ what: String) -> CaptureError { CaptureError(.unsupported, EINVAL, printable(what)) }

    /// A device that gives its audio at once.
    public static func noClock(_ name: String) -> CaptureError {
        unsupported(
            name,
            "it gives audio much faster than the clock, as ALSA's null and file plug-ins do, so it is not a microphone; choose "
                + "another with the key device or --device ('beckon devices' lists what is there)"
        )
    }

    static func noDevice(_ what: String) -> CaptureError { CaptureError(.noDevice, ENODEV, printable(what)) }

    static func system(_ what: String, _ number: Int32) -> CaptureError {
        CaptureError(.system, number, printable(what))
    }

    /// A failed system call, and what it was needed for.
    static func system(_ what: String, _ call: String, _ number: Int32) -> CaptureError {
        system("\(what) (\(call): \(SystemError.text(number)))", number)
    }

    public init(refused text: String, _ error: SystemError) { self = .system(text, error.number) }

    /// What the user can do about an errno.
    static func advice(_ number: Int32, list: String = "beckon devices") -> String {
        switch number {
        case EBUSY: "another program holds it" + (list == "beckon devices" ? "; 'beckon devices' names it" : "")
        case EACCES, EPERM: "add the user to the group 'audio', or log in at the machine"
        case ENOENT, ENODEV, ENXIO: "is it plugged in? '\(list)' lists what is there"
        case ECONNREFUSED, EHOSTDOWN: "is the sound server running?"
        default: "'\(list)' lists what is there"
        }
    }
}
