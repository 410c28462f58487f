import Glibc

/// The sanitizer that the tests are built with.
public enum Sanitizer {
    /// Whether there is one: programs are then several times slower, and their variables are not where they would be.
    public static let isPresent = ["__asan_init", "__tsan_init"].contains { (name: String) in dlsym(nil, name) != nil }
}
