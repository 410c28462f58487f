/// What `beckon --version` prints; reports name it too.
public let version = "0.1.0"
