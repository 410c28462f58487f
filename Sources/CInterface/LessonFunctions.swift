private import Beckon
public import CBeckon
private import Glibc

// The functions of beckon.h for teaching; the header describes them.

/// What a `beckon_lesson` is. Immutable.
private final class LessonHandle {
    let lesson: Spotter.Lesson
    /// Of each recording, then of all.
    private let texts: [UnsafeMutablePointer<CChar>?]

    init(_ lesson: Spotter.Lesson) {
        self.lesson = lesson
        texts =
            lesson.recordings.map { strdup($0.remarks.joined(separator: "; ")) }
            + [strdup(lesson.remarks.joined(separator: "\n"))]
    }

    deinit {
        for text in texts { free(text) }
    }

    func remark(_ index: Int) -> UnsafePointer<CChar>? { texts[index].map { UnsafePointer($0) } }
    var text: UnsafePointer<CChar>? { texts.last.flatMap(\.self).map { UnsafePointer($0) } }
}

@_cdecl("beckon_teach")
public func teach(
    _ spotter: OpaquePointer?,
    _ word: UnsafePointer<CChar>?,
    _ takes: UnsafePointer<beckon_take>?,
    _ count: Int,
    _ flags: Int32,
    _ file: UnsafePointer<CChar>?,
    _ error: UnsafeMutablePointer<beckon_error>?
) -> OpaquePointer? {
    attempt(error) { () throws(CallError) in
        let spotter = try object(spotter, SpotterHandle.self).spotter
        let word = try text(word, "the word")
        guard count >= 0, takes != nil || count == 0 else {
            throw CallError("the takes are NULL, or their count is too large")
        }
        guard (0...3).contains(flags) else { throw CallError("flags is \(flags); beckon.h has its values") }
        var recordings: [Spotter.Take] = []
        for take in UnsafeBufferPointer(start: takes, count: count) {
            let samples = try mean(of: take.samples, take.format, take.frames, take.channels)
            recordings.append(Spotter.Take(samples, sampleRate: Int(take.sample_rate)))
        }
        let path = try file.map { file throws(CallError) in try text(file, "the file's path") }
        do throws(SpotterError) {
            return handle(
                LessonHandle(
                    try spotter.teaching(
                        word,
                        recordings,
                        more: flags & Int32(BECKON_TEACH_MORE) != 0,
                        acceptsAlike: flags & Int32(BECKON_TEACH_ALIKE) != 0,
                        file: path
                    )
                )
            )
        } catch {
            throw CallError(error)
        }
    }
}

private func lesson(_ pointer: OpaquePointer?) -> LessonHandle? { try? object(pointer, LessonHandle.self) }

@_cdecl("beckon_lesson_spotter")
public func getTaughtSpotter(_ pointer: OpaquePointer?) -> OpaquePointer? {
    lesson(pointer).map { handle(SpotterHandle($0.lesson.spotter)) }
}

@_cdecl("beckon_lesson_takes")
public func countTakes(_ pointer: OpaquePointer?) -> Int { lesson(pointer)?.lesson.takes ?? 0 }

@_cdecl("beckon_lesson_used")
public func countUsed(
    _ pointer: OpaquePointer?,
    _ index: UInt,
    _ remark: UnsafeMutablePointer<UnsafePointer<CChar>?>?
) -> Int {
    guard let lesson = lesson(pointer), let index = Int(exactly: index),
        lesson.lesson.recordings.indices.contains(index)
    else {
        remark?.pointee = nil
        return 0
    }
    remark?.pointee = lesson.remark(index)
    return lesson.lesson.recordings[index].used
}

@_cdecl("beckon_lesson_rates")
public func getRates(
    _ pointer: OpaquePointer?,
    _ sensitivity: beckon_sensitivity,
    _ mode: beckon_mode,
    _ rates: UnsafeMutablePointer<beckon_rates>?
) -> Int32 {
    let sensitivities: [beckon_sensitivity.RawValue: Spotter.Sensitivity] = [0: .strict, 1: .balanced, 2: .eager]
    let modes: [beckon_mode.RawValue: Spotter.Mode] = [0: .spot, 1: .command]
    guard let rates, let lesson = lesson(pointer), let sensitivity = sensitivities[sensitivity.rawValue],
        let mode = modes[mode.rawValue], let found = lesson.lesson.rates(sensitivity, mode)
    else { return 0 }
    rates.pointee = beckon_rates(
        threshold: found.threshold,
        missed: found.missed,
        missed_of_others: found.missedOfOthers,
        false_accepts: found.falseAccepts
    )
    return 1
}

@_cdecl("beckon_lesson_text")
public func getLessonText(_ pointer: OpaquePointer?) -> UnsafePointer<CChar>? { lesson(pointer)?.text }

@_cdecl("beckon_lesson_free")
public func freeLesson(_ pointer: OpaquePointer?) { release(pointer, LessonHandle.self) }
