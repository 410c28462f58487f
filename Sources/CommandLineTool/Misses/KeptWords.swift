import Actions
private import Core
private import Glibc
private import System

/// The words that a service keeps, and where.
///
/// Whoever listens at the socket says what it keeps. So a clip is read only from a file that the service itself could have written: one of
/// its user's, with the name of a clip and no other name, in the folder that it names. Else a program of another user could have root copy
/// any file.
struct KeptWords {
    let list: RecentWordList
    /// The service's user.
    let user: UInt32

    /// Largest clip that is read, in bytes.
    private static let longestClip = 16 << 20

    /// The WAV file of a word.
    func clip(_ number: Int) throws(Failure) -> [UInt8] {
        guard let entry = list[number] else {
            throw Failure("there is no word \(number); beckon misses lists them")
        }
        guard let path = entry.clip else {
            throw Failure("word \(number) has no clip: it is a moment too new, or newer clips took its place")
        }
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        let (parent, name) = (String(path[..<slash]), String(path[slash...].dropFirst()))
        guard path.hasPrefix("/"), ClipStore.isClip(name), list.folder ?? parent == parent else {
            throw Failure("\(printable(path)): not a clip in the folder of the service's words; it is not read")
        }
        do throws(ReadFileError) {
            return try readFile(name, inFolder: parent, owner: user, limit: Self.longestClip).bytes
        } catch {
            var advice = ""
            if case .system(let error) = error, error.number == EACCES {
                advice = "; run this as root or as the service's user"
            }
            throw Failure("\(printable(path)): \(error)\(advice)")
        }
    }
}
