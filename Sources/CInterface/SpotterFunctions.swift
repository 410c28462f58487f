private import Beckon
public import CBeckon
private import Core
private import Glibc
private import Synchronization
private import System

// The functions of beckon.h for models and files; the header describes them.

@_cdecl("beckon_version")
public func getVersion() -> UnsafePointer<CChar>? { UnsafePointer(bitPattern: versionText) }

@_cdecl("beckon_interface")
public func getInterface() -> Int32 { BECKON_INTERFACE }

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
    (try? object(spotter, SpotterHandle.self))?.text(\.words, index)
}

@_cdecl("beckon_phrase")
public func getPhrase(_ spotter: OpaquePointer?, _ index: UInt) -> UnsafePointer<CChar>? {
    (try? object(spotter, SpotterHandle.self))?.text(\.phrases, index)
}

@_cdecl("beckon_label")
public func getLabel(_ spotter: OpaquePointer?, _ index: UInt) -> UnsafePointer<CChar>? {
    (try? object(spotter, SpotterHandle.self))?.text(\.labels, index)
}

@_cdecl("beckon_label_count")
public func countLabels(_ spotter: OpaquePointer?) -> Int {
    (try? object(spotter, SpotterHandle.self))?.spotter.labels.count ?? 0
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
        return try find(spotter, path, Int(try checked(threads: threads)))
    }
}

/// Finds the words of a file.
private func find(_ spotter: SpotterHandle, _ path: String, _ threads: Int) throws(CallError) -> OpaquePointer {
    do throws(SpotterError) {
        return handle(ResultsHandle(spotter, try spotter.spotter.detections(inFile: path, threads: threads)))
    } catch {
        throw CallError(error)
    }
}

private func checked(threads: Int32) throws(CallError) -> Int {
    guard (1...1024).contains(threads) else { throw CallError("from 1 to 1024 threads, not \(threads)") }
    return Int(threads)
}

@_cdecl("beckon_find_files")
public func findWordsOfFiles(
    _ spotter: OpaquePointer?,
    _ paths: UnsafePointer<UnsafePointer<CChar>?>?,
    _ count: Int,
    _ threads: Int32,
    _ progress: (@convention(c) (UnsafeMutableRawPointer?, Int, Int) -> Int32)?,
    _ context: UnsafeMutableRawPointer?,
    _ results: UnsafeMutablePointer<OpaquePointer?>?,
    _ errors: UnsafeMutablePointer<beckon_error>?,
    _ error: UnsafeMutablePointer<beckon_error>?
) -> beckon_code {
    status(error) { () throws(CallError) in
        let spotter = try object(spotter, SpotterHandle.self)
        guard count >= 0, results != nil || count == 0 else {
            throw CallError("results is NULL, or their count is too large")
        }
        let paths = try texts(paths, count, "the files' paths")
        let threads = try checked(threads: threads)
        let files = Files(spotter, results, errors, context, progress)
        for index in 0..<count { results?[index] = nil }
        @Sendable func work() {
            while let index = files.next(of: count) {
                files.results?[index] = attempt(files.errors.map { $0 + index }) { () throws(CallError) in
                    try find(files.spotter, paths[index], 1)
                }
                files.finish(of: count)
            }
        }
        let others = (1..<max(1, min(threads, count))).map { _ in JoinableThread(name: "beckon-file", work) }
        work()
        for other in others { other?.join() }
    }
}

/// What the threads of ``findWordsOfFiles`` share. Each writes places of its own; the caller's memory is there until all have ended.
private final class Files: @unchecked Sendable {
    typealias Progress = @convention(c) (UnsafeMutableRawPointer?, Int, Int) -> Int32
    let spotter: SpotterHandle
    let results: UnsafeMutablePointer<OpaquePointer?>?
    let errors: UnsafeMutablePointer<beckon_error>?
    private let context: UnsafeMutableRawPointer?
    private let progress: Progress?
    private let state: Mutex<(begun: Int, done: Int, isStopped: Bool)>

    init(
        _ spotter: SpotterHandle,
        _ results: UnsafeMutablePointer<OpaquePointer?>?,
        _ errors: UnsafeMutablePointer<beckon_error>?,
        _ context: UnsafeMutableRawPointer?,
        _ progress: Progress?
    ) {
        (self.spotter, self.results, self.errors, self.context) = (spotter, results, errors, context)
        self.progress = progress
        state = Mutex((0, 0, false))
    }

    /// The next file; nil if all have begun.
    func next(of count: Int) -> Int? {
        state.withLock {
            guard $0.begun < count, !$0.isStopped else { return nil }
            $0.begun += 1
            return $0.begun - 1
        }
    }

    func finish(of count: Int) {
        state.withLock {
            $0.done += 1
            if let progress, progress(context, $0.done, count) == 0 { $0.isStopped = true }
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
