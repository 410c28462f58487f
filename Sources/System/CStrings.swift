import Glibc

/// The texts as C has them: an array of pointers that ends with a null pointer.
public func withCStrings<Result>(
    _ texts: [String],
    _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    let pointers = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: texts.count + 1)
    for (index, text) in texts.enumerated() { pointers[index] = strdup(text) }
    pointers[texts.count] = nil
    defer {
        for index in texts.indices { free(pointers[index]) }
        pointers.deallocate()
    }
    return body(pointers)
}
