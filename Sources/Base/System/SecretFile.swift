private import Core
import Glibc

/// A secret in a file that only its owner, and root, can read: one line of a state folder.
public struct SecretFile: Sendable {
    private let name: String
    /// What it is, such as `token`.
    private let title: String
    /// The command that makes another.
    private let remedy: String
    private let isSecret: @Sendable (String) -> Bool

    /// - Parameters:
    ///   - name: of the file.
    ///   - title: what it holds, for messages.
    ///   - remedy: the command that makes another, for messages.
    ///   - isSecret: whether a line is a secret of this kind.
    public init(_ name: String, title: String, remedy: String, isSecret: @escaping @Sendable (String) -> Bool) {
        (self.name, self.title, self.remedy, self.isSecret) = (name, title, remedy, isSecret)
    }

    /// The file of a state folder.
    public func path(in folder: String) -> String { folder + "/" + name }

    /// The secret of a folder, which is made where there is none.
    ///
    /// - Parameters:
    ///   - renews: whether to replace one that is there.
    ///   - make: makes a secret.
    /// - Throws: ``SecretFileError`` if the file is not as it was made, or cannot be made.
    public func obtain(in folder: String, renews: Bool, make: () -> String) throws(SecretFileError) -> String {
        if !renews, let secret = try read(in: folder) { return secret }
        StateFolder.make(folder)
        let secret = make()
        do throws(SystemError) {
            // Durable: others keep it. Root makes it for the service, whose folder it is.
            try replaceFile(
                path(in: folder),
                mode: 0o600,
                durable: true,
                isForFolderOwner: true,
                Array((secret + "\n").utf8)
            )
        } catch {
            throw SecretFileError("\(path(in: folder)): \(error)")
        }
        return secret
    }

    /// The secret of a folder; nil if there is none.
    ///
    /// - Throws: ``SecretFileError`` if others can read it, or it is none.
    public func read(in folder: String) throws(SecretFileError) -> String? {
        let path = path(in: folder)
        let content: FileContents
        do throws(ReadFileError) {
            content = try readFile(path, limit: 1024)
        } catch {
            if case .system(SystemError("open", ENOENT)) = error { return nil }
            throw SecretFileError("\(path): \(error); \(remedy) makes another")
        }
        guard content.status.permissions & 0o077 == 0 else {
            throw SecretFileError("\(path): other users can read it; \(remedy) makes another")
        }
        let secret = firstLine(of: String(decoding: content.bytes, as: UTF8.self))
        guard isSecret(secret) else { throw SecretFileError("\(path): holds no \(title); \(remedy) makes another") }
        return secret
    }
}

/// What is wrong with the file of a secret.
public struct SecretFileError: Error, Equatable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}
