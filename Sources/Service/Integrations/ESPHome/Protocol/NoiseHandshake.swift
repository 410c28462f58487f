import CSodium

/// libsodium's functions, on bytes.
struct Sodium: @unchecked Sendable {
    // Sendable is unchecked because the functions never change.
    private let functions: CSodium

    /// Loaded for the first encrypted connection; nil if it is not installed.
    static let loaded = Sodium()

    static let noLibrary = "libsodium is not installed; apt install libsodium23, or set esphome.encryption to false"

    /// Bytes of keys, hashes and public keys.
    static let keySize = 32
    /// Bytes that encryption adds.
    static let tagSize = 16

    private init?() {
        var functions = CSodium()
        guard CSodium_load(&functions) else { return nil }
        self.functions = functions
    }

    func random(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        functions.random?(&bytes, count)
        return bytes
    }

    func hash(_ bytes: [UInt8]) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: Self.keySize)
        _ = functions.hash?(&hash, bytes, UInt64(bytes.count))
        return hash
    }

    /// HMAC-SHA256.
    ///
    /// - Parameter key: of ``keySize`` bytes.
    func authenticate(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: Self.keySize)
        guard key.count == Self.keySize else { return result }
        _ = functions.authenticate?(&result, bytes, UInt64(bytes.count), key)
        return result
    }

    /// The public key of a secret one of ``keySize`` bytes, by X25519.
    func publicKey(of secret: [UInt8]) -> [UInt8] {
        var key = [UInt8](repeating: 0, count: Self.keySize)
        guard secret.count == Self.keySize else { return key }
        _ = functions.make_public?(&key, secret)
        return key
    }

    /// What both ends know; nil for a public key that gives a secret away.
    func agree(_ secret: [UInt8], with publicKey: [UInt8]) -> [UInt8]? {
        guard secret.count == Self.keySize, publicKey.count == Self.keySize else { return nil }
        var shared = [UInt8](repeating: 0, count: Self.keySize)
        return functions.agree?(&shared, secret, publicKey) == 0 ? shared : nil
    }

    func encrypt(_ bytes: [UInt8], and more: [UInt8], nonce: [UInt8], key: [UInt8]) -> [UInt8] {
        guard key.count == Self.keySize, nonce.count == NoiseCipher.nonceSize else { return [] }
        var result = [UInt8](repeating: 0, count: bytes.count + Self.tagSize)
        _ = functions.encrypt?(&result, nil, bytes, UInt64(bytes.count), more, UInt64(more.count), nil, nonce, key)
        return result
    }

    /// Nil for bytes that were not encrypted with this key, nonce and `more`.
    func decrypt(_ bytes: [UInt8], and more: [UInt8], nonce: [UInt8], key: [UInt8]) -> [UInt8]? {
        guard key.count == Self.keySize, nonce.count == NoiseCipher.nonceSize, bytes.count >= Self.tagSize else {
            return nil
        }
        // One byte more than needed, as there must be memory for nothing, too.
        var result = [UInt8](repeating: 0, count: bytes.count - Self.tagSize + 1)
        let failure = functions.decrypt?(
            &result,
            nil,
            nil,
            bytes,
            UInt64(bytes.count),
            more,
            UInt64(more.count),
            nonce,
            key
        )
        guard failure == 0 else { return nil }
        result.removeLast()
        return result
    }
}

/// One direction of an encrypted connection: each message has the next nonce.
struct NoiseCipher {
    static let nonceSize = 12

    private let sodium: Sodium
    private var key: [UInt8]
    private var count: UInt64 = 0

    init(_ sodium: Sodium, key: [UInt8]) { (self.sodium, self.key) = (sodium, key) }

    mutating func encrypt(_ bytes: [UInt8], and more: [UInt8] = []) -> [UInt8] {
        sodium.encrypt(bytes, and: more, nonce: nextNonce(), key: key)
    }

    mutating func decrypt(_ bytes: [UInt8], and more: [UInt8] = []) -> [UInt8]? {
        sodium.decrypt(bytes, and: more, nonce: nextNonce(), key: key)
    }

    private mutating func nextNonce() -> [UInt8] {
        defer { count &+= 1 }
        let number = stride(from: UInt64(0), to: 64, by: 8).map { UInt8(truncatingIfNeeded: count >> $0) }
        return [0, 0, 0, 0] + number
    }
}

/// The handshake of `Noise_NNpsk0_25519_ChaChaPoly_SHA256` at the end that answers: it reads one message and writes one.
///
/// Both know a key before; who does not know it cannot make the first message, and learns nothing. Source: the Noise Protocol Framework,
/// revision 34, sections 5, 7 and 9; the names are those of its text.
struct NoiseHandshake {
    private static let name = "Noise_NNpsk0_25519_ChaChaPoly_SHA256"

    private let sodium: Sodium
    private let psk: [UInt8]
    private var chainingKey: [UInt8]
    private var hash: [UInt8]
    private var cipher: NoiseCipher
    private var theirs: [UInt8] = []

    /// - Parameters:
    ///   - key: of 32 bytes.
    ///   - prologue: what both have said before.
    init(_ sodium: Sodium, key: [UInt8], prologue: [UInt8]) {
        (self.sodium, psk) = (sodium, key)
        hash = sodium.hash(Array(Self.name.utf8))
        chainingKey = hash
        cipher = NoiseCipher(sodium, key: key)
        mixHash(prologue)
    }

    /// Reads the first message: `psk, e`. Returns false where its sender does not know the key.
    mutating func read(_ message: [UInt8]) -> Bool {
        guard message.count == Sodium.keySize + Sodium.tagSize else { return false }
        let (key, mixed, temporary) = derive(psk)
        chainingKey = key
        mixHash(mixed)
        cipher = NoiseCipher(sodium, key: temporary)
        theirs = Array(message.prefix(Sodium.keySize))
        mixPublic(theirs)
        let payload = Array(message.dropFirst(Sodium.keySize))
        guard cipher.decrypt(payload, and: hash) != nil else { return false }
        mixHash(payload)
        return true
    }

    /// Writes the second message: `e, ee`. Returns nil where the first had a key that nobody makes by chance.
    mutating func write() -> [UInt8]? {
        let secret = sodium.random(Sodium.keySize)
        let own = sodium.publicKey(of: secret)
        mixPublic(own)
        guard let shared = sodium.agree(secret, with: theirs) else { return nil }
        mixKey(shared)
        let payload = cipher.encrypt([], and: hash)
        mixHash(payload)
        return own + payload
    }

    /// The keys for what is received, and for what is sent.
    func split() -> (receive: NoiseCipher, send: NoiseCipher) {
        let (first, second, _) = derive([])
        return (NoiseCipher(sodium, key: first), NoiseCipher(sodium, key: second))
    }

    private mutating func mixHash(_ bytes: [UInt8]) { hash = sodium.hash(hash + bytes) }

    private mutating func mixKey(_ bytes: [UInt8]) {
        let (key, temporary, _) = derive(bytes)
        chainingKey = key
        cipher = NoiseCipher(sodium, key: temporary)
    }

    /// A public key; with a key known before, it is mixed into both.
    private mutating func mixPublic(_ key: [UInt8]) {
        mixHash(key)
        mixKey(key)
    }

    /// HKDF with three results.
    private func derive(_ material: [UInt8]) -> ([UInt8], [UInt8], [UInt8]) {
        let temporary = sodium.authenticate(material, key: chainingKey)
        let first = sodium.authenticate([1], key: temporary)
        let second = sodium.authenticate(first + [2], key: temporary)
        return (first, second, sodium.authenticate(second + [3], key: temporary))
    }
}
