public import Configuration
private import Core
public import Events
import Glibc
import System

/// A folder of recordings of what was heard, the newest of them.
///
/// Files of other names are left alone. One thread uses a store at a time.
public struct ClipStore: Sendable {
    private static let prefix = "beckon-"
    private static let unfinished = ".beckon-unfinished-"

    public let folder: String
    private let keep: Int
    private let quota: Int

    /// - Parameters:
    ///   - keep: clips at most, 1 or more.
    ///   - quota: bytes at most; a clip larger than that is kept alone.
    public init(folder: String, keep: Int, quota: Int) {
        self.folder = folder
        self.keep = max(1, keep)
        self.quota = quota
    }

    /// The store that a configuration asks for, if it asks for one.
    public init?(_ clips: Configuration.Clips) {
        guard let folder = clips.dir else { return nil }
        self.init(folder: folder, keep: clips.keep, quota: clips.quota * 1_000_000)
    }

    /// What a clip of an event is called: its time, its number and its word.
    public static func name(of event: DetectionEvent) -> String {
        let word = event.name.unicodeScalars.prefix(40).map { scalar in
            scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
                ? String(scalar) : "_"
        }.joined()
        return "\(prefix)\(event.startDate.compactText)-\(event.sequence)-\(word).wav"
    }

    /// Writes a clip, which has its name only once it is whole, and removes the oldest beyond the limits.
    ///
    /// - Parameter samples: at ``sampleRate``, in [−1, 1]; louder ones are clipped.
    /// - Returns: the path.
    /// - Throws: ``ActionError/clip``; nothing is left behind then.
    @discardableResult
    public func save(_ samples: [Float], of event: DetectionEvent) throws(ActionError) -> String {
        let name = Self.name(of: event)
        let path = "\(folder)/\(name)"
        let temporary = "\(folder)/\(Self.unfinished)\(getpid())-\(event.sequence)"
        unlink(temporary)
        let file = FileDescriptor(open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600))
        guard file.isOpen else { throw failure("open", errno) }
        do throws(ActionError) {
            try write(WaveFile.bytes(samples, sampleRate: AudioFormat.sampleRate), to: file)
            guard rename(temporary, path) == 0 else { throw failure("rename", errno) }
        } catch {
            unlink(temporary)
            throw error
        }
        removeOldest(but: name)
        return path
    }

    private func failure(_ function: String, _ number: Int32) -> ActionError {
        .clip.saying(
            "cannot save a clip in \(folder): \(function): \(SystemError.text(number)); the folder must exist, be "
                + "writable for the service and have room left"
        )
    }

    private func write(_ bytes: [UInt8], to file: borrowing FileDescriptor) throws(ActionError) {
        guard writeAll(bytes, to: file.rawValue) else { throw failure("write", errno) }
    }

    /// The names begin with the time, so that the oldest come first.
    private func removeOldest(but newest: String) {
        var clips: [(name: String, size: Int)] = []
        for name in names() {
            var status = stat()
            guard lstat("\(folder)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
            if name.hasPrefix(Self.unfinished) {
                // Left by a service that died while it wrote.
                unlink("\(folder)/\(name)")
            } else if name.hasPrefix(Self.prefix), name.hasSuffix(".wav") {
                clips.append((name, Int(status.st_size)))
            }
        }
        clips.sort { $0.name < $1.name }
        var count = clips.count
        var size = clips.reduce(0) { $0 + $1.size }
        for clip in clips where clip.name != newest && (count > keep || size > quota) {
            guard unlink("\(folder)/\(clip.name)") == 0 else { continue }
            count -= 1
            size -= clip.size
        }
    }

    private func names() -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            )
        }
        return names
    }
}
