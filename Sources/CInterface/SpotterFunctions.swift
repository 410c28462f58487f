private import Beckon
public import CBeckon
private import Core
private import Glibc

// The functions of beckon.h for models and files; the header describes them.

@_cdecl("beckon_version")
public func getVersion() -> UnsafePointer<CChar>? { UnsafePointer(bitPattern: versionText) }

/// The version as a C text, as the address of memory that is never freed.
private let versionText = UInt(bitPattern: strdup(version))

@_cdecl("beckon_open")
public func openSpotter(
    _ model: UnsafePointer<CChar>?,
    _ settings: UnsafePointer<beckon_settings>?,
    _ error: UnsafeMutablePointer<beckon_error>?
) -> OpaquePointer? {
    attempt(error) { () throws(CallError) in
        let folder = try text(model, "the model's folder")
        let settings = try settings.map { pointer throws(CallError) in try Spotter.Settings(pointer) }
        do throws(SpotterError) {
            return handle(SpotterHandle(try Spotter(model: folder, settings: settings ?? Spotter.Settings())))
        } catch {
            throw CallError(error)
        }
    }
}

@_cdecl("beckon_close")
public func closeSpotter(_ spotter: OpaquePointer?) { release(spotter, SpotterHandle.self) }

@_cdecl("beckon_word_count")
public func countWords(_ spotter: OpaquePointer?) -> Int {
    (try? object(spotter, SpotterHandle.self))?.spotter.words.count ?? 0
}

@_cdecl("beckon_word")
public func getWord(_ spotter: OpaquePointer?, _ index: UInt) -> UnsafePointer<CChar>? {
    Int(exactly: index).flatMap { (try? object(spotter, SpotterHandle.self))?.text($0) }
}

@_cdecl("beckon_find")
public func findWords(
    _ spotter: OpaquePointer?,
    _ path: UnsafePointer<CChar>?,
    _ threads: Int32,
    _ error: UnsafeMutablePointer<beckon_error>?
) -> OpaquePointer? {
    attempt(error) { () throws(CallError) in
        let spotter = try object(spotter, SpotterHandle.self)
        let path = try text(path, "the file's path")
        guard (1...1024).contains(threads) else { throw CallError("from 1 to 1024 threads, not \(threads)") }
        do throws(SpotterError) {
            let found = try spotter.spotter.detections(inFile: path, threads: Int(threads))
            return handle(ResultsHandle(spotter, found))
        } catch {
            throw CallError(error)
        }
    }
}

@_cdecl("beckon_results_count")
public func countResults(_ results: OpaquePointer?) -> Int {
    (try? object(results, ResultsHandle.self))?.items.count ?? 0
}

@_cdecl("beckon_results_items")
public func getResults(_ results: OpaquePointer?) -> UnsafePointer<beckon_detection>? {
    guard let items = (try? object(results, ResultsHandle.self))?.items, !items.isEmpty else { return nil }
    return UnsafePointer(items.baseAddress)
}

@_cdecl("beckon_results_free")
public func freeResults(_ results: OpaquePointer?) { release(results, ResultsHandle.self) }

/// A text of the caller.
///
/// - Parameter what: what it is, for messages.
func text(_ pointer: UnsafePointer<CChar>?, _ what: String) throws(CallError) -> String {
    guard let pointer else { throw CallError("\(what) is NULL") }
    guard let text = String(validatingCString: pointer) else { throw CallError("\(what) is not UTF-8") }
    return text
}
